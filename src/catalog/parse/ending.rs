//! The last line of a YAML text, when it is spaces and does not end.
//!
//! Owns: which of those spaces are nothing. Must never touch what may be content.

/// The text without a last line that is spaces and not ended: the parser takes it for one more line break of a
/// block scalar. Deeper than the line before, the spaces may be content and stay.
pub(super) fn without_last_blank(text: &str) -> &str {
    let kept = text.trim_end_matches(' ');
    let spaces = text.len() - kept.len();
    let before = kept.trim_end_matches(['\n', '\r', ' ']);
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = &before[start..];
    let indent = line.len() - line.trim_start_matches(' ').len();
    if kept.ends_with('\n') && spaces <= indent {
        kept
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    fn read(text: &str) -> Value {
        crate::catalog::parse::yaml::parse(text).unwrap().value
    }

    /// Chomping (YAML 1.2, 8.1.1.2): spaces of a last line that does not end are no line of the text.
    #[test]
    fn a_last_line_of_spaces_adds_nothing_to_a_text() {
        for (header, want) in [
            ("|", "a\n"),
            (">", "a\n"),
            ("|-", "a"),
            (">-", "a"),
            ("|2", "a\n"),
            ("|+", "a\n"),
        ] {
            for (before, content) in [("", ""), ("\n\n", "\n\n")] {
                for last in ["", " ", "  "] {
                    let text = format!("k: {header}\n{before}  a\n{last}");
                    assert_eq!(
                        read(&text),
                        json!({"k": format!("{content}{want}")}),
                        "{text:?}"
                    );
                    // The line breaks between are those of a kept text alone.
                    let text = format!("k: {header}\n{before}  a\n\n{last}");
                    let more = if header == "|+" { "\n" } else { "" };
                    assert_eq!(
                        read(&text),
                        json!({"k": format!("{content}{want}{more}")}),
                        "{text:?}"
                    );
                }
            }
        }
        for last in ["", " ", "  ", "\n  ", "\r\n "] {
            let text = format!("k:\n  - a\n{last}");
            assert_eq!(read(&text), json!({"k": ["a"]}), "{text:?}");
        }
        assert_eq!(read(">\n\n\n\n  post:\n  "), json!("\n\n\npost:\n"));
    }
}
