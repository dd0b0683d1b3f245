//! JSON below everything else: strict reading, the canonical form, pointers and kinds.
//!
//! Owns: reading bytes into [`serde_json::Value`] under a depth limit with repeated keys reported and
//! every number kept digit for digit; the canonical text that versions and revisions are hashed over;
//! RFC 6901 pointers; the names of JSON kinds used in messages. Must never know what a document means.

mod canonical;
mod parse;
mod pointer;

pub use canonical::{canonical, canonical_len, hex, sha256_hex};
pub use parse::{JsonError, Parsed, parse, parse_at_most, stored, stored_map, stored_option};
pub use pointer::{Pointer, escape_token};

use serde_json::Value;

/// The JSON kind of a value as messages to agents name it.
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
