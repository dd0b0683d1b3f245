//! Schemas of every version, as JSON or made at random: what is published is valid JSON Schema 2020-12,
//! needs nothing outside itself, and comes out the same twice.
#![no_main]

mod support;

use arbitrary::Unstructured;
use libfuzzer_sys::{Corpus, fuzz_target};
use serde_json::{Value, json};
use support::{random, read_checked};

/// Deeper schemas are the other targets' business.
const LEVELS: usize = 6;

const VERSIONS: [&str; 3] = ["3.0.3", "3.1.0", "3.2.0"];

fuzz_target!(|bytes: &[u8]| -> Corpus {
    let Some((&version, rest)) = bytes.split_first() else {
        return Corpus::Reject;
    };
    let schemas = match serde_json::from_slice::<Value>(rest) {
        Ok(schema) => [schema.clone(), schema, json!({"type": "string"})],
        Err(_) => {
            let mut u = Unstructured::new(rest);
            let mut schema = || random::schema(&mut u, LEVELS).unwrap_or_default();
            [schema(), schema(), schema()]
        }
    };
    let document = document(version, schemas);
    let (operations, report) = read_checked(&[("d.json", document.to_string().as_bytes())]);
    // One operation: it is there, or it is said why not.
    assert_eq!(report.counts.found, 1, "{report:?}");
    assert!(!operations.is_empty() || !report.diagnostics.is_empty());
    Corpus::Keep
});

fn document(version: u8, [a, b, c]: [Value; 3]) -> Value {
    let components = json!({"A": a, "B": b, "C": c, "A/b": {}});
    let used = json!({"$ref": "#/components/schemas/A"});
    match version % 4 {
        0 => json!({
            "swagger": "2.0", "host": "h.test", "definitions": components,
            "paths": {"/a": {"post": {
                "parameters": [{"name": "p", "in": "body", "schema": {"$ref": "#/definitions/A"}}],
                "responses": {"200": {"description": "", "schema": {"$ref": "#/definitions/B"}}},
            }}},
        }),
        other => json!({
            "openapi": VERSIONS[usize::from(other - 1)],
            "servers": [{"url": "https://h.test"}], "components": {"schemas": components},
            "paths": {"/a": {"post": {
                "parameters": [{"name": "a", "in": "query", "schema": b}],
                "requestBody": {"content": {"application/json": {"schema": used}}},
                "responses": {"200": {"description": "", "content": {"application/json": {"schema": a}}}},
            }}},
        }),
    }
}
