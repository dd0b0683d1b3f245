//! A converted schema without what does not fit: descriptions and examples, and references that lead too far.
//!
//! Owns: what takes the place of a reference that is cut. What comes out accepts at least every value that
//! went in: must never refuse what the whole schema accepts.

use serde_json::{Map, Value, json};

use super::keywords::{Keyword, is_in_place, keyword};
use crate::json::canonical_len;

/// How references to definitions are spelled.
const DEFINITIONS: &str = "#/$defs/";

/// How small a definition can be made.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Slim {
    /// Its bytes without descriptions and examples.
    pub(super) bare_bytes: usize,
    /// The fewest bytes it can have, whichever of its references are cut.
    pub(super) floor_bytes: usize,
}

impl Slim {
    pub(super) fn of(schema: &Value) -> Self {
        let bare = Cutter::bare().schema(schema);
        // What is put where a reference stood is longer than the reference, so that keeping all of them
        // while leaving out what cannot stand beside a cut one is the smallest there is.
        let keep = |_: &str| true;
        let floor = Cutter::cutting(true, &keep, &no_type).schema(schema);
        Self {
            bare_bytes: canonical_len(&bare),
            floor_bytes: canonical_len(&floor),
        }
    }
}

/// The fewest bytes that a root can have, whichever of its references are cut. Its texts stay.
pub(super) fn root_floor_bytes(root: &Map<String, Value>) -> usize {
    let keep = |_: &str| true;
    let floor = Cutter::cutting(false, &keep, &no_type).object(root);
    canonical_len(&Value::Object(floor))
}

/// Copies schemas without what is left out, and counts what that was.
pub(super) struct Cutter<'a> {
    /// Whether descriptions and examples are left out.
    is_bare: bool,
    /// Which definitions stay; none when no reference is cut.
    keeps: Option<&'a dyn Fn(&str) -> bool>,
    /// The `type` of a definition, where it says one.
    type_of: &'a dyn Fn(&str) -> Option<Value>,
    /// How many references were cut.
    pub(super) cut: usize,
    /// The names of definitions that are still referred to, in their order, repeats included.
    pub(super) kept: Vec<String>,
    /// How many references were met, and keywords left out for one.
    met: usize,
}

impl<'a> Cutter<'a> {
    /// Leaves descriptions and examples out.
    pub(super) fn bare() -> Self {
        Self {
            is_bare: true,
            keeps: None,
            type_of: &no_type,
            cut: 0,
            kept: Vec::new(),
            met: 0,
        }
    }

    /// Cuts the references to definitions that do not stay.
    pub(super) fn cutting(
        is_bare: bool,
        keeps: &'a dyn Fn(&str) -> bool,
        type_of: &'a dyn Fn(&str) -> Option<Value>,
    ) -> Self {
        Self {
            is_bare,
            keeps: Some(keeps),
            type_of,
            cut: 0,
            kept: Vec::new(),
            met: 0,
        }
    }

    /// The same with or without descriptions from here on.
    pub(super) fn set_bare(&mut self, is_bare: bool) {
        self.is_bare = is_bare;
    }

    pub(super) fn schema(&mut self, schema: &Value) -> Value {
        match schema {
            Value::Object(map) => Value::Object(self.object(map)),
            other => other.clone(),
        }
    }

    pub(super) fn object(&mut self, map: &Map<String, Value>) -> Map<String, Value> {
        let is_cutting = self.keeps.is_some();
        let mut out = Map::new();
        for (name, value) in map {
            if self.is_bare && matches!(name.as_str(), "description" | "examples") {
                continue;
            }
            if name == "$ref" {
                self.reference(value, map, &mut out);
                continue;
            }
            if is_cutting && must_go(name, value, map) {
                // What accepts more for it counts like a reference to those around.
                self.met += 1;
                continue;
            }
            let (met_before, kept_before, cut_before) = (self.met, self.kept.len(), self.cut);
            let made = self.keyword(name, value);
            let has_refs = self.met > met_before;
            if is_cutting && name == "oneOf" && has_refs {
                // Alternatives that accept more may accept the same value.
                if map.contains_key("anyOf") {
                    self.kept.truncate(kept_before);
                    self.cut = cut_before;
                    continue;
                }
                out.insert("anyOf".to_owned(), made);
                continue;
            }
            out.insert(name.clone(), made);
        }
        out
    }

