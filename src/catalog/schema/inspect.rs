//! Looking at a document's schema before it is converted: is it an object, a scalar, and what of it can
//! become arguments.
//!
//! Owns: merging a root `allOf` of objects. Must never convert anything.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::hidden::is_hidden;
use super::{Direction, nullable};
use crate::catalog::document::{Document, Target, cyclic, reference};
use crate::catalog::finding::Finding;
use crate::json::Pointer;

/// A root is made of at most this many schemas; people's are made of some ten. Every operation of a document
/// may have such a root, so this bounds what each costs.
const PARTS_MAX: usize = 250;

/// Schemas within schemas are looked at this deep to tell whether they are objects.
const LOOKS_MAX: usize = 64;

/// Whether a schema is a plain scalar: nothing in it applies another schema.
pub(super) fn is_scalar(value: &Value) -> bool {
    let Value::Object(map) = value else {
        return false;
    };
    let is_plain = |name: &Value| {
        matches!(
            name.as_str(),
            Some("string" | "number" | "integer" | "boolean" | "null")
        )
    };
    let by_type = match map.get("type") {
        Some(Value::Array(names)) => names.iter().all(is_plain),
        Some(name) => is_plain(name),
        None => map.contains_key("enum") || map.contains_key("const"),
    };
    by_type
        && ![
            "$ref",
            "properties",
            "items",
            "allOf",
            "anyOf",
            "oneOf",
            "not",
            "if",
        ]
        .iter()
        .any(|&name| map.contains_key(name))
}

/// Whether every value of a schema is an object, as far as the schema shows it.
pub(crate) fn is_object(document: &Document, value: &Value, at: &Pointer) -> bool {
    looks_object(document, value, at, &mut { LOOKS_MAX })
}

fn looks_object(document: &Document, value: &Value, at: &Pointer, looks: &mut usize) -> bool {
    if *looks == 0 {
        return false;
    }
    *looks -= 1;
    let Ok(target) = document.resolve(value, at) else {
        return false;
    };
    let Value::Object(map) = target.value else {
        return false;
    };
    if nullable::is_declared(map, document.version_at(&target.at)) {
        return false;
    }
    match map.get("type") {
        Some(Value::String(name)) => return name == "object",
        Some(Value::Array(names)) => return names.len() == 1 && names[0] == "object",
        _ => {}
    }
    if map.contains_key("properties") {
        return true;
    }
    let mut list = |name: &str, all: bool| {
        let parts = map.get(name).and_then(Value::as_array);
        parts.is_some_and(|parts| {
            let mut looks_object = |part: &Value| looks_object(document, part, &target.at, looks);
            if all {
                !parts.is_empty() && parts.iter().all(&mut looks_object)
            } else {
                parts.iter().any(&mut looks_object)
            }
        })
    };
    list("allOf", false) || list("oneOf", true) || list("anyOf", true)
}

/// Whether a schema is an object that can hold nothing: `properties` is there and empty.
pub(crate) fn is_empty_object(document: &Document, value: &Value, at: &Pointer) -> bool {
    document.resolve(value, at).is_ok_and(|target| {
        let Value::Object(map) = target.value else {
            return false;
        };
        map.get("properties")
            .and_then(Value::as_object)
            .is_some_and(Map::is_empty)
            && matches!(
                map.get("additionalProperties"),
                None | Some(Value::Bool(false))
            )
            && !["allOf", "anyOf", "oneOf", "$ref", "patternProperties"]
                .iter()
                .any(|&name| map.contains_key(name))
    })
}

/// A body that can be flattened: an object with known members.
#[derive(Debug, Default)]
pub(crate) struct Root<'d> {
    /// The members, each with the schemas that describe it (more than one where `allOf` parts meet).
    pub(crate) members: Vec<(String, Vec<Target<'d>>)>,
    /// The names of required members.
    pub(crate) required: Vec<String>,
    /// Whether there may be more members.
    pub(crate) open: Open<'d>,
    /// Members that are the backend's to set.
    pub(crate) hidden: Vec<String>,
    /// Keywords of the root that one flat object of arguments cannot carry.
    pub(crate) lost: Vec<String>,
}

/// What a body schema says of members it does not name.
#[derive(Debug, Default)]
pub(crate) enum Open<'d> {
    /// Nothing, or that there are none.
    #[default]
    Closed,
    /// There may be any.
    Any,
    /// There may be such.
    Such(Target<'d>),
}

