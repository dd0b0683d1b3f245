//! Findings about sources as a person reads them: `file:line:column: what is wrong and what to do`.
//!
//! Owns: their spelling on one line, and their grouping by kind; every command prints findings through here.
//! Must never add to what a diagnostic says.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::catalog::{Diagnostic, DiagnosticCode, Severity};

/// A finding in one line, without its code: for a sentence that says what became of it.
pub(super) fn sentence(found: &Diagnostic) -> String {
    let (place, message) = (found.place(), &found.message);
    let at = match found.at.as_str() {
        "" => String::new(),
        at => format!(" (#{at})"),
    };
    format!("{place}: {message}{at}").replace('\n', " ")
}

/// A finding in one line with what it costs and its code: for lists.
pub(super) fn listed(found: &Diagnostic) -> String {
    found.to_string().replace('\n', " ")
}

/// Findings of one kind.
pub(super) struct Group<'r> {
    pub(super) severity: Severity,
    pub(super) code: DiagnosticCode,
    /// In the order they were made; never empty.
    pub(super) found: Vec<&'r Diagnostic>,
}

/// Findings by kind: what costs most first, then what there is most of, then by code.
pub(super) fn groups(all: &[Diagnostic]) -> Vec<Group<'_>> {
    let mut kinds: HashMap<(Severity, DiagnosticCode), Vec<&Diagnostic>> = HashMap::new();
    for found in all {
        let kind = (found.severity, found.code);
        kinds.entry(kind).or_default().push(found);
    }
    let mut groups: Vec<Group<'_>> = kinds
        .into_iter()
        .map(|((severity, code), found)| Group {
            severity,
            code,
            found,
        })
        .collect();
    groups.sort_unstable_by_key(|group| {
        let count = Reverse(group.found.len());
        (Reverse(group.severity), count, group.code.as_str())
    });
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Pointer;

    fn found(at: &str, place: (Option<u64>, Option<u64>), message: &str) -> Diagnostic {
        Diagnostic {
            code: DiagnosticCode::NotParseable,
            severity: Severity::Dropped,
            document: "a.yaml".to_owned(),
            at: Pointer::from_text(at).unwrap(),
            line: place.0,
            column: place.1,
            message: message.to_owned(),
        }
    }

    #[test]
    fn places_are_spelled_as_editors_open_them() {
        for (at, place, want) in [
            ("", (Some(3), Some(14)), "a.yaml:3:14: one two"),
            ("", (Some(3), None), "a.yaml:3: one two"),
            ("", (None, None), "a.yaml: one two"),
            (
                "/paths",
                (Some(3), Some(1)),
                "a.yaml:3:1: one two (#/paths)",
            ),
        ] {
            let found = found(at, place, "one\ntwo");
            assert_eq!(sentence(&found), want);
            let listed = listed(&found);
            assert_eq!(listed.replace(" dropped[not_parseable]:", ""), want);
        }
    }

    #[test]
    fn groups_are_by_cost_then_by_number_then_by_code() {
        let of = |severity, code| Diagnostic {
            code,
            severity,
            ..found("", (None, None), "m")
        };
        let all = [
            of(Severity::Warning, DiagnosticCode::NoServer),
            of(Severity::Warning, DiagnosticCode::DuplicateKey),
            of(Severity::Warning, DiagnosticCode::Malformed),
            of(Severity::Warning, DiagnosticCode::Malformed),
            of(Severity::Dropped, DiagnosticCode::Malformed),
            of(Severity::Fatal, DiagnosticCode::AmbiguousSelection),
        ];
        let seen: Vec<_> = groups(&all)
            .iter()
            .map(|group| (group.code.as_str(), group.found.len()))
            .collect();
        let want = [
            ("ambiguous_selection", 1),
            ("malformed", 1),
            ("malformed", 2),
            ("duplicate_key", 1),
            ("no_server", 1),
        ];
        assert_eq!(seen, want);
    }
}
