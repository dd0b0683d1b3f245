//! The style deepObject beyond its first level.
//!
//! OpenAPI defines `name[key]=value` and nothing deeper. What is written here is the form that the readers of
//! nested queries share (and that documents with nested schemas mean): `name[key][key]=value`, the items of a
//! list of plain values under `name[key][]`, and where a list holds objects or lists, its items under
//! `name[key][0]`, `name[key][1]`, because `[]` could not tell where one ends.

use std::borrow::Cow;

use serde_json::Value;

use super::value;

/// How deep a value may be nested: the deepest that documents declare is six, and readers stop somewhere.
const LEVELS_MAX: usize = 16;

pub(super) const EMPTY: &str =
    "cannot be empty: an empty list or object has no form here; leave it out";

/// What a walk meets, in order.
#[derive(Debug)]
pub(super) enum Met<'a> {
    /// A bracketed name made of an object's key, whatever stands below it.
    Key(&'a str),
    /// The bracketed name of the items of a list, which may stand several times.
    Item(&'a str),
    /// A name with its value.
    Pair(&'a str, Cow<'a, str>),
}

/// Walks a list or an object; an error says what is wrong with the value.
pub(super) fn walk(
    name: &str,
    value: &Value,
    visit: &mut impl FnMut(Met<'_>) -> Result<(), &'static str>,
) -> Result<(), &'static str> {
    step(name, value, LEVELS_MAX, visit)
}

fn step(
    prefix: &str,
    value: &Value,
    levels_left: usize,
    visit: &mut impl FnMut(Met<'_>) -> Result<(), &'static str>,
) -> Result<(), &'static str> {
    if let Some(text) = value::plain(value) {
        return visit(Met::Pair(prefix, text));
    }
    let levels_left = levels_left
        .checked_sub(1)
        .ok_or("is nested too deeply to be written here")?;
    match value {
        Value::Object(members) if members.is_empty() => Err(EMPTY),
        Value::Array(items) if items.is_empty() => Err(EMPTY),
        Value::Object(members) => {
            for (key, member) in members {
                if key.is_empty() || key.contains(['[', ']']) {
                    return Err(
                        "has a key that is empty or holds a bracket; the backend would read another key",
                    );
                }
                let name = format!("{prefix}[{key}]");
                visit(Met::Key(&name))?;
                step(&name, member, levels_left, visit)?;
            }
            Ok(())
        }
        Value::Array(items) => {
            let is_flat = items.iter().all(|item| value::plain(item).is_some());
            for (index, item) in items.iter().enumerate() {
                let name = if is_flat {
                    format!("{prefix}[]")
                } else {
                    format!("{prefix}[{index}]")
                };
                if index == 0 || !is_flat {
                    visit(Met::Item(&name))?;
                }
                step(&name, item, levels_left, visit)?;
            }
            Ok(())
        }
        _ => Err("holds null, which has no form here; leave it out"),
    }
}
