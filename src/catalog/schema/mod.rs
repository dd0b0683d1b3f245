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
            name: definition_name(document, at),
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
fn definition_name(document: &Document, at: &Pointer) -> String {
    if let Some(name) = document.externals.name(at) {
        return name.to_owned();
    }
    if let Some(key) = at.as_str().strip_prefix(home(document.version))
        && is_legal_name(key)
    {
        return key.to_owned();
    }
    let last = at.tokens().last().unwrap_or_default();
    let digits = naming::digits(&document.externals.stable(at));
    format!("{}_{digits}", legal_name(&last))
}

const NAME_CHARS_MAX: usize = 100;

/// Where schemas have names of their own.
fn home(version: Version) -> &'static str {
    match version {
        Version::V20 => "/definitions/",
        _ => "/components/schemas/",
    }
}

fn is_legal_in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
}

fn is_legal_name(key: &str) -> bool {
    !key.is_empty() && key.len() <= NAME_CHARS_MAX && key.chars().all(is_legal_in_name)
}

fn legal_name(text: &str) -> String {
    deunicode::deunicode_with_tofu(text, "_")
        .chars()
        .map(|c| if is_legal_in_name(c) { c } else { '_' })
        .take(NAME_CHARS_MAX)
        .collect()
}

/// What the schemas of other files are called under `$defs`: their last token, or for a whole file its stem,
/// with digits behind it where a document has several of that name. So the names are a function of the
/// document and its files.
pub(crate) fn external_names(
    document: &Document,
    targets: impl Iterator<Item = Pointer>,
) -> HashMap<Pointer, String> {
    let mut places: Vec<Pointer> = Vec::new();
    let mut seen: HashSet<Pointer> = HashSet::new();
    for at in targets {
        let mut plain = Pointer::root();
        for token in at.tokens() {
            plain.push(&token);
        }
        if seen.insert(plain.clone()) {
            places.push(plain);
        }
    }
    let wanted: Vec<String> = places
        .iter()
        .map(|at| legal_name(&document.externals.title(at)))
        .collect();
    let mut uses: HashMap<&str, usize> = HashMap::new();
    for name in &wanted {
        *uses.entry(name).or_default() += 1;
    }
    let home = Pointer::from_text(home(document.version).trim_end_matches('/'));
    let own = home.and_then(|home| document.at(&home)?.as_object());
    let names = places.iter().zip(&wanted).map(|(at, name)| {
        let is_free = uses[name.as_str()] == 1
            && !name.is_empty()
            && !own.is_some_and(|own| own.contains_key(name));
        let name = if is_free {
            name.clone()
        } else {
            let digits = naming::digits(&document.externals.stable(at));
            format!("{name}_{digits}")
        };
        (at.clone(), name)
    });
    names.collect()
}
