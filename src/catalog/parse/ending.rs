//! The last line of a YAML text, when it is spaces and does not end.
//!
//! Owns: what those spaces are. Must never touch what may be content.

use std::borrow::Cow;

/// The text with its last line ended, when that is spaces alone: the parser takes such spaces for one more line
/// break of a block scalar, whatever its chomping, when nothing follows them.
pub(super) fn with_blank_line_ended(text: &str) -> Cow<'_, str> {
    let is_blank = text.ends_with(' ') && text.trim_end_matches(' ').ends_with('\n');
    if is_blank {
        Cow::Owned(format!("{text}\n"))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    fn read(text: &str) -> Value {
        crate::catalog::parse::yaml::parse(text).unwrap().value
    }

    /// Chomping (YAML 1.2, 8.1.1.2), as if the last line had been ended.
    #[test]
    fn a_last_line_of_spaces_adds_nothing_to_a_text() {
        for header in ["|", ">", "|-", ">-", "|2", "|+", ">+"] {
            for before in ["", "\n\n"] {
                for between in ["", "\n", "   b\n"] {
                    for last in [" ", "  ", "   ", "    "] {
                        let text = format!("k: {header}\n{before}  a\n{between}{last}");
                        let value = read(&text);
                        assert_eq!(value, read(&format!("{text}\n")), "{text:?}");
                        let text = value["k"].as_str().unwrap();
                        let blank = text.len() - text.trim_end_matches('\n').len();
                        match header {
                            "|" | ">" | "|2" => assert_eq!(blank, 1, "{text:?}"),
                            "|-" | ">-" => assert_eq!(blank, 0, "{text:?}"),
                            _ => assert!(blank > 0, "{text:?}"),
                        }
                        assert!(text.starts_with(&format!("{before}a")), "{text:?}");
                    }
                }
            }
        }
        for last in ["", " ", "  ", "\n  ", "\r\n "] {
            let text = format!("k:\n  - a\n{last}");
            assert_eq!(read(&text), json!({"k": ["a"]}), "{text:?}");
        }
        assert_eq!(read(">\n\n\n\n  post:\n  "), json!("\n\n\npost:\n"));
        // Deeper than the text, spaces are content.
        assert_eq!(read(">\na\n  [\n "), json!("a\n  [\n \n"));
    }
}