    fn reference(&mut self, value: &Value, map: &Map<String, Value>, out: &mut Map<String, Value>) {
        self.met += 1;
        let name = definition_of(value).unwrap_or_default();
        if self.keeps.is_none_or(|keeps| keeps(name)) {
            self.kept.push(name.to_owned());
            out.insert("$ref".to_owned(), value.clone());
            return;
        }
        self.cut += 1;
        if !map.contains_key("type")
            && let Some(kind) = (self.type_of)(name)
        {
            out.insert("type".to_owned(), kind);
        }
        out.insert(
            "$comment".to_owned(),
            json!(format!("{name}: left out for size")),
        );
    }

    fn keyword(&mut self, name: &str, value: &Value) -> Value {
        match (keyword(name), value) {
            (
                Some(Keyword::Schema | Keyword::Items | Keyword::InPlace),
                Value::Object(_) | Value::Bool(_),
            ) => self.schema(value),
            (
                Some(Keyword::Schemas | Keyword::InPlaceList | Keyword::Items),
                Value::Array(list),
            ) => Value::Array(list.iter().map(|one| self.schema(one)).collect()),
            (
                Some(Keyword::Properties | Keyword::SchemaMap | Keyword::InPlaceMap),
                Value::Object(members),
            ) => {
                let members = members
                    .iter()
                    .map(|(key, member)| (key.clone(), self.schema(member)));
                Value::Object(members.collect())
            }
            _ => value.clone(),
        }
    }
}

/// The definition that a `$ref` of a published schema leads to.
pub(super) fn definition_of(reference: &Value) -> Option<&str> {
    reference.as_str()?.strip_prefix(DEFINITIONS)
}

fn no_type(_: &str) -> Option<Value> {
    None
}

/// Whether a schema applies others to the value itself.
fn has_in_place(map: &Map<String, Value>) -> bool {
    map.keys().any(|name| is_in_place(name))
}

/// Whether a keyword could refuse more than before once references are cut.
fn must_go(name: &str, value: &Value, map: &Map<String, Value>) -> bool {
    match name {
        "not" => refers(value),
        // Only which branch is taken is lost with the condition, never a value.
        "if" | "then" | "else" => map.get("if").is_some_and(refers),
        "maxContains" => map.get("contains").is_some_and(refers),
        // Without what a reference led to, more parts of the value would count as unseen.
        "unevaluatedProperties" | "unevaluatedItems" => {
            has_in_place(map) && (map.contains_key("$ref") || map.values().any(refers))
        }
        _ => false,
    }
}

/// Whether a schema refers to a definition anywhere, or anything that looks like a schema does.
fn refers(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => map.contains_key("$ref") || map.values().any(refers),
        Value::Array(list) => list.iter().any(refers),
        _ => false,
    }
}

