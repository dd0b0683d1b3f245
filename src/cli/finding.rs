//! A finding about a source as a person reads it: `file:line:column: what is wrong and what to do`.
//!
//! Owns: the spelling of places. Must never add to what a diagnostic says.

use crate::catalog::Diagnostic;

/// A finding in one line, without its code: for a sentence that says what became of it.
pub(super) fn sentence(found: &Diagnostic) -> String {
    let (place, message) = place(found);
    format!("{place}: {message}")
}

/// A finding in one line with what it costs and its code: for lists.
pub(super) fn listed(found: &Diagnostic) -> String {
    let (place, message) = place(found);
    format!("{place}: {}[{}]: {message}", found.severity, found.code)
}

/// Where, in the spelling that editors open, and the message without what it says of the place.
fn place(found: &Diagnostic) -> (String, String) {
    let mut place = found.document.clone();
    if !found.at.as_str().is_empty() {
        place.push('#');
        place.push_str(found.at.as_str());
    }
    let mut rest = found.message.as_str();
    for unit in ["line ", "column "] {
        let Some((number, after)) = number_after(rest, unit) else {
            break;
        };
        place.push(':');
        place.push_str(number);
        rest = after;
    }
    // "line 3 column 14 is nested too deeply": with the place in front, "is" has lost its subject.
    if rest.len() < found.message.len() {
        rest = rest.strip_prefix("is ").unwrap_or(rest);
    }
    (place.replace('\n', " "), rest.replace('\n', " "))
}

/// The number that stands after a word at the start of a text, and what follows both.
fn number_after<'a>(text: &'a str, word: &str) -> Option<(&'a str, &'a str)> {
    let rest = text.strip_prefix(word)?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, after) = rest.split_at(digits);
    let after = after
        .strip_prefix(": ")
        .or_else(|| after.strip_prefix(' '))?;
    (!number.is_empty()).then_some((number, after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{DiagnosticCode, Severity};
    use crate::json::Pointer;

    #[test]
    fn places_are_spelled_as_editors_open_them() {
        let found = |at: Pointer, message: &str| Diagnostic {
            code: DiagnosticCode::NotParseable,
            severity: Severity::Dropped,
            document: "a.yaml".to_owned(),
            at,
            message: message.to_owned(),
        };
        for (message, want) in [
            ("line 3 column 14: end of file", "a.yaml:3:14: end of file"),
            ("line 3 column 14 is too deep", "a.yaml:3:14: too deep"),
            ("line 7: the name is taken", "a.yaml:7: the name is taken"),
            ("line 7: column 2: end of file", "a.yaml:7:2: end of file"),
            ("line by line", "a.yaml: line by line"),
            ("line 5", "a.yaml: line 5"),
            ("is a directory", "a.yaml: is a directory"),
            ("one\ntwo", "a.yaml: one two"),
        ] {
            assert_eq!(sentence(&found(Pointer::root(), message)), want);
        }
        let mut at = Pointer::root();
        at.push("paths");
        assert_eq!(
            listed(&found(at, "no object")),
            "a.yaml#/paths: dropped[not_parseable]: no object"
        );
    }
}
