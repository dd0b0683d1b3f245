//! The card: the compact form of a definition, computed once at build and shown by searches.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Definition;

/// A description over this many characters is cut.
const DESCRIPTION_CHARS_MAX: usize = 160;

/// A space before this character is too early to cut at.
const CUT_CHARS_MIN: usize = 80;

/// The compact result of a search, without what depends on the caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// The tool's name.
    pub name: String,
    /// The description, cut at a word near 160 characters.
    pub description: String,
    /// The input schema's root in one line.
    pub parameters: String,
    /// Whether the operation is deprecated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deprecated: bool,
}

impl Card {
    /// The card of a definition.
    pub fn of(definition: &Definition) -> Self {
        Self {
            name: definition.name.clone(),
            description: cut(&definition.description),
            parameters: parameters_line(&definition.input_schema),
            deprecated: definition.deprecated,
        }
    }
}

/// Keeps the first 160 characters, cut at the last space in them unless that lies before character 80.
fn cut(description: &str) -> String {
    let Some((end, _)) = description.char_indices().nth(DESCRIPTION_CHARS_MAX) else {
        return description.to_owned();
    };
    let kept = &description[..end];
    let kept = match kept.rfind(' ') {
        Some(space) if kept[..space].chars().count() >= CUT_CHARS_MIN => &kept[..space],
        _ => kept,
    };
    format!("{}…", kept.trim_end())
}

/// `name: type (required), …`; empty when the schema is not of the expected shape.
fn parameters_line(schema: &Value) -> String {
    let Some(Value::Object(properties)) = schema.get("properties") else {
        return String::new();
    };
    let required = required_names(schema);
    let mut line = String::new();
    for (name, property) in in_card_order(properties) {
        if !line.is_empty() {
            line.push_str(", ");
        }
        line.push_str(name);
        line.push_str(": ");
        line.push_str(type_of(property));
        if required.contains(&name.as_str()) {
            line.push_str(" (required)");
        }
    }
    line
}

/// The required names; none at all when `required` is not a list of strings.
fn required_names(schema: &Value) -> Vec<&str> {
    let Some(Value::Array(names)) = schema.get("required") else {
        return Vec::new();
    };
    names
        .iter()
        .map(Value::as_str)
        .collect::<Option<Vec<_>>>()
        .unwrap_or_default()
}

/// Integer-like keys first, ascending, then the rest in declaration order (the order of a JavaScript object).
fn in_card_order(properties: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut members: Vec<_> = properties.iter().collect();
    // The sort is stable: keys that are no integers keep their order behind the others.
    members.sort_by_key(|(name, _)| integer_key(name).map_or(u64::MAX, u64::from));
    members
}

/// An array index in the sense of ECMA-262: canonical decimal digits of 0 to 2^32 - 2.
fn integer_key(name: &str) -> Option<u32> {
    let index: u32 = name.parse().ok()?;
    (index < u32::MAX && index.to_string() == name).then_some(index)
}

fn type_of(property: &Value) -> &str {
    match property.get("type") {
        Some(Value::String(name)) => name,
        Some(Value::Array(names)) => names
            .iter()
            .filter_map(Value::as_str)
            .find(|&name| name != "null")
            .unwrap_or("any"),
        _ => "any",
    }
}
