//! Schemas of a document become self-contained JSON Schema 2020-12.
//!
//! Owns: the cache of converted schemas and their names under `$defs`. Must never know an operation: it sees
//! schemas and a direction.
//!
//! Reading order: `convert` (one schema, with `keywords`, `references`, `repair`, `pattern`, `nullable` and
//! `hidden`), `inspect` (what a schema is before it is converted), `publish` (the parts of one published
//! schema), `graph` (what it refers to), `steps` and `reduce` (how much of that is published), `cut` (a schema
//! without the rest).

mod convert;
mod cut;
mod graph;
mod hidden;
mod inspect;
mod keywords;
mod nullable;
mod pattern;
mod publish;
mod reduce;
mod references;
mod repair;
mod steps;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use serde_json::Value;

use super::DiagnosticCode;
use super::document::{Document, Version};
use super::finding::Finding;
use super::naming;
use crate::json::{Pointer, canonical_len};
use convert::Converter;
use cut::Slim;

pub(crate) use inspect::{Open, Root, is_empty_object, is_object, merge_root};
pub(crate) use nullable::allows_null;
pub(crate) use publish::{Draft, Publisher};
pub(crate) use reduce::{DEFINITION_BYTES_MAX, fit};
pub(crate) use steps::Limits;

/// What a schema that is too large counts for in the sum over its document: finding out took work.
pub(crate) const TOO_LARGE_BYTES: usize = 4 * DEFINITION_BYTES_MAX;

/// Whether a schema describes what is sent or what comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Direction {
    /// Arguments: `readOnly` members leave, a fault costs the operation.
    Input,
    /// Answers: `writeOnly` members leave, a fault costs the place it stands at.
    Output,
}

/// The converted schemas of a document, each made once however many operations use it.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    known: RwLock<HashMap<(Direction, Pointer), Arc<Converted>>>,
    /// Names of dynamic anchors that stand twice in the document; found when the first is referred to.
    ambiguous: OnceLock<HashSet<String>>,
}

/// A schema that was converted on its own.
#[derive(Debug)]
struct Converted {
    /// Its name under `$defs`.
    name: String,
    schema: Result<Value, Finding>,
    warnings: Vec<Finding>,
    uses: Vec<Use>,
    /// How many bytes its canonical JSON has.
    bytes: usize,
    /// What is left of it when definitions are reduced; found when the first is.
    slim: OnceLock<Slim>,
}

/// A reference to a definition.
#[derive(Debug, Clone)]
struct Use {
    at: Pointer,
    /// Its name under `$defs`.
    name: String,
    /// Whether it applies to the very value the referring schema applies to, as in `allOf`.
    in_place: bool,
}

impl Cache {
    fn get(&self, document: &Document, direction: Direction, at: &Pointer) -> Arc<Converted> {
        let key = (direction, at.clone());
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(&key) {
            return Arc::clone(found);
        }
        drop(known);
        // Two threads may convert the same schema; both get the same.
        let made = Arc::new(Converted::of(document, direction, at));
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(key).or_insert(made))
    }
}

impl Converted {
    fn of(document: &Document, direction: Direction, at: &Pointer) -> Self {
        let mut converter = Converter::new(document, direction);
        let schema = match document.at(at) {
            Some(value) => converter.convert_root(value, at),
            // References were followed before they came here.
            None => Err(Finding::new(
                DiagnosticCode::UnresolvableRef,
                at,
                "nothing stands here",
            )),
        };
        Self {
            name: definition_name(at, document.version),
            bytes: schema.as_ref().map_or(0, canonical_len),
            schema,
            warnings: converter.warnings,
            uses: converter.uses,
            slim: OnceLock::new(),
        }
    }

    /// What is left of it when definitions are reduced.
    fn slim(&self) -> Slim {
        *self.slim.get_or_init(|| match &self.schema {
            Ok(schema) => Slim::of(schema),
            Err(_) => Slim::default(),
        })
    }
}

/// The name of a schema under `$defs`: its own where it is a legal one, else made from its place.
///
/// A function of the place alone, so that converted schemas can be shared.
fn definition_name(at: &Pointer, version: Version) -> String {
    const NAME_CHARS_MAX: usize = 100;
    let home = match version {
        Version::V20 => "/definitions/",
        _ => "/components/schemas/",
    };
    let is_legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    if let Some(key) = at.as_str().strip_prefix(home)
        && !key.is_empty()
        && key.len() <= NAME_CHARS_MAX
        && key.chars().all(is_legal)
    {
        return key.to_owned();
    }
    let last = at.tokens().last().unwrap_or_default();
    let legal: String = deunicode::deunicode_with_tofu(&last, "_")
        .chars()
        .map(|c| if is_legal(c) { c } else { '_' })
        .take(NAME_CHARS_MAX)
        .collect();
    format!("{legal}_{}", naming::digits(at.as_str()))
}
