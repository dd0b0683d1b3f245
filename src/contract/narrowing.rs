//! Which arguments of a tool would make its answer smaller.

use serde_json::Value;

use crate::text::tokens;

/// Arguments that say how much: named first.
const CARDINALITY: [&str; 8] = [
    "limit", "top", "take", "max", "count", "size", "page", "per",
];

/// Arguments that say which.
const SELECTION: [&str; 14] = [
    "offset", "skip", "cursor", "after", "before", "filter", "query", "search", "field", "select",
    "since", "from", "until", "status",
];

/// A refusal names at most this many arguments.
const FIELDS_MAX: usize = 8;

/// What a refusal says of an argument that has no published description.
pub(super) const FIXED_SENTENCE: &str = "Narrows what the call returns.";

/// The root properties that narrow a call, with their published descriptions: those whose tokens meet the
/// words of cardinality in schema order, then those of selection, at most eight.
pub fn narrowing_arguments(input_schema: &Value) -> Vec<(String, Option<String>)> {
    let Some(Value::Object(properties)) = input_schema.get("properties") else {
        return Vec::new();
    };
    let words =
        |list: &[&str]| -> Vec<String> { list.iter().flat_map(|word| tokens(word)).collect() };
    let cardinality = words(&CARDINALITY);
    let selection = words(&SELECTION);
    let mut first = Vec::new();
    let mut second = Vec::new();
    for (name, property) in properties {
        let own = tokens(name);
        let meets = |set: &[String]| own.iter().any(|token| set.contains(token));
        let list = if meets(&cardinality) {
            &mut first
        } else if meets(&selection) {
            &mut second
        } else {
            continue;
        };
        let description = property.get("description").and_then(Value::as_str);
        list.push((name.clone(), description.map(str::to_owned)));
    }
    first.extend(second);
    first.truncate(FIELDS_MAX);
    first
}
