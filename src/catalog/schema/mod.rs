//! Schemas of a document become self-contained JSON Schema 2020-12.
//!
//! Owns: collecting what an operation's schema refers to under `$defs`, each once; the cache of converted
//! schemas; cycles that reach no value. Must never know an operation: it sees schemas and a direction.

mod convert;
mod hidden;
mod inspect;
mod keywords;
mod nullable;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::{Map, Value, json};

use super::DiagnosticCode;
use super::document::{Document, Version};
use super::finding::Finding;
use super::naming;
use crate::json::Pointer;
use convert::Converter;

pub(crate) use inspect::{Open, Root, is_empty_object, is_object, merge_root};
pub(crate) use nullable::allows_null;

/// The published schemas of one operation are at most about this many bytes each. What reaches further is
/// not readable by anyone; the largest of people's documents are under a third of it.
const SCHEMA_BYTES_MAX: usize = 2 * 1024 * 1024;

/// What a schema that is too large counts for in the sum over its document: finding out took work.
pub(crate) const TOO_LARGE_BYTES: usize = 4 * SCHEMA_BYTES_MAX;

/// What a definition costs beside its text.
const DEFINITION_BYTES: usize = 64;

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
}

/// A schema that was converted on its own.
#[derive(Debug)]
struct Converted {
    schema: Result<Value, Finding>,
    warnings: Vec<Finding>,
    uses: Vec<Use>,
    /// About how many bytes its JSON has.
    bytes: usize,
}

/// A reference to a definition.
#[derive(Debug, Clone)]
struct Use {
    at: Pointer,
    /// Whether it applies to the very value the referring schema applies to, as in `allOf`.
    in_place: bool,
}

/// Publishes the parts of one schema of one operation; they share `$defs`.
pub(crate) struct Publisher<'d> {
    document: &'d Document,
    direction: Direction,
    uses: Vec<Use>,
    warnings: Vec<Finding>,
}

