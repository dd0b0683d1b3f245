//! Keys that a configuration file does not have, and the one that was meant.
//!
//! Owns: walking a value beside the schema of the file. Knows no section by name.

use serde_json::{Map, Value};

use crate::json::Pointer;
use crate::text::edit_distance;

/// A key that is not known.
pub(super) struct Unknown {
    pub(super) at: Pointer,
    pub(super) message: String,
}

/// Every unknown key of a value, by the schema of configuration files.
pub(super) fn unknown(value: &Value) -> Vec<Unknown> {
    let schema = super::schema();
    let mut found = Vec::new();
    let walk = Walk { root: &schema };
    walk.value(value, &schema, &Pointer::root(), &mut found);
    found
}

struct Walk<'s> {
    root: &'s Value,
}

impl<'s> Walk<'s> {
    fn value(&self, value: &Value, schema: &'s Value, at: &Pointer, found: &mut Vec<Unknown>) {
        let schemas = self.alternatives(schema);
        match value {
            Value::Object(members) => self.object(members, &schemas, at, found),
            Value::Array(items) => {
                let Some(item_schema) = schemas.iter().find_map(|one| one.get("items")) else {
                    return;
                };
                for (index, item) in items.iter().enumerate() {
                    let mut at = at.clone();
                    at.push_index(index);
                    self.value(item, item_schema, &at, found);
                }
            }
            _ => {}
        }
    }

    fn object(
        &self,
        members: &Map<String, Value>,
        schemas: &[&'s Value],
        at: &Pointer,
        found: &mut Vec<Unknown>,
    ) {
        let properties: Vec<(&String, &Value)> = schemas
            .iter()
            .filter_map(|one| one.get("properties")?.as_object())
            .flatten()
            .collect();
        let further = schemas
            .iter()
            .filter_map(|one| one.get("additionalProperties"))
            .find(|one| one.is_object());
        for (name, member) in members {
            let at = at.join(name);
            let known = properties.iter().find(|(known, _)| *known == name);
            if let Some((_, schema)) = known {
                self.value(member, schema, &at, found);
            } else if let Some(schema) = further {
                self.value(member, schema, &at, found);
            } else if !properties.is_empty() {
                let names = properties.iter().map(|(known, _)| known.as_str());
                let names: Vec<&str> = names.collect();
                found.push(Unknown {
                    at,
                    message: message(name, &names),
                });
            }
        }
    }

    /// A schema without references and choices: all it may be.
    fn alternatives(&self, schema: &'s Value) -> Vec<&'s Value> {
        let mut all = Vec::new();
        let mut open = vec![schema];
        while let Some(one) = open.pop() {
            if let Some(reference) = one.get("$ref").and_then(Value::as_str) {
                open.extend(
                    reference
                        .strip_prefix('#')
                        .and_then(|at| self.root.pointer(at)),
                );
            }
            for choice in ["anyOf", "oneOf"] {
                open.extend(
                    one.get(choice)
                        .and_then(Value::as_array)
                        .into_iter()
                        .flatten(),
                );
            }
            all.push(one);
        }
        all
    }
}

fn message(name: &str, known: &[&str]) -> String {
    let nearest = known
        .iter()
        .map(|known| (distance(name, known), *known))
        .min()
        .filter(|(changes, known)| *changes <= 1 + known.chars().count() / 3);
    if let Some((_, known)) = nearest {
        return format!("there is no key `{name}` here; did you mean `{known}`?");
    }
    let quoted: Vec<String> = known.iter().map(|known| format!("`{known}`")).collect();
    format!(
        "there is no key `{name}` here; there are {}",
        quoted.join(", ")
    )
}

/// How many characters must be changed, added or removed to make one key the other, leaving out case, `-` and
/// `_`: `base_url` is `baseUrl`.
fn distance(left: &str, right: &str) -> usize {
    /// Keys are short; of a longer text the beginning tells.
    const CHARS_MAX: usize = 64;
    let fold = |text: &str| -> Vec<char> {
        text.chars()
            .filter(|c| !matches!(c, '-' | '_'))
            .flat_map(char::to_lowercase)
            .take(CHARS_MAX)
            .collect()
    };
    edit_distance(&fold(left), &fold(right))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_keys_are_found_at_every_depth_with_the_one_meant() {
        let value = json!({
            "source": [],
            "sources": [{
                "source": "a",
                "base_url": "x",
                "serverVariables": {"anything": "goes"},
                "operations": [{
                    "arguments": {"any": {"renamed": "b", "hide": {"konstant": 1, "constant": {"free": {"deep": 1}}}}},
                    "variants": [{"name": "v", "argument": {}}],
                    "hints": {"readonlyHint": true},
                }],
            }],
            "naming": {"prefix": "always", "zzzzzzzz": 1},
        });
        let found: Vec<(String, String)> = unknown(&value)
            .into_iter()
            .map(|one| (one.at.as_str().to_owned(), one.message))
            .collect();
        for (at, meant) in [
            ("/source", "did you mean `sources`"),
            ("/sources/0/base_url", "did you mean `baseUrl`"),
            (
                "/sources/0/operations/0/arguments/any/renamed",
                "did you mean `rename`",
            ),
            (
                "/sources/0/operations/0/arguments/any/hide/konstant",
                "did you mean `constant`",
            ),
            (
                "/sources/0/operations/0/variants/0/argument",
                "did you mean `arguments`",
            ),
            (
                "/sources/0/operations/0/hints/readonlyHint",
                "did you mean `readOnlyHint`",
            ),
            ("/naming/zzzzzzzz", "there are `prefix`"),
        ] {
            let one = found.iter().find(|(place, _)| place == at);
            let (_, message) = one.unwrap_or_else(|| panic!("{at}: {found:?}"));
            assert!(message.contains(meant), "{message}");
        }
        assert_eq!(found.len(), 7, "{found:?}");
    }
}
