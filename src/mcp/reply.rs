//! The bytes of an answer.
//!
//! Owns: writing JSON-RPC answers around text that is JSON already, so that a tool result is escaped once
//! and never read again. Must never decide what to answer.

use serde_json::Value;

use super::era::Era;
use super::{Id, Refusal};
use crate::contract::ToolResult;

/// A result of a method, written in the shape of its era.
pub(super) struct Reply<'a> {
    pub(super) era: Era,
    pub(super) id: &'a Id,
    /// The `serverInfo` object as JSON.
    pub(super) server_info: &'a str,
}

/// How long and for whom a result may be kept, in the stateless era.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cache {
    /// The method says nothing about it.
    Silent,
    /// Kept by this client alone (what is listed may depend on who asks), this many milliseconds.
    Private(u64),
}

impl Reply<'_> {
    /// The result whose members `write` appends, each followed by a comma.
    pub(super) fn result(&self, cache: Cache, write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut out = begin(self.id);
        out.extend_from_slice(b",\"result\":");
        object(&mut out, self.era, self.server_info, cache, write);
        out.push(b'}');
        out
    }

    /// The result that was written by [`object`] before.
    pub(super) fn written(&self, object: &[u8]) -> Vec<u8> {
        let id = self.id.as_json();
        let head = ["{\"jsonrpc\":\"2.0\",\"id\":", id, ",\"result\":"];
        let mut out = Vec::with_capacity(object.len() + id.len() + 64);
        push(&mut out, &head);
        out.extend_from_slice(object);
        out.push(b'}');
        out
    }

    /// The result of `tools/call`.
    pub(super) fn tool(&self, result: &ToolResult) -> Vec<u8> {
        self.result(Cache::Silent, |out| {
            // Escaping adds little to most texts; the rest is one more growth.
            out.reserve(result.text().len() + result.text().len() / 8);
            out.extend_from_slice(b"\"content\":[{\"type\":\"text\",\"text\":");
            push_string(out, result.text());
            out.extend_from_slice(b"}],");
            if result.is_error() {
                out.extend_from_slice(b"\"isError\":true,");
            }
        })
    }
}

/// The object of a result in the shape of its era, with the members `write` appends, each followed by a comma.
/// Nothing in it is of one request, so that it can be kept and sent again.
pub(super) fn object(
    out: &mut Vec<u8>,
    era: Era,
    server_info: &str,
    cache: Cache,
    write: impl FnOnce(&mut Vec<u8>),
) {
    out.push(b'{');
    if era == Era::Modern {
        out.extend_from_slice(b"\"resultType\":\"complete\",");
    }
    write(out);
    if era == Era::Modern {
        if let Cache::Private(ttl_ms) = cache {
            let hint = format!("\"ttlMs\":{ttl_ms},\"cacheScope\":\"private\",");
            out.extend_from_slice(hint.as_bytes());
        }
        push(
            out,
            &[
                "\"_meta\":{\"io.modelcontextprotocol/serverInfo\":",
                server_info,
                "},",
            ],
        );
    }
    if out.last() == Some(&b',') {
        out.pop();
    }
    out.push(b'}');
}

/// An error, under the id of its request where that is known.
pub(super) fn error(id: Option<&Id>, refusal: &Refusal) -> Vec<u8> {
    let mut out = match id {
        Some(id) => begin(id),
        None => b"{\"jsonrpc\":\"2.0\"".to_vec(),
    };
    let code = refusal.code().to_string();
    push(&mut out, &[",\"error\":{\"code\":", &code, ",\"message\":"]);
    push_string(&mut out, &refusal.to_string());
    if let Some(data) = refusal.data() {
        push(&mut out, &[",\"data\":", &data.to_string()]);
    }
    out.extend_from_slice(b"}}");
    out
}

/// `"name":` and a string, followed by a comma.
pub(super) fn push_member(out: &mut Vec<u8>, name: &str, text: &str) {
    push(out, &["\"", name, "\":"]);
    push_string(out, text);
    out.push(b',');
}

/// Appends JSON text as it is.
pub(super) fn push(out: &mut Vec<u8>, parts: &[&str]) {
    for part in parts {
        out.extend_from_slice(part.as_bytes());
    }
}

/// Appends a text as a JSON string.
pub(super) fn push_string(out: &mut Vec<u8>, text: &str) {
    // A str is always representable and a Vec takes every byte: there is no error to handle.
    let _ = serde_json::to_writer(out, text);
}

/// The `serverInfo` object.
pub(super) fn server_info(name: &str, version: &str) -> String {
    serde_json::json!({"name": name, "version": version}).to_string()
}

/// A list of strings as JSON.
pub(super) fn strings(list: &[&str]) -> String {
    Value::from(list.to_vec()).to_string()
}

fn begin(id: &Id) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    push(&mut out, &["{\"jsonrpc\":\"2.0\",\"id\":", id.as_json()]);
    out
}
