//! One schema, keyword by keyword, from the dialect of its document to JSON Schema 2020-12.
//!
//! Owns: what every keyword becomes, references, members that belong to the other direction. Must never
//! follow a reference into what it publishes: references are noted and converted on their own, so that
//! recursion ends with the document's own nesting.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::hidden::{self, is_hidden};
use super::keywords::{Keyword, is_annotation, is_count, is_deeper, is_positive, is_type, keyword};
use super::{Direction, Use, nullable, pattern, repair};
use crate::catalog::DiagnosticCode;
use crate::catalog::document::{Document, Version, shown};
use crate::catalog::finding::Finding;
use crate::json::{Pointer, kind};

/// A schema nested deeper in published JSON than this moves under `$defs`: what is published then nests
/// well under the 128 levels at which common JSON readers stop, however deep the document does.
const LEVELS_MAX: usize = 48;

/// A default, an example or an enumerated value nests at most this many levels.
const VALUE_LEVELS_MAX: usize = 32;

/// At most this many oddities of one schema are told; more say nothing new.
const WARNINGS_MAX: usize = 100;

/// Converts schemas and notes what they refer to.
pub(super) struct Converter<'d> {
    pub(super) document: &'d Document,
    pub(super) direction: Direction,
    pub(super) uses: Vec<Use>,
    /// Where each used definition stands in the list.
    pub(super) used: HashMap<Pointer, usize>,
    pub(super) warnings: Vec<Finding>,
}

/// Where a schema stands in what is published.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// Levels of published JSON above it.
    level: usize,
    /// Whether it applies to the same value as the schema converted on its own.
    same_value: bool,
    /// Names that a schema it is part of leaves out: they cannot be required here.
    hidden: Option<&'a HashSet<String>>,
}

impl Place<'_> {
    /// The place of a schema for a part of the value, some levels further in.
    fn part(self, levels: usize) -> Place<'static> {
        Place {
            level: self.level + levels,
            same_value: false,
            hidden: None,
        }
    }
}

impl<'d> Converter<'d> {
    pub(super) fn new(document: &'d Document, direction: Direction) -> Self {
        Self {
            document,
            direction,
            uses: Vec::new(),
            used: HashMap::new(),
            warnings: Vec::new(),
        }
    }

    /// Converts a schema on its own.
    pub(super) fn convert_root(&mut self, value: &Value, at: &Pointer) -> Result<Value, Finding> {
        let place = Place {
            level: 0,
            same_value: true,
            hidden: None,
        };
        self.convert(value, &mut at.clone(), place)
    }

    pub(super) fn convert(
        &mut self,
        value: &Value,
        at: &mut Pointer,
        place: Place<'_>,
    ) -> Result<Value, Finding> {
        match value {
            Value::Bool(_) => Ok(value.clone()),
            Value::Object(map) => {
                if place.level > LEVELS_MAX && is_deeper(value, 1) {
                    return Ok(json!({"$ref": self.refer(at.clone(), place.same_value)}));
                }
                self.object(map, at, place)
            }
            other => {
                let message = format!(
                    "a schema must be an object, not {}; anything is accepted here",
                    kind(other)
                );
                self.lost(DiagnosticCode::SchemaLeftOut, at, message);
                Ok(json!({}))
            }
        }
    }

    fn object(
        &mut self,
        map: &Map<String, Value>,
        at: &mut Pointer,
        place: Place<'_>,
    ) -> Result<Value, Finding> {
        let version = self.document.version_at(at);
        let is_nullable = nullable::is_declared(map, version);
        let mut inner = place;
        if is_nullable {
            // Room for the `anyOf` that null may need.
            inner.level += 2;
        }
        let mut out = Map::new();
        let mut only_annotations = false;
        let referred = ["$ref", "$dynamicRef", "$recursiveRef"]
            .into_iter()
            .find_map(|name| Some((name, map.get(name)?.as_str()?)));
        if let Some((name, reference)) = referred {
            let Some(target) = self.target(name, reference, at)? else {
                return Ok(json!({}));
            };
            out.insert("$ref".into(), json!(self.refer(target, place.same_value)));
            // Before 3.1 what stands beside a reference does not count; descriptions there are harmless
            // and meant.
            only_annotations = version < Version::V31;
        }
        self.keywords(map, at, inner, only_annotations, &mut out)?;
        if is_nullable {
            nullable::allow(&mut out);
        }
        Ok(Value::Object(out))
    }

