//! Documents made of references: right ones, wrong ones, and cycles of every kind. Every operation is published
//! or dropped with a reason, and reading ends.
#![no_main]

mod support;

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::{Corpus, fuzz_target};
use serde_json::{Map, Value, json};
use support::{random, read_checked};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    let Ok(document) = document(&mut Unstructured::new(bytes)) else {
        return Corpus::Reject;
    };
    let (operations, report) = read_checked(&[("d.json", document.to_string().as_bytes())]);
    assert!(!operations.is_empty() || !report.diagnostics.is_empty());
    Corpus::Keep
});

fn document(u: &mut Unstructured<'_>) -> Result<Value> {
    let mut components = Map::new();
    for (kind, make) in KINDS {
        let mut named = Map::new();
        for name in ["A", "B", "C"] {
            named.insert(name.to_owned(), referred(u, *make)?);
        }
        components.insert((*kind).to_owned(), Value::Object(named));
    }
    let mut paths = Map::new();
    for route in ["/a", "/a/{a}", "/b"] {
        paths.insert(route.to_owned(), referred(u, item)?);
    }
    let version = random::one(u, &["3.0.3", "3.1.0", "3.2.0"])?;
    Ok(json!({
        "openapi": version, "servers": [{"url": "https://h.test"}],
        "components": components, "paths": paths,
    }))
}

type Make = fn(&mut Unstructured<'_>) -> Result<Value>;

const KINDS: &[(&str, Make)] = &[
    ("schemas", |u| random::schema(u, 4)),
    ("parameters", parameter),
    ("requestBodies", body),
    ("responses", response),
    ("pathItems", item),
];

/// The thing itself, or a reference to it, to another of its kind, or to something else.
fn referred(u: &mut Unstructured<'_>, make: Make) -> Result<Value> {
    if u.ratio(1, 2)? {
        let mut map = Map::new();
        map.insert("$ref".to_owned(), json!(random::one(u, random::TARGETS)?));
        if u.ratio(1, 4)? {
            map.insert("description".to_owned(), json!("beside"));
        }
        return Ok(Value::Object(map));
    }
    make(u)
}

fn parameter(u: &mut Unstructured<'_>) -> Result<Value> {
    let name = random::one(u, &["a", "b", "Host", ""])?;
    let place = random::one(u, &["path", "query", "header", "cookie", "body"])?;
    let schema = referred(u, |u| random::schema(u, 3))?;
    Ok(json!({"name": name, "in": place, "required": u.arbitrary::<bool>()?, "schema": schema}))
}

fn body(u: &mut Unstructured<'_>) -> Result<Value> {
    Ok(json!({"content": content(u)?, "required": u.arbitrary::<bool>()?}))
}

fn response(u: &mut Unstructured<'_>) -> Result<Value> {
    Ok(json!({"description": "", "content": content(u)?}))
}

fn content(u: &mut Unstructured<'_>) -> Result<Value> {
    let media = random::one(
        u,
        &[
            "application/json",
            "application/xml",
            "*/*",
            "multipart/form-data",
            "application/x-www-form-urlencoded",
            "text/plain",
            "application/octet-stream",
        ],
    )?;
    let schema = referred(u, |u| random::schema(u, 3))?;
    Ok(json!({media: {"schema": schema}}))
}

fn item(u: &mut Unstructured<'_>) -> Result<Value> {
    let mut map = Map::new();
    map.insert(
        "parameters".to_owned(),
        json!(random::list(u, |u| referred(u, parameter))?),
    );
    for method in ["get", "post"] {
        if u.arbitrary()? {
            map.insert(method.to_owned(), referred(u, operation)?);
        }
    }
    Ok(Value::Object(map))
}

fn operation(u: &mut Unstructured<'_>) -> Result<Value> {
    Ok(json!({
        "operationId": random::one(u, &["a", "b", "getThing", ""])?,
        "parameters": random::list(u, |u| referred(u, parameter))?,
        "requestBody": referred(u, body)?,
        "responses": {"200": referred(u, response)?, "default": referred(u, response)?},
    }))
}
