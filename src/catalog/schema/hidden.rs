//! Members that belong to the other direction: `readOnly` ones are no arguments, `writeOnly` ones no answers.
//!
//! Owns: finding them, through references and `allOf`. Must never change a schema.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::Direction;
use crate::catalog::document::{Document, Target, flag};
use crate::json::Pointer;

/// At most this many schemas of an `allOf` web are looked at for members of the other direction.
const CLOSURE_MAX: usize = 200;

/// At most this many members of such a web are looked at.
const CLOSURE_MEMBERS_MAX: usize = 5_000;

/// Whether a member of an object belongs to the other direction: itself, or what it refers to, says so.
pub(super) fn is_hidden(
    document: &Document,
    direction: Direction,
    member: &Value,
    at: &Pointer,
) -> bool {
    let name = match direction {
        Direction::Input => "readOnly",
        Direction::Output => "writeOnly",
    };
    let Value::Object(map) = member else {
        return false;
    };
    flag(map, name)
        || (map.contains_key("$ref")
            && document
                .resolve(member, at)
                .is_ok_and(|target| target.value.get(name) == Some(&Value::Bool(true))))
}

/// Adds the names that a schema and all it consists of leave out.
pub(super) fn collect(
    document: &Document,
    direction: Direction,
    map: &Map<String, Value>,
    names: &mut HashSet<String>,
) {
    let nowhere = Pointer::root();
    let mut open = vec![map];
    let (mut schemas, mut looked_at) = (0, 0);
    while let Some(map) = open.pop() {
        schemas += 1;
        if schemas > CLOSURE_MAX || looked_at > CLOSURE_MEMBERS_MAX {
            return;
        }
        if let Some(Value::Object(members)) = map.get("properties") {
            looked_at += members.len();
            for (name, member) in members {
                if is_hidden(document, direction, member, &nowhere) {
                    names.insert(name.clone());
                }
            }
        }
        for part in map
            .get("allOf")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            if let Ok(Target {
                value: Value::Object(part),
                ..
            }) = document.resolve(part, &nowhere)
            {
                open.push(part);
            }
        }
    }
}