/// The definitions that a value of a schema cannot do without: those its required members refer to, through
/// required members of theirs, and through the items of required lists.
pub(super) fn needed<'s>(schema: &'s Value, names: &mut Vec<&'s str>) {
    let Value::Object(map) = schema else { return };
    names.extend(map.get("$ref").and_then(definition_of));
    for list in ["allOf", "anyOf", "oneOf", "prefixItems"] {
        let parts = map.get(list).and_then(Value::as_array);
        for part in parts.into_iter().flatten() {
            needed(part, names);
        }
    }
    for name in ["items", "contains"] {
        if let Some(part) = map.get(name) {
            needed(part, names);
        }
    }
    let Some(Value::Object(members)) = map.get("properties") else {
        return;
    };
    let required = map.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if let Some(member) = members.get(name) {
            needed(member, names);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn cut(schema: &Value, keeps: &[&str]) -> (Value, usize) {
        let keep = |name: &str| keeps.contains(&name);
        let type_of = |name: &str| (name == "O").then(|| json!("object"));
        let mut cutter = Cutter::cutting(false, &keep, &type_of);
        let made = cutter.schema(schema);
        (made, cutter.cut)
    }

    #[test]
    fn cut_references_say_what_they_were() {
        let to = |name: &str| json!({"$ref": format!("#/$defs/{name}")});
        let note = |name: &str| json!({"$comment": format!("{name}: left out for size")});
        let typed = json!({"type": "object", "$comment": "O: left out for size"});
        for (schema, want, count) in [
            (to("A"), to("A"), 0),
            (to("B"), note("B"), 1),
            (to("O"), typed.clone(), 1),
            (
                json!({"$ref": "#/$defs/O", "type": "object", "description": "d"}),
                json!({"$comment": "O: left out for size", "type": "object", "description": "d"}),
                1,
            ),
            (
                json!({"properties": {"$ref": to("B"), "a": to("A")}, "items": to("O")}),
                json!({"properties": {"$ref": note("B"), "a": to("A")}, "items": typed}),
                2,
            ),
            // An example is no schema.
            (
                json!({"examples": [to("B")]}),
                json!({"examples": [to("B")]}),
                0,
            ),
            // One of several that each accept more is any of them.
            (
                json!({"oneOf": [to("B"), {}]}),
                json!({"anyOf": [note("B"), {}]}),
                1,
            ),
            (
                json!({"oneOf": [{"type": "null"}]}),
                json!({"oneOf": [{"type": "null"}]}),
                0,
            ),
            (
                json!({"oneOf": [to("B")], "anyOf": [{}]}),
                json!({"anyOf": [{}]}),
                0,
            ),
            // What turns the meaning around goes.
            (json!({"not": to("B")}), json!({}), 0),
            (
                json!({"not": {"type": "null"}}),
                json!({"not": {"type": "null"}}),
                0,
            ),
            (
                json!({"if": to("B"), "then": {"minLength": 1}, "else": false}),
                json!({}),
                0,
            ),
            (
                json!({"allOf": [to("A")], "unevaluatedProperties": false}),
                json!({"allOf": [to("A")]}),
                0,
            ),
            (
                json!({"$ref": "#/$defs/A", "unevaluatedItems": false}),
                to("A"),
                0,
            ),
            // An alternative of which something was left out for a reference accepts more, too.
            (
                json!({"oneOf": [{"not": to("A")}, {"type": "null"}]}),
                json!({"anyOf": [{}, {"type": "null"}]}),
                0,
            ),
            (
                json!({"contains": to("A"), "maxContains": 1}),
                json!({"contains": to("A")}),
                0,
            ),
        ] {
            assert_eq!(cut(&schema, &["A"]), (want, count), "{schema}");
        }
    }

    #[test]
    fn bare_schemas_have_no_text_but_keep_members_named_like_it() {
        let schema = json!({
            "description": "d", "examples": [1], "title": "t", "default": {"description": "kept"},
            "properties": {"description": {"description": "d", "enum": ["a"]}, "examples": true},
        });
        let want = json!({
            "title": "t", "default": {"description": "kept"},
            "properties": {"description": {"enum": ["a"]}, "examples": true},
        });
        assert_eq!(Cutter::bare().schema(&schema), want);
    }

    #[test]
    fn only_required_paths_are_needed() {
        let schema = json!({
            "properties": {
                "a": {"$ref": "#/$defs/A"}, "b": {"$ref": "#/$defs/B"},
                "c": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/C"}, {"type": "null"}]}},
                "d": {"properties": {"e": {"$ref": "#/$defs/E"}, "f": {"$ref": "#/$defs/F"}}, "required": ["f"]},
            },
            "required": ["b", "c", "d", "nowhere"], "allOf": [{"$ref": "#/$defs/G"}],
        });
        let mut names = Vec::new();
        needed(&schema, &mut names);
        assert_eq!(names, ["G", "B", "C", "F"]);
    }
}
