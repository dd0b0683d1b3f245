//! `x-sezzlee` of an operation.
//!
//! Owns: its members, and which of them a document may set by itself. Must never take from a document that is
//! not trusted what reads the caller or loosens a guard: such members are reported and left alone.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::catalog::amendment::{Said, SourcedVariant};
use crate::catalog::curation::{Origin, Sourced};
use crate::catalog::document::{Document, shown};
use crate::catalog::finding::Finding;
use crate::catalog::naming::is_given_name;
use crate::catalog::{ArgumentCuration, DiagnosticCode, HINTS, Hide, Variant};
use crate::json::{Pointer, kind};

/// The member of an operation that is read.
pub(crate) const MEMBER: &str = "x-sezzlee";

/// A list of at most this many strings; more vocabulary than that describes nothing.
const STRINGS_MAX: usize = 1_000;

/// An operation is published as at most this many tools; each costs what an operation costs.
const VARIANTS_MAX: usize = 100;

/// What the reader of a part says of a fault is cut after this many characters.
const TOLD_CHARS_MAX: usize = 200;

/// Reads the extension of an operation at a place.
pub(super) fn read(
    document: &Document,
    operation: &Map<String, Value>,
    at: &Pointer,
    warnings: &mut Vec<Finding>,
) -> Said {
    let mut said = Said::default();
    let at = at.join(MEMBER);
    let members = match operation.get(MEMBER) {
        None => return said,
        Some(Value::Object(members)) => members,
        Some(other) => {
            let message = format!("x-sezzlee must be an object, not {}", kind(other));
            warnings.push(Finding::new(DiagnosticCode::Malformed, &at, message));
            return said;
        }
    };
    for (name, value) in members {
        let at = at.join(name);
        let member = Member {
            document,
            name,
            value,
            at: &at,
        };
        if let Err(finding) = member.read(&mut said, warnings) {
            warnings.push(finding);
        }
    }
    said
}

struct Member<'a> {
    document: &'a Document,
    name: &'a str,
    value: &'a Value,
    at: &'a Pointer,
}

