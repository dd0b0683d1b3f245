//! Null: OpenAPI 3.0's `nullable` in 2020-12, and whether a published schema allows null.
//!
//! Owns: every spelling of null. Must never follow a reference out of the schema it is given.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::keywords::{is_annotation, is_in_place};
use crate::catalog::document::{Version, flag};
use crate::json::Pointer;

/// Schemas deeper in one another than this are taken to allow null; people's need two or three.
const LOOKS_MAX: usize = 64;

/// Whether a schema says that it also accepts null.
///
/// `nullable` is a keyword of 3.0 only, but documents of 3.1 that were converted by hand still mean it;
/// `x-nullable` is how 2.0 documents say it.
pub(super) fn is_declared(map: &Map<String, Value>, version: Version) -> bool {
    flag(map, "nullable") || (version == Version::V20 && flag(map, "x-nullable"))
}

/// Makes a converted schema accept null as well.
pub(super) fn allow(schema: &mut Map<String, Value>) {
    if schema.keys().any(|name| is_in_place(name)) {
        let mut annotations = Map::new();
        let mut inner = Map::new();
        for (name, value) in std::mem::take(schema) {
            if is_annotation(&name) {
                annotations.insert(name, value);
            } else {
                inner.insert(name, value);
            }
        }
        schema.insert("anyOf".into(), json!([inner, {"type": "null"}]));
        schema.extend(annotations);
        return;
    }
    match schema.get_mut("type") {
        Some(Value::Array(names)) if !names.contains(&json!("null")) => names.push(json!("null")),
        Some(name @ Value::String(_)) if name != "null" => *name = json!([name, "null"]),
        _ => {}
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    if let Some(only) = schema.get("const").filter(|only| !only.is_null()) {
        let both = json!([only, null]);
        schema.remove("const");
        schema.insert("enum".into(), both);
    }
}

/// Whether a schema of a published root allows null, as far as can be told without a validator: what
/// cannot be told is allowed, so that no value a backend would take is refused.
pub(crate) fn allows_null(root: &Value, schema: &Value) -> bool {
    let mut looks = Looks {
        root,
        left: LOOKS_MAX,
        open: HashSet::new(),
    };
    looks.allows(schema)
}

struct Looks<'a> {
    root: &'a Value,
    left: usize,
    /// References being followed.
    open: HashSet<String>,
}

impl Looks<'_> {
    fn allows(&mut self, schema: &Value) -> bool {
        let Value::Object(map) = schema else {
            return schema != &Value::Bool(false);
        };
        if self.left == 0 {
            return true;
        }
        self.left -= 1;
        let by_type = match map.get("type") {
            Some(Value::String(name)) => name == "null",
            Some(Value::Array(names)) => names.contains(&json!("null")),
            _ => true,
        };
        let by_value = match (map.get("enum"), map.get("const")) {
            (Some(Value::Array(values)), _) => values.contains(&Value::Null),
            (_, Some(only)) => only.is_null(),
            _ => true,
        };
        by_type && by_value && self.parts_allow(map) && self.target_allows(map)
    }

    fn parts_allow(&mut self, map: &Map<String, Value>) -> bool {
        let list = |name: &str| map.get(name).and_then(Value::as_array);
        list("allOf").is_none_or(|parts| parts.iter().all(|part| self.allows(part)))
            && list("anyOf").is_none_or(|parts| parts.iter().any(|part| self.allows(part)))
            && list("oneOf").is_none_or(|parts| parts.iter().any(|part| self.allows(part)))
    }

    fn target_allows(&mut self, map: &Map<String, Value>) -> bool {
        let Some(Value::String(reference)) = map.get("$ref") else {
            return true;
        };
        let target = reference
            .strip_prefix('#')
            .and_then(Pointer::from_text)
            .and_then(|pointer| {
                let mut tokens = pointer.tokens();
                tokens.try_fold(self.root, |value, token| value.get(token))
            });
        let Some(target) = target else { return true };
        if !self.open.insert(reference.clone()) {
            return true;
        }
        let allowed = self.allows(target);
        self.open.remove(reference);
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_is_told_in_every_spelling() {
        let root = json!({"$defs": {
            "text": {"type": "string"}, "maybe": {"type": ["string", "null"]},
            "loop": {"anyOf": [{"$ref": "#/$defs/loop"}, {"type": "string"}]},
        }});
        for (schema, want) in [
            (json!({}), true),
            (json!(true), true),
            (json!(false), false),
            (json!({"type": "string"}), false),
            (json!({"type": ["string", "null"]}), true),
            (json!({"enum": ["a", null]}), true),
            (json!({"enum": ["a"]}), false),
            (json!({"const": "a"}), false),
            (json!({"const": null}), true),
            (json!({"type": ["string", "null"], "enum": ["a"]}), false),
            (
                json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
                true,
            ),
            (
                json!({"oneOf": [{"type": "string"}, {"type": "integer"}]}),
                false,
            ),
            (json!({"allOf": [{}, {"type": "string"}]}), false),
            (json!({"$ref": "#/$defs/text"}), false),
            (json!({"$ref": "#/$defs/maybe"}), true),
            (json!({"$ref": "#/$defs/nowhere"}), true),
            (json!({"$ref": "#/$defs/loop"}), true),
        ] {
            assert_eq!(allows_null(&root, &schema), want, "{schema}");
        }
    }

    #[test]
    fn nullable_reaches_types_values_and_references() {
        for (schema, want) in [
            (
                json!({"type": "string"}),
                json!({"type": ["string", "null"]}),
            ),
            (
                json!({"type": "string", "enum": ["a"]}),
                json!({"type": ["string", "null"], "enum": ["a", null]}),
            ),
            (json!({"const": 1}), json!({"enum": [1, null]})),
            (json!({}), json!({})),
            (
                json!({"$ref": "#/$defs/a", "description": "d"}),
                json!({"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}], "description": "d"}),
            ),
            (
                json!({"type": "object", "allOf": [{}]}),
                json!({"anyOf": [{"type": "object", "allOf": [{}]}, {"type": "null"}]}),
            ),
        ] {
            let Value::Object(mut map) = schema.clone() else {
                panic!("{schema}");
            };
            allow(&mut map);
            assert_eq!(Value::Object(map), want, "{schema}");
        }
    }
}
