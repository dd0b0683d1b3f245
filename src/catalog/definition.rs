//! The tool definition: all an agent may read of an operation, and the version that pins it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::json::{self, canonical, sha256_hex};

/// Digits of the SHA-256 that make a version.
const VERSION_DIGITS: usize = 16;

/// The hints a tool can have.
pub const HINTS: [&str; 4] = [
    "readOnlyHint",
    "destructiveHint",
    "idempotentHint",
    "openWorldHint",
];

/// What an agent may read of an operation.
///
/// Policies, scopes, credentials and routes are no part of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// The tool's name, unique in the catalogue.
    pub name: String,
    /// The whole description; the card shows a cut of it.
    pub description: String,
    /// The published input schema: a flat object whose properties are the arguments.
    #[serde(deserialize_with = "json::stored")]
    pub input_schema: Value,
    /// What the call returns, where the operation declares a success body.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "json::stored_option"
    )]
    pub output_schema: Option<Value>,
    /// The hints that apply.
    #[serde(default)]
    pub annotations: Annotations,
    /// Whether the operation is declared deprecated.
    #[serde(default)]
    pub deprecated: bool,
}

/// Hints in wire spelling (`readOnlyHint`, …), only those that apply; an ordered JSON object.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Annotations(#[serde(deserialize_with = "json::stored_map")] pub Map<String, Value>);

impl Annotations {
    /// The hints that hold of an HTTP method (ingestion.md, "Annotations").
    pub fn of_method(method: &str) -> Self {
        let hints: &[&str] = match method.to_ascii_uppercase().as_str() {
            "GET" | "HEAD" | "OPTIONS" | "QUERY" => &["readOnlyHint", "idempotentHint"],
            "PUT" => &["idempotentHint"],
            "DELETE" => &["destructiveHint", "idempotentHint"],
            _ => &[],
        };
        Self(
            hints
                .iter()
                .map(|&hint| (hint.to_owned(), Value::Bool(true)))
                .collect(),
        )
    }

    /// Whether a hint is given and true.
    pub fn holds(&self, hint: &str) -> bool {
        self.0.get(hint) == Some(&Value::Bool(true))
    }
}

impl Definition {
    /// The object `load_tool` answers, in member order, without `authUncertain` and `version`.
    pub fn to_object(&self) -> Map<String, Value> {
        let mut object = Map::new();
        object.insert("name".into(), json!(self.name));
        object.insert("description".into(), json!(self.description));
        object.insert("inputSchema".into(), self.input_schema.clone());
        if let Some(output) = &self.output_schema {
            object.insert("outputSchema".into(), output.clone());
        }
        object.insert(
            "annotations".into(),
            Value::Object(self.annotations.0.clone()),
        );
        if self.deprecated {
            object.insert("deprecated".into(), Value::Bool(true));
        }
        object
    }

    /// The version: the first 16 hex digits of the SHA-256 of the canonical JSON of [`Self::to_object`].
    pub fn version(&self) -> String {
        let text = canonical(&Value::Object(self.to_object()));
        let mut digits = sha256_hex(text.as_bytes());
        digits.truncate(VERSION_DIGITS);
        digits
    }
}
