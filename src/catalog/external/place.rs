//! The text of a reference and the place it names in a value.
//!
//! Owns: locations, fragments, and whether a place is one that is looked at. Must never know a file.

use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::scan::Kind;
use crate::json::Pointer;

/// A reference before its `#`.
pub(super) fn location(text: &str) -> &str {
    text.split_once('#').map_or(text, |(location, _)| location)
}

/// A reference after its `#`.
pub(super) fn fragment(text: &str) -> &str {
    text.split_once('#').map_or("", |(_, fragment)| fragment)
}

/// A fragment as a pointer, when it is one.
pub(super) fn decoded(fragment: &str) -> Option<Pointer> {
    Pointer::from_text(&percent_decode_str(fragment).decode_utf8_lossy())
}

/// A pointer as a fragment.
pub(super) fn encoded(at: &Pointer) -> String {
    at.as_str().replace('%', "%25")
}

pub(super) fn pointed<'v>(value: &'v Value, at: &Pointer) -> Option<&'v Value> {
    value.pointer(at.as_str())
}

pub(super) fn pointed_mut<'v>(value: &'v mut Value, at: &Pointer) -> Option<&'v mut Value> {
    value.pointer_mut(at.as_str())
}

/// Whether a place is one that is looked at from the root on, or is not there at all.
pub(super) fn is_part(root: &Value, at: &Pointer) -> bool {
    let (mut value, mut kind) = (root, Kind::Part);
    for token in at.tokens() {
        let next = match value {
            Value::Object(map) => map
                .get(&token)
                .map(|next| (next, kind.member(&token, next))),
            Value::Array(items) => token
                .parse::<usize>()
                .ok()
                .and_then(|index| Some((items.get(index)?, kind.item()))),
            _ => None,
        };
        let Some(next) = next else { return true };
        (value, kind) = next;
    }
    kind != Kind::Data
}