impl<'d> Publisher<'d> {
    /// A publisher without definitions.
    pub(crate) fn new(document: &'d Document, direction: Direction) -> Self {
        Self {
            document,
            direction,
            uses: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// A schema whose own keywords are wanted: a reference at its root is replaced by what it leads to.
    pub(crate) fn inline(&mut self, value: &Value, at: &Pointer) -> Result<Value, Finding> {
        let target = self.document.resolve(value, at)?;
        self.with(|converter| converter.convert_root(target.value, &target.at))
    }

    /// The schema of an argument (or of a wrapped result).
    ///
    /// A reference to a scalar is replaced by the scalar, so that cards can say what it is; any other
    /// reference stays one and only says its type beside it.
    pub(crate) fn property(&mut self, value: &Value, at: &Pointer) -> Result<Value, Finding> {
        let is_bare = value.as_object().is_some_and(|map| map.len() == 1);
        if super::document::reference(value).is_none() {
            return self.with(|converter| converter.convert_root(value, at));
        }
        if let Ok(target) = self.document.resolve(value, at)
            && inspect::is_scalar(target.value)
            && (is_bare || self.document.version_at(at) <= Version::V30)
        {
            let mut scalar =
                self.with(|converter| converter.convert_root(target.value, &target.at))?;
            if let (Value::Object(scalar), Some(Value::String(own))) =
                (&mut scalar, value.get("description"))
            {
                scalar.insert("description".into(), json!(own));
            }
            return Ok(scalar);
        }
        // A reference at the root is the first that is noted.
        let first = self.uses.len();
        let mut schema = self.with(|converter| converter.convert_root(value, at))?;
        self.say_type(&mut schema, first);
        Ok(schema)
    }

    /// Puts the type of the target beside a reference, which changes nothing for a validator.
    fn say_type(&self, schema: &mut Value, first: usize) {
        let Value::Object(map) = schema else { return };
        if !map.contains_key("$ref") || map.contains_key("type") {
            return;
        }
        let Some(root) = self.uses.get(first) else {
            return;
        };
        let target = self
            .document
            .schemas
            .get(self.document, self.direction, &root.at);
        if let Ok(target) = &target.schema
            && let Some(name) = target.get("type")
        {
            map.insert("type".into(), name.clone());
        }
    }

    fn with<T>(
        &mut self,
        work: impl FnOnce(&mut Converter<'d>) -> Result<T, Finding>,
    ) -> Result<T, Finding> {
        let mut converter = Converter::new(self.document, self.direction);
        let made = work(&mut converter);
        self.uses.append(&mut converter.uses);
        self.warnings.append(&mut converter.warnings);
        made
    }

    /// The root schema with the definitions that everything published so far needs.
    ///
    /// They are put into the root schema, which stands at a place of the document.
    pub(crate) fn finish(
        mut self,
        mut root: Map<String, Value>,
        root_at: &Pointer,
    ) -> Result<Published, Finding> {
        let mut definitions = Map::new();
        let mut taken: HashSet<Pointer> = HashSet::new();
        let mut graph: HashMap<Pointer, Vec<Pointer>> = HashMap::new();
        let mut queue: VecDeque<Pointer> = self.uses.iter().map(|one| one.at.clone()).collect();
        let mut bytes = 0;
        while let Some(at) = queue.pop_front() {
            if !taken.insert(at.clone()) {
                continue;
            }
            let converted = self
                .document
                .schemas
                .get(self.document, self.direction, &at);
            let schema = converted.schema.as_ref().map_err(Clone::clone)?;
            bytes += converted.bytes + DEFINITION_BYTES;
            if bytes > SCHEMA_BYTES_MAX {
                return Err(too_large(&at));
            }
            let name = definition_name(self.document, &at);
            if definitions.insert(name, schema.clone()).is_some() {
                return Err(Finding::new(
                    DiagnosticCode::Malformed,
                    &at,
                    "two schemas would have the same name under $defs; rename one",
                ));
            }
            self.warnings.extend(converted.warnings.iter().cloned());
            let in_place = converted.uses.iter().filter(|one| one.in_place);
            graph.insert(at, in_place.map(|one| one.at.clone()).collect());
            queue.extend(converted.uses.iter().map(|one| one.at.clone()));
        }
        if let Some(at) = cycle(&graph) {
            return Err(super::document::cyclic(&at));
        }
        if !definitions.is_empty() {
            root.insert("$defs".into(), Value::Object(definitions));
        }
        let schema = Value::Object(root);
        let bytes = size(&schema);
        if bytes > SCHEMA_BYTES_MAX {
            return Err(too_large(root_at));
        }
        Ok(Published {
            schema,
            bytes,
            warnings: self.warnings,
        })
    }
}

/// A self-contained schema.
#[derive(Debug)]
pub(crate) struct Published {
    pub(crate) schema: Value,
    /// About how many bytes its JSON has.
    pub(crate) bytes: usize,
    /// What was odd about it.
    pub(crate) warnings: Vec<Finding>,
}

fn too_large(at: &Pointer) -> Finding {
    Finding::new(
        DiagnosticCode::SchemaLossy,
        at,
        format!("the schema and what it refers to are over {SCHEMA_BYTES_MAX} bytes; split it"),
    )
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
            bytes: schema.as_ref().map_or(0, size),
            schema,
            warnings: converter.warnings,
            uses: converter.uses,
        }
    }
}

/// About how many bytes the JSON of a value has.
fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(number) => number.as_str().len() + 1,
        Value::String(text) => text.len() + 3,
        Value::Array(items) => 2 + items.iter().map(size).sum::<usize>(),
        Value::Object(map) => {
            2 + map
                .iter()
                .map(|(key, member)| key.len() + 4 + size(member))
                .sum::<usize>()
        }
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

/// A node on a cycle of in-place references, when there is one.
fn cycle(graph: &HashMap<Pointer, Vec<Pointer>>) -> Option<Pointer> {
    // Nodes nothing points to in place are on no cycle; taking them away layer by layer leaves the cycles.
    let mut pointed: HashMap<&Pointer, usize> = graph.keys().map(|node| (node, 0)).collect();
    for next in graph.values().flatten() {
        *pointed.entry(next).or_default() += 1;
    }
    let mut free: Vec<&Pointer> = pointed
        .iter()
        .filter_map(|(&node, &count)| (count == 0).then_some(node))
        .collect();
    let mut left = pointed.len();
    while let Some(node) = free.pop() {
        left -= 1;
        for next in graph.get(node).into_iter().flatten() {
            if let Some(count) = pointed.get_mut(next) {
                *count -= 1;
                if *count == 0 {
                    free.push(next);
                }
            }
        }
    }
    if left == 0 {
        return None;
    }
    // The smallest, so that the message is the same every time; it may only lead to the cycle's members.
    pointed
        .iter()
        .filter(|&(_, &count)| count > 0)
        .map(|(&node, _)| node.clone())
        .min()
}