    fn keywords(
        &mut self,
        map: &Map<String, Value>,
        at: &mut Pointer,
        place: Place<'_>,
        only_annotations: bool,
        out: &mut Map<String, Value>,
    ) -> Result<(), Finding> {
        let hidden = self.hidden(map, place);
        let within = Place {
            hidden: hidden.as_ref(),
            ..place
        };
        self.subtypes(map, at);
        let is_wider = pattern::leaves_any(map);
        for (name, value) in map {
            let Some(kind) = keyword(name) else { continue };
            // The members of a pattern that leaves would count as further ones.
            if is_wider
                && matches!(
                    name.as_str(),
                    "additionalProperties" | "unevaluatedProperties"
                )
            {
                continue;
            }
            if only_annotations && !is_annotation(name) {
                continue;
            }
            at.push(name);
            let made = self.keyword(kind, name, value, map, at, within, out);
            at.pop();
            made?;
        }
        Ok(())
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one row of a table: the keyword with its surroundings"
    )]
    fn keyword(
        &mut self,
        kind: Keyword,
        name: &str,
        value: &Value,
        map: &Map<String, Value>,
        at: &mut Pointer,
        place: Place<'_>,
        out: &mut Map<String, Value>,
    ) -> Result<(), Finding> {
        let kept = match (kind, value) {
            (Keyword::Type, _) => {
                self.types(value, at, out);
                return Ok(());
            }
            (Keyword::Exclusive, Value::Bool(sharp)) => {
                let bound = if name == "exclusiveMinimum" {
                    "minimum"
                } else {
                    "maximum"
                };
                match (sharp, map.get(bound)) {
                    (true, Some(Value::Number(limit))) => {
                        out.insert(name.into(), json!(limit));
                    }
                    // Without the bound it sharpens it says nothing.
                    (true, _) => self.warn(at, format!("{name} is true but there is no {bound}")),
                    (false, _) => {}
                }
                return Ok(());
            }
            (Keyword::Number, Value::Number(_)) => {
                let sharpened = match name {
                    "minimum" => "exclusiveMinimum",
                    _ => "exclusiveMaximum",
                };
                // The boolean form turned this bound into the exclusive one.
                (map.get(sharpened) != Some(&Value::Bool(true))).then(|| value.clone())
            }
            (Keyword::Text, Value::String(text)) if name == "pattern" => self.pattern(text, at),
            (Keyword::Text, Value::String(_))
            | (Keyword::Flag, Value::Bool(_))
            | (Keyword::Exclusive, Value::Number(_)) => Some(value.clone()),
            (Keyword::Positive, Value::Number(number)) if is_positive(number) => {
                Some(value.clone())
            }
            (Keyword::Count, Value::Number(number)) if is_count(number) => Some(value.clone()),
            (Keyword::Values, Value::Array(values)) if name == "enum" => {
                self.enumeration(values, map, at)
            }
            (Keyword::Any, _) | (Keyword::Values, Value::Array(_)) => self.shallow(value, at),
            // The map of named examples of a media type, where a list belongs.
            (Keyword::Values, Value::Object(_)) if name == "examples" => None,
            (Keyword::Example, _) if map.contains_key("examples") => None,
            (Keyword::Example, _) => {
                if let Some(value) = self.shallow(value, at) {
                    out.insert("examples".into(), json!([value]));
                }
                return Ok(());
            }
            (Keyword::Names, Value::Array(names)) => Some(self.names(names, place.hidden, at)),
            (Keyword::NameLists, Value::Object(lists)) => Some(self.name_lists(lists, at)),
            (
                Keyword::Schema | Keyword::Items | Keyword::InPlace,
                Value::Object(_) | Value::Bool(_),
            ) => {
                let inner = match kind {
                    Keyword::InPlace => self.in_place(name, place, 1),
                    _ => place.part(1),
                };
                Some(self.convert(value, at, inner)?)
            }
            // An empty list of them says nothing.
            (Keyword::Items, Value::Array(list)) if list.is_empty() => None,
            // Both spellings of a list of them: the newer one counts.
            (Keyword::Items, Value::Array(_)) if map.contains_key("prefixItems") => None,
            (Keyword::Items, Value::Array(list)) => {
                let made = self.list(list, at, place.part(2))?;
                out.insert("prefixItems".into(), made);
                return Ok(());
            }
            // Of the items after those that `items` lists, as older dialects call it.
            (Keyword::FurtherItems, Value::Object(_) | Value::Bool(_)) => {
                let is_list = map.get("items").and_then(Value::as_array);
                if is_list.is_some_and(|list| !list.is_empty()) && !map.contains_key("prefixItems")
                {
                    let made = self.convert(value, at, place.part(1))?;
                    out.insert("items".into(), made);
                }
                return Ok(());
            }
            (Keyword::Schemas, Value::Array(list)) if !list.is_empty() => {
                Some(self.list(list, at, place.part(2))?)
            }
            (Keyword::InPlaceList, Value::Array(list)) if !list.is_empty() => {
                let inner = self.in_place(name, place, 2);
                Some(self.list(list, at, inner)?)
            }
            (Keyword::Properties, Value::Object(members)) => {
                Some(self.members(members, at, place.part(2), true)?)
            }
            (Keyword::SchemaMap, Value::Object(members)) => {
                Some(self.pattern_members(members, at, place.part(2))?)
            }
            (Keyword::InPlaceMap, Value::Object(members)) => {
                let inner = self.in_place(name, place, 2);
                Some(self.members(members, at, inner, false)?)
            }
            _ => return self.unfit(kind, name, value, map, at, place, out),
        };
        if let Some(kept) = kept {
            out.insert(name.to_owned(), kept);
        }
        Ok(())
    }

    /// A keyword whose value is of the wrong kind: what it can only have meant, or nothing.
    #[expect(
        clippy::too_many_arguments,
        reason = "the same row, when its value does not fit"
    )]
    fn unfit(
        &mut self,
        kind: Keyword,
        name: &str,
        value: &Value,
        map: &Map<String, Value>,
        at: &mut Pointer,
        place: Place<'_>,
        out: &mut Map<String, Value>,
    ) -> Result<(), Finding> {
        if let Some(meant) = repair::meant(kind, value) {
            let message = format!(
                "{name} cannot be {} and is read as {meant}",
                shown_kind(value)
            );
            self.warn(at, message);
            return self.keyword(kind, name, &meant, map, at, place, out);
        }
        let message = format!(
            "{name} cannot be {} and is left out; write what the keyword wants",
            shown_kind(value)
        );
        if repair::is_idle(kind, name, value) {
            self.warn(at, message);
        } else {
            self.lost(DiagnosticCode::KeywordLeftOut, at, message);
        }
        Ok(())
    }

    /// The place of a schema for the same value. Names left out stay known only where leaving a name out
    /// of `required` cannot turn the meaning around, as it would under `not` and `oneOf`.
    #[expect(clippy::unused_self, reason = "reads like its neighbours")]
    fn in_place<'a>(&self, name: &str, place: Place<'a>, levels: usize) -> Place<'a> {
        Place {
            level: place.level + levels,
            hidden: place
                .hidden
                .filter(|_| matches!(name, "allOf" | "anyOf" | "then" | "else")),
            ..place
        }
    }

    fn types(&mut self, value: &Value, at: &Pointer, out: &mut Map<String, Value>) {
        match value {
            Value::String(name) if is_type(name) => {
                out.insert("type".into(), value.clone());
            }
            Value::String(name) if name == "file" => {
                out.insert("type".into(), json!("string"));
                out.insert("format".into(), json!("binary"));
            }
            // YAML reads the name of the null type as the value; before 3.1 there is no such type.
            Value::Null if self.document.version_at(at) >= Version::V31 => {
                out.insert("type".into(), json!("null"));
            }
            Value::Array(names) => {
                let mut kept: Vec<Value> = Vec::new();
                let null = json!("null");
                for name in names {
                    let name = if name.is_null() { &null } else { name };
                    if name.as_str().is_some_and(is_type) && !kept.contains(name) {
                        kept.push(name.clone());
                    } else {
                        self.warn(at, "the list of types holds what is no type, or one twice");
                    }
                }
                if !kept.is_empty() {
                    out.insert("type".into(), Value::Array(kept));
                }
            }
            other => {
                let message = format!(
                    "type cannot be {} and is left out; write one that JSON Schema has",
                    shown_kind(other)
                );
                self.lost(DiagnosticCode::KeywordLeftOut, at, message);
            }
        }
    }

    /// A value as it is, unless it nests too deeply to be of use.
    pub(super) fn shallow(&mut self, value: &Value, at: &Pointer) -> Option<Value> {
        if is_deeper(value, VALUE_LEVELS_MAX) {
            let message = format!("a value nested over {VALUE_LEVELS_MAX} levels is left out");
            self.lost(DiagnosticCode::ValueLeftOut, at, message);
            return None;
        }
        Some(value.clone())
    }

    fn names(&mut self, names: &[Value], hidden: Option<&HashSet<String>>, at: &Pointer) -> Value {
        let mut seen: HashSet<&str> = HashSet::new();
        let mut kept: Vec<Value> = Vec::new();
        for name in names {
            let Value::String(text) = name else {
                self.warn(at, "a required name must be a string");
                continue;
            };
            if !hidden.is_some_and(|hidden| hidden.contains(text)) && seen.insert(text) {
                kept.push(name.clone());
            }
        }
        Value::Array(kept)
    }

    fn name_lists(&mut self, lists: &Map<String, Value>, at: &Pointer) -> Value {
        let mut out = Map::new();
        for (name, list) in lists {
            match list {
                Value::Array(names) => {
                    out.insert(name.clone(), self.names(names, None, at));
                }
                other => self.warn(
                    at,
                    format!("a list of names cannot be {}", shown_kind(other)),
                ),
            }
        }
        Value::Object(out)
    }

    fn list(
        &mut self,
        list: &[Value],
        at: &mut Pointer,
        place: Place<'_>,
    ) -> Result<Value, Finding> {
        let mut out = Vec::with_capacity(list.len());
        for (index, item) in list.iter().enumerate() {
            at.push_index(index);
            let made = self.convert(item, at, place);
            at.pop();
            out.push(made?);
        }
        Ok(Value::Array(out))
    }

    fn members(
        &mut self,
        members: &Map<String, Value>,
        at: &mut Pointer,
        place: Place<'_>,
        may_hide: bool,
    ) -> Result<Value, Finding> {
        let mut out = Map::new();
        for (name, member) in members {
            at.push(name);
            let made = if may_hide && is_hidden(self.document, self.direction, member, at) {
                Ok(None)
            } else {
                self.convert(member, at, place).map(Some)
            };
            at.pop();
            if let Some(made) = made? {
                out.insert(name.clone(), made);
            }
        }
        Ok(Value::Object(out))
    }

    /// The names that this schema, all it consists of, and what it is part of leave out.
    fn hidden(&self, map: &Map<String, Value>, place: Place<'_>) -> Option<HashSet<String>> {
        let mut names: HashSet<String> = place.hidden.cloned().unwrap_or_default();
        if map.contains_key("required") || map.contains_key("allOf") {
            hidden::collect(self.document, self.direction, map, &mut names);
        }
        (!names.is_empty()).then_some(names)
    }

    /// Something odd that loses nothing.
    pub(super) fn warn(&mut self, at: &Pointer, message: impl Into<String>) {
        self.note(Finding::new(DiagnosticCode::Malformed, at, message));
    }

    /// Something that loses meaning.
    pub(super) fn lost(&mut self, code: DiagnosticCode, at: &Pointer, message: impl Into<String>) {
        self.note(Finding::new(code, at, message));
    }

    pub(super) fn note(&mut self, warning: Finding) {
        if self.warnings.len() < WARNINGS_MAX {
            self.warnings.push(warning);
        }
    }
}

/// A value in a message: its kind, and short text of its own where that says more.
fn shown_kind(value: &Value) -> String {
    match value {
        Value::String(text) => shown(text),
        Value::Number(_) | Value::Bool(_) => value.to_string(),
        Value::Array(items) if items.is_empty() => "an empty list".to_owned(),
        other => kind(other).to_owned(),
    }
}