/// The root of a body as one flat object, after merging a root `allOf`; none when it cannot be flattened.
pub(crate) fn merge_root<'d>(
    document: &'d Document,
    value: &'d Value,
    at: &Pointer,
) -> Result<Option<Root<'d>>, Finding> {
    let mut merge = Merge {
        document,
        root: Root::default(),
        places: HashMap::new(),
        required: HashSet::new(),
        refused: false,
        is_closed: false,
        parts: 0,
    };
    let first = Target {
        value,
        at: at.clone(),
    };
    merge.part(&first, true, &mut HashSet::new())?;
    let Merge {
        mut root,
        refused,
        is_closed,
        ..
    } = merge;
    if refused || root.members.is_empty() {
        return Ok(None);
    }
    if is_closed {
        root.open = Open::Closed;
    }
    let hidden: HashSet<String> = root
        .members
        .iter()
        .filter(|(_, schemas)| {
            schemas
                .iter()
                .any(|one| is_hidden(document, Direction::Input, one.value, &one.at))
        })
        .map(|(name, _)| name.clone())
        .collect();
    for (name, _) in &root.members {
        if hidden.contains(name) {
            root.hidden.push(name.clone());
        }
    }
    root.members.retain(|(name, _)| !hidden.contains(name));
    root.required.retain(|name| !hidden.contains(name));
    Ok(Some(root))
}

struct Merge<'d> {
    document: &'d Document,
    root: Root<'d>,
    /// Where each member stands in the root's list.
    places: HashMap<&'d str, usize>,
    required: HashSet<&'d str>,
    refused: bool,
    is_closed: bool,
    parts: usize,
}

impl<'d> Merge<'d> {
    /// Takes in one schema; `above` are the places it is part of.
    fn part(
        &mut self,
        part: &Target<'d>,
        is_root: bool,
        above: &mut HashSet<Pointer>,
    ) -> Result<(), Finding> {
        self.parts += 1;
        if above.contains(&part.at) {
            return Err(cyclic(&part.at));
        }
        if self.parts > PARTS_MAX {
            self.refused = true;
        }
        let (true, Value::Object(map)) = (!self.refused, part.value) else {
            self.refused = true;
            return Ok(());
        };
        above.insert(part.at.clone());
        if let Some(reference) = reference(part.value) {
            let target = self.document.lookup(reference, &part.at)?;
            self.part(&target, is_root, above)?;
            let version = self.document.version_at(&part.at);
            if version < crate::catalog::document::Version::V31 {
                above.remove(&part.at);
                return Ok(());
            }
        }
        self.keywords(map, &part.at, is_root);
        for (index, inner) in map
            .get("allOf")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .enumerate()
        {
            let mut at = part.at.join("allOf");
            at.push_index(index);
            self.part(&Target { value: inner, at }, false, above)?;
        }
        above.remove(&part.at);
        Ok(())
    }

    fn keywords(&mut self, map: &'d Map<String, Value>, at: &Pointer, is_root: bool) {
        let is_object = match map.get("type") {
            Some(Value::String(name)) => name == "object",
            // A body that may also be null is sent as the object.
            Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
            _ => true,
        };
        self.refused |= !is_object;
        for (name, value) in map {
            match name.as_str() {
                "properties" => self.properties(value, &at.join(name)),
                "required" => {
                    for name in value
                        .as_array()
                        .into_iter()
                        .flatten()
                        .filter_map(Value::as_str)
                    {
                        if self.required.insert(name) {
                            self.root.required.push(name.to_owned());
                        }
                    }
                }
                "additionalProperties" => match value {
                    Value::Bool(false) => self.is_closed = true,
                    Value::Bool(true) => {
                        if matches!(self.root.open, Open::Closed) {
                            self.root.open = Open::Any;
                        }
                    }
                    // An empty schema is how generators write "no statement"; it says as much as `true`.
                    Value::Object(_) => {
                        self.root.open = Open::Such(Target {
                            value,
                            at: at.join(name),
                        });
                    }
                    _ => {}
                },
                "oneOf" | "patternProperties" => self.refused = true,
                "anyOf" if !requires_only(value) => self.refused = true,
                "anyOf"
                | "not"
                | "if"
                | "then"
                | "else"
                | "dependentSchemas"
                | "dependentRequired"
                | "propertyNames"
                | "minProperties"
                | "maxProperties"
                | "unevaluatedProperties"
                    if is_root || name != "unevaluatedProperties" =>
                {
                    self.root.lost.push(name.clone());
                }
                _ => {}
            }
        }
    }

    fn properties(&mut self, value: &'d Value, at: &Pointer) {
        for (name, schema) in value.as_object().into_iter().flatten() {
            let target = Target {
                value: schema,
                at: at.join(name),
            };
            if let Some(&place) = self.places.get(name.as_str()) {
                let schemas = &mut self.root.members[place].1;
                if !schemas
                    .iter()
                    .any(|known| known.at == target.at || known.value == schema)
                {
                    schemas.push(target);
                }
            } else {
                self.places.insert(name, self.root.members.len());
                self.root.members.push((name.clone(), vec![target]));
            }
        }
    }
}

/// Whether alternatives only differ in what they require.
fn requires_only(alternatives: &Value) -> bool {
    alternatives.as_array().is_some_and(|list| {
        list.iter().all(|one| {
            one.as_object().is_some_and(|map| {
                map.keys()
                    .all(|name| matches!(name.as_str(), "required" | "title" | "description"))
            })
        })
    })
}
