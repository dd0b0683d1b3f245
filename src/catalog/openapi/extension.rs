//! `x-sezzlee` of an operation: the part of it that any document may use.
//!
//! Owns: name, description, tags, search terms, ignore and hints. Must never take from a document what
//! reads the caller or loosens a guard: such members are reported and left alone.

use serde_json::{Map, Value};

use crate::catalog::DiagnosticCode;
use crate::catalog::document::shown;
use crate::catalog::finding::Finding;
use crate::catalog::naming::is_given_name;
use crate::json::{Pointer, kind};

/// The member of an operation that is read.
pub(super) const MEMBER: &str = "x-sezzlee";

/// The hints a tool can have.
const HINTS: [&str; 4] = [
    "readOnlyHint",
    "destructiveHint",
    "idempotentHint",
    "openWorldHint",
];

/// What an operation says of itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Extension {
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
    pub(super) tags: Option<Vec<String>>,
    pub(super) search_terms: Vec<String>,
    pub(super) ignore: bool,
    pub(super) hints: Vec<(String, bool)>,
    /// A member that changes what the tool is and is not carried out here.
    pub(super) unsupported: Option<Finding>,
}

/// Reads the extension of an operation at a place.
pub(super) fn read(
    operation: &Map<String, Value>,
    at: &Pointer,
    warnings: &mut Vec<Finding>,
) -> Extension {
    let mut read = Extension::default();
    let at = at.join(MEMBER);
    let members = match operation.get(MEMBER) {
        None => return read,
        Some(Value::Object(members)) => members,
        Some(other) => {
            let message = format!("x-sezzlee must be an object, not {}", kind(other));
            warnings.push(Finding::new(DiagnosticCode::Malformed, &at, message));
            return read;
        }
    };
    for (name, value) in members {
        let at = at.join(name);
        if let Err(finding) = member(&mut read, name, value, &at) {
            warnings.push(finding);
        }
    }
    read
}

fn member(read: &mut Extension, name: &str, value: &Value, at: &Pointer) -> Result<(), Finding> {
    let wrong = |wanted: &str| {
        let message = format!("{name} must be {wanted}, not {}", kind(value));
        Finding::new(DiagnosticCode::Malformed, at, message)
    };
    match name {
        "name" => {
            let text = value.as_str().ok_or_else(|| wrong("a string"))?;
            if !is_given_name(text) {
                return Err(Finding::new(
                    DiagnosticCode::Malformed,
                    at,
                    format!(
                        "{} is no tool name; use 1 to 128 of A-Z, a-z, 0-9, _, . and -",
                        shown(text)
                    ),
                ));
            }
            read.name = Some(text.to_owned());
        }
        "description" => {
            let text = value.as_str().ok_or_else(|| wrong("a string"))?;
            read.description = Some(text.to_owned());
        }
        "tags" => read.tags = Some(strings(value).ok_or_else(|| wrong("a list of strings"))?),
        "searchTerms" => {
            read.search_terms = strings(value).ok_or_else(|| wrong("a list of strings"))?;
        }
        "ignore" => read.ignore = value.as_bool().ok_or_else(|| wrong("a boolean"))?,
        "hints" => {
            let hints = value.as_object().ok_or_else(|| wrong("an object"))?;
            for (hint, holds) in hints {
                match holds.as_bool() {
                    Some(holds) if HINTS.contains(&hint.as_str()) => {
                        read.hints.push((hint.clone(), holds));
                    }
                    _ => return Err(wrong("an object of booleans by hint")),
                }
            }
        }
        "arguments" | "variants" => {
            read.unsupported = Some(Finding::new(
                DiagnosticCode::UnsupportedExtension,
                at,
                format!("{name} is not carried out; remove it, or exclude the operation"),
            ));
        }
        "scopes" | "audience" | "requiresApproval" => {
            return Err(Finding::new(
                DiagnosticCode::UnsupportedExtension,
                at,
                format!("{name} does not count in a document; set it in the configuration"),
            ));
        }
        _ => {
            return Err(Finding::new(
                DiagnosticCode::UnsupportedExtension,
                at,
                format!("x-sezzlee has no member {}", shown(name)),
            ));
        }
    }
    Ok(())
}

/// A list of at most this many strings; more vocabulary than that describes nothing.
const STRINGS_MAX: usize = 1_000;

fn strings(value: &Value) -> Option<Vec<String>> {
    let items = value
        .as_array()
        .filter(|items| items.len() <= STRINGS_MAX)?;
    items
        .iter()
        .map(|item| item.as_str().map(str::to_owned))
        .collect()
}