impl Member<'_> {
    fn wrong(&self, wanted: &str) -> Finding {
        let message = format!("{} must be {wanted}, not {}", self.name, kind(self.value));
        Finding::new(DiagnosticCode::Malformed, self.at, message)
    }

    fn read(&self, said: &mut Said, warnings: &mut Vec<Finding>) -> Result<(), Finding> {
        match self.name {
            "name" => said.name = Some(self.tool_name()?),
            "description" => {
                let text = self.value.as_str().ok_or_else(|| self.wrong("a string"))?;
                said.description = Some(text.to_owned());
            }
            "tags" => said.tags = Some(self.strings()?),
            "searchTerms" => said.search_terms = self.strings()?,
            "ignore" => {
                said.ignore = self
                    .value
                    .as_bool()
                    .ok_or_else(|| self.wrong("a boolean"))?;
            }
            "hints" => said.hints = self.hints()?,
            "arguments" => self.arguments(said, warnings),
            "variants" => self.variants(said, warnings),
            "scopes" => {
                self.check_trust(self.at)?;
                said.policy.scopes = Some(self.strings()?);
            }
            "audience" => {
                self.check_trust(self.at)?;
                let text = self.value.as_str().ok_or_else(|| self.wrong("a string"))?;
                said.policy.audience = Some(text.to_owned());
            }
            "requiresApproval" => {
                self.check_trust(self.at)?;
                let asked = self
                    .value
                    .as_bool()
                    .ok_or_else(|| self.wrong("a boolean"))?;
                said.policy.requires_approval = Some(asked);
            }
            _ => {
                return Err(Finding::new(
                    DiagnosticCode::UnsupportedExtension,
                    self.at,
                    format!("x-sezzlee has no member {}", shown(self.name)),
                ));
            }
        }
        Ok(())
    }

    fn check_trust(&self, at: &Pointer) -> Result<(), Finding> {
        if self.document.trust.holds(at) {
            return Ok(());
        }
        Err(untrusted(at, self.name))
    }

    fn tool_name(&self) -> Result<String, Finding> {
        let text = self.value.as_str().ok_or_else(|| self.wrong("a string"))?;
        if is_given_name(text) {
            return Ok(text.to_owned());
        }
        Err(no_tool_name(text, self.at))
    }

    fn strings(&self) -> Result<Vec<String>, Finding> {
        strings(self.value).ok_or_else(|| self.wrong("a list of strings"))
    }

    fn hints(&self) -> Result<BTreeMap<String, bool>, Finding> {
        let hints = self
            .value
            .as_object()
            .ok_or_else(|| self.wrong("an object"))?;
        let read = hints.iter().map(|(hint, holds)| {
            let holds = holds.as_bool().filter(|_| HINTS.contains(&hint.as_str()))?;
            Some((hint.clone(), holds))
        });
        read.collect::<Option<_>>()
            .ok_or_else(|| self.wrong("an object of booleans by hint"))
    }

    /// Whose word what stands at a place is.
    fn origin(&self, at: &Pointer) -> Origin {
        if self.document.trust.holds(at) {
            Origin::Operator
        } else {
            Origin::Document
        }
    }

    fn arguments(&self, said: &mut Said, warnings: &mut Vec<Finding>) {
        match self.value.as_object() {
            Some(arguments) => said.arguments = self.curations(arguments, self.at, said, warnings),
            None => said
                .faults
                .push((self.origin(self.at), self.wrong("an object"))),
        }
    }

    /// The curations at a place, without sources that are not a document's to name. One that cannot be read is
    /// a fault: the argument it is about would be another than was meant.
    fn curations(
        &self,
        arguments: &Map<String, Value>,
        at: &Pointer,
        said: &mut Said,
        warnings: &mut Vec<Finding>,
    ) -> Sourced {
        let mut read = Sourced::new();
        for (name, value) in arguments {
            let at = at.join(name);
            let mut curation: ArgumentCuration = match typed(value, &at) {
                Ok(curation) => curation,
                Err(finding) => {
                    said.faults.push((self.origin(&at), finding));
                    continue;
                }
            };
            let origin = self.origin(&at);
            let source = match &curation.hide {
                Some(Hide::Claim(_)) => Some("claim"),
                Some(Hide::Header(_)) => Some("header"),
                Some(Hide::Constant(_) | Hide::Omit(_)) | None => None,
            };
            if let Some(source) = source {
                let at = at.join("hide").join(source);
                if !self.document.trust.holds(&at) {
                    warnings.push(untrusted(&at, source));
                    curation.hide = None;
                }
            }
            read.insert(name.clone(), (origin, curation));
        }
        read
    }

    fn variants(&self, said: &mut Said, warnings: &mut Vec<Finding>) {
        let listed = self
            .value
            .as_array()
            .filter(|list| list.len() <= VARIANTS_MAX);
        let Some(list) = listed else {
            let finding = self.wrong(&format!("a list of at most {VARIANTS_MAX}"));
            said.faults.push((self.origin(self.at), finding));
            return;
        };
        for (index, value) in list.iter().enumerate() {
            let mut at = self.at.clone();
            at.push_index(index);
            let origin = self.origin(&at);
            let variant = typed::<Variant>(value, &at).and_then(|variant| {
                if is_given_name(&variant.name) {
                    return Ok(variant);
                }
                Err(no_tool_name(&variant.name, &at.join("name")))
            });
            let variant = match variant {
                Ok(variant) => variant,
                Err(finding) => {
                    said.faults.push((origin, finding));
                    continue;
                }
            };
            let arguments = value.get("arguments").and_then(Value::as_object);
            let arguments = arguments.map_or_else(Sourced::new, |arguments| {
                self.curations(arguments, &at.join("arguments"), said, warnings)
            });
            said.variants.push(SourcedVariant {
                origin,
                name: variant.name,
                description: variant.description,
                arguments,
            });
        }
    }
}

fn untrusted(at: &Pointer, what: &str) -> Finding {
    Finding::new(
        DiagnosticCode::UntrustedExtension,
        at,
        format!(
            "{what} does not count in a document that is not trusted; set it in the configuration, or mark \
             the document `trust: true`"
        ),
    )
}

fn no_tool_name(text: &str, at: &Pointer) -> Finding {
    let message = format!(
        "{} is no tool name; use 1 to 128 of A-Z, a-z, 0-9, _, . and -",
        shown(text)
    );
    Finding::new(DiagnosticCode::Malformed, at, message)
}

/// A part whose members are all known.
fn typed<T: DeserializeOwned>(value: &Value, at: &Pointer) -> Result<T, Finding> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let mut at = at.clone();
        for segment in error.path() {
            match segment {
                serde_path_to_error::Segment::Seq { index } => at.push_index(*index),
                serde_path_to_error::Segment::Map { key } => at.push(key),
                serde_path_to_error::Segment::Enum { .. }
                | serde_path_to_error::Segment::Unknown => {}
            }
        }
        // It may repeat what stands there.
        let told: String = error
            .inner()
            .to_string()
            .chars()
            .take(TOLD_CHARS_MAX)
            .collect();
        let message = format!("it is not what it should be: {told}");
        Finding::new(DiagnosticCode::Malformed, &at, message)
    })
}

fn strings(value: &Value) -> Option<Vec<String>> {
    let items = value
        .as_array()
        .filter(|items| items.len() <= STRINGS_MAX)?;
    items
        .iter()
        .map(|item| item.as_str().map(str::to_owned))
        .collect()
}
