//! Finding the references of a value, and only those: what is data is left alone.
//!
//! Owns: which members of OpenAPI and JSON Schema hold parts, which hold parts by name, and which hold data
//! in which `$ref` is only a text. Must never follow a reference.

use std::collections::HashSet;

use serde_json::Value;

use crate::json::Pointer;

/// The members whose text leads somewhere.
pub(super) const REFERENCES: [&str; 2] = ["$ref", "$dynamicRef"];

/// What a value is, as far as references are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A part of a document: its members are keywords.
    Part,
    /// Parts by name: its members may be called anything.
    Named,
    /// Somebody's data.
    Data,
}

impl Kind {
    /// What stands at a member of a value of this kind.
    pub(super) fn member(self, name: &str, value: &Value) -> Self {
        match self {
            Self::Data => Self::Data,
            Self::Named => Self::Part,
            Self::Part => match name {
                "properties"
                | "patternProperties"
                | "$defs"
                | "definitions"
                | "dependentSchemas"
                | "dependencies"
                | "schemas"
                | "responses"
                | "parameters"
                | "requestBodies"
                | "headers"
                | "securitySchemes"
                | "securityDefinitions"
                | "links"
                | "callbacks"
                | "pathItems"
                | "mediaTypes"
                | "content"
                | "encoding"
                | "paths"
                | "webhooks"
                | "additionalOperations"
                | "variables"
                    if value.is_object() =>
                {
                    Self::Named
                }
                // Examples by name may be references too, but nothing that is published is made of them.
                "example" | "examples" | "default" | "enum" | "const" | "mapping" | "security" => {
                    Self::Data
                }
                _ if name.starts_with("x-") => Self::Data,
                _ => Self::Part,
            },
        }
    }

    /// What an item of a list of this kind is.
    pub(super) fn item(self) -> Self {
        match self {
            Self::Named => Self::Part,
            other => other,
        }
    }
}

/// A reference where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reference {
    /// The object that holds it.
    pub(super) at: Pointer,
    /// Which of [`REFERENCES`].
    pub(super) member: &'static str,
    pub(super) text: String,
    /// The innermost schema around it with an `$id`: which of [`Scanned::ids`].
    pub(super) scope: Option<usize>,
}

/// A schema that says what it is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identified {
    pub(super) at: Pointer,
    pub(super) id: String,
    /// The one around it.
    pub(super) scope: Option<usize>,
}

/// What was found below one place.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    pub(super) references: Vec<Reference>,
    /// The texts of the others, where those within the document were to be told apart.
    pub(super) local: HashSet<String>,
    pub(super) ids: Vec<Identified>,
    /// Values that were looked at.
    pub(super) values: u64,
}

/// The references below a place where a part stands. With `apart`, those that lead to a place of the same
/// text are only told by that: a document has many of them, and they stay as they are.
pub(super) fn scan(value: &Value, at: &Pointer, apart: bool) -> Scanned {
    let mut scan = Scan {
        start: at,
        apart,
        path: Vec::new(),
        found: Scanned::default(),
    };
    scan.value(value, Kind::Part, None);
    scan.found
}

/// One step of the way down.
enum Step<'v> {
    Member(&'v str),
    Item(usize),
}

struct Scan<'v> {
    start: &'v Pointer,
    apart: bool,
    path: Vec<Step<'v>>,
    found: Scanned,
}

impl<'v> Scan<'v> {
    fn here(&self) -> Pointer {
        let mut at = self.start.clone();
        for step in &self.path {
            match step {
                Step::Member(name) => at.push(name),
                Step::Item(index) => at.push_index(*index),
            }
        }
        at
    }

    // Documents nest no deeper than their reader allows.
    fn value(&mut self, value: &'v Value, kind: Kind, scope: Option<usize>) {
        self.found.values += 1;
        match value {
            Value::Object(map) => {
                let mut scope = scope;
                if kind == Kind::Part {
                    if let Some(Value::String(id)) = map.get("$id") {
                        let (at, id) = (self.here(), id.clone());
                        self.found.ids.push(Identified { at, id, scope });
                        scope = Some(self.found.ids.len() - 1);
                    }
                    for member in REFERENCES {
                        if let Some(Value::String(text)) = map.get(member) {
                            if self.apart && scope.is_none() && text.starts_with('#') {
                                if !self.found.local.contains(text) {
                                    self.found.local.insert(text.clone());
                                }
                                continue;
                            }
                            let (at, text) = (self.here(), text.clone());
                            self.found.references.push(Reference {
                                at,
                                member,
                                text,
                                scope,
                            });
                        }
                    }
                }
                for (name, member) in map {
                    let kind = kind.member(name, member);
                    if kind != Kind::Data && (member.is_object() || member.is_array()) {
                        self.path.push(Step::Member(name));
                        self.value(member, kind, scope);
                        self.path.pop();
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    if item.is_object() || item.is_array() {
                        self.path.push(Step::Item(index));
                        self.value(item, kind.item(), scope);
                        self.path.pop();
                    }
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(value: &Value) -> Vec<String> {
        let mut texts: Vec<String> = scan(value, &Pointer::root(), false)
            .references
            .into_iter()
            .map(|one| format!("{} {}", one.at, one.text))
            .collect();
        texts.sort();
        texts
    }

    #[test]
    fn data_is_no_reference_and_names_are_no_keywords() {
        let value = json!({
            "example": {"$ref": "no"}, "default": {"$ref": "no"}, "const": {"$ref": "no"},
            "enum": [{"$ref": "no"}], "examples": [{"$ref": "no"}], "x-any": {"$ref": "no"},
            "properties": {
                "default": {"$ref": "1"}, "example": {"items": {"$ref": "2"}},
                "x-own": {"$ref": "3"}, "$ref": {"type": "string"},
                "properties": {"properties": {"enum": {"$ref": "4"}}},
            },
            "responses": {"default": {"$ref": "5"}},
            "allOf": [{"$ref": "6"}, {"$dynamicRef": "7"}],
            "parameters": [{"$ref": "8", "example": {"$ref": "no"}}],
            "anything": {"else": {"$ref": "9"}},
            "discriminator": {"mapping": {"$ref": "no"}},
            "$ref": 5,
        });
        assert_eq!(
            found(&value),
            [
                "/allOf/0 6",
                "/allOf/1 7",
                "/anything/else 9",
                "/parameters/0 8",
                "/properties/default 1",
                "/properties/example/items 2",
                "/properties/properties/properties/enum 4",
                "/properties/x-own 3",
                "/responses/default 5",
            ]
        );
    }

    #[test]
    fn identifiers_are_scopes() {
        let value = json!({"$id": "a", "$ref": "1", "items": {"$id": "b", "not": {"$ref": "2"}}});
        let scanned = scan(&value, &Pointer::root(), false);
        let scopes: Vec<_> = scanned.references.iter().map(|one| one.scope).collect();
        assert_eq!(scopes, [Some(0), Some(1)]);
        assert_eq!(scanned.ids[1].scope, Some(0));
        assert_eq!(scanned.ids[1].at.as_str(), "/items");
    }
}
