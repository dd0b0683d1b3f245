//! A finding before it is known whose it is and what it costs: code, place, sentence.
//!
//! Owns: the error type of everything between a document's text and its operations. Must never decide a
//! severity: whoever receives a finding knows whether it cost an operation or nothing.

use super::parse::Position;
use super::{Diagnostic, DiagnosticCode, Severity};
use crate::json::Pointer;

/// The place of a finding is told in at most this many bytes; a longer pointer is cut to the place of
/// something around it. Documents of people stay far below, and a hostile one could have a million findings
/// at places of a million bytes.
const AT_BYTES_MAX: usize = 1_024;

/// What is wrong at one place of one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// What kind of fault.
    pub(crate) code: DiagnosticCode,
    /// Where in the document.
    pub(crate) at: Pointer,
    /// Where in the text, when only whoever found it can tell; what has a pointer is found by that.
    pub(crate) position: Option<Position>,
    /// What is wrong and what to do, in a sentence.
    pub(crate) message: String,
}

impl Finding {
    /// A finding at a place.
    pub(crate) fn new(code: DiagnosticCode, at: &Pointer, message: impl Into<String>) -> Self {
        Self {
            code,
            at: short(at),
            position: None,
            message: message.into(),
        }
    }

    /// A finding about the whole source.
    pub(crate) fn of_source(code: DiagnosticCode, message: impl Into<String>) -> Self {
        Self::new(code, &Pointer::root(), message)
    }

    /// The same at a place of the text.
    pub(crate) fn in_text(self, position: Position) -> Self {
        Self {
            position: Some(position),
            ..self
        }
    }

    /// The diagnostic once document and severity are known.
    pub(crate) fn into_diagnostic(self, severity: Severity, document: &str) -> Diagnostic {
        Diagnostic {
            code: self.code,
            severity,
            document: document.to_owned(),
            at: self.at,
            line: self.position.map(|position| position.line),
            column: self.position.and_then(|position| position.column),
            message: self.message,
        }
    }
}

fn short(at: &Pointer) -> Pointer {
    let text = at.as_str();
    if text.len() <= AT_BYTES_MAX {
        return at.clone();
    }
    // A slash is one byte, so cutting before it never splits a character.
    let head = &text.as_bytes()[..AT_BYTES_MAX];
    let end = head.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
    Pointer::from_text(&text[..end]).unwrap_or_default()
}
