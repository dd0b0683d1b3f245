//! A finding before it is known whose it is and what it costs: code, place, sentence.
//!
//! Owns: the error type of everything between a document's text and its operations. Must never decide a
//! severity: whoever receives a finding knows whether it cost an operation or nothing.

use super::{Diagnostic, DiagnosticCode, Severity};
use crate::json::Pointer;

/// What is wrong at one place of one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// What kind of fault.
    pub(crate) code: DiagnosticCode,
    /// Where in the document.
    pub(crate) at: Pointer,
    /// What is wrong and what to do, in a sentence.
    pub(crate) message: String,
}

impl Finding {
    /// A finding at a place.
    pub(crate) fn new(code: DiagnosticCode, at: &Pointer, message: impl Into<String>) -> Self {
        Self {
            code,
            at: at.clone(),
            message: message.into(),
        }
    }

    /// A finding about the whole source.
    pub(crate) fn of_source(code: DiagnosticCode, message: impl Into<String>) -> Self {
        Self::new(code, &Pointer::root(), message)
    }

    /// The diagnostic once document and severity are known.
    pub(crate) fn into_diagnostic(self, severity: Severity, document: &str) -> Diagnostic {
        Diagnostic {
            code: self.code,
            severity,
            document: document.to_owned(),
            at: self.at,
            message: self.message,
        }
    }
}
