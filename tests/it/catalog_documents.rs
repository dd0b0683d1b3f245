//! Every published schema of every document that is kept for tests, or named by `SEZZLEE_DOCUMENTS`.
//!
//! Adding a document: put it under `tests/fixtures/documents`, compressed with zstd (`name.json.zst`,
//! `name.yaml.zst`). With `SEZZLEE_DOCUMENTS` set to a directory, its documents are checked as well.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sezzlee::catalog::{DiagnosticCode, Operation, ReadOptions, Report, read};
use sezzlee::json::canonical;

use crate::catalog::Memory;

/// The default limit of a definition, and what an answer holds.
const DEFINITION_BYTES: usize = 65_536;
const LOADABLE_BYTES: usize = 256_000;

/// A document: its name, which says what it is, and its text.
type Document = (String, Vec<u8>);

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn below(directory: &Path, into: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return;
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            below(&path, into);
        } else {
            into.push(path);
        }
    }
}

fn documents() -> Vec<Document> {
    let mut paths = vec![root().join("examples/shop/openapi.yaml")];
    below(&root().join("tests/fixtures/documents"), &mut paths);
    if let Some(directory) = std::env::var_os("SEZZLEE_DOCUMENTS") {
        below(Path::new(&directory), &mut paths);
    }
    let mut found = Vec::new();
    for path in paths {
        let bytes = std::fs::read(&path).unwrap();
        let name = path.to_string_lossy().into_owned();
        let (name, bytes) = match name.strip_suffix(".zst") {
            Some(inner) => (inner.to_owned(), zstd::decode_all(&bytes[..]).unwrap()),
            None => (name, bytes),
        };
        let is_document = [".json", ".yaml", ".yml"]
            .iter()
            .any(|end| name.ends_with(end));
        if is_document {
            found.push((name, bytes));
        }
    }
    let mut cases = Vec::new();
    below(&root().join("tests/cases"), &mut cases);
    for path in cases {
        let case = std::fs::read(&path).unwrap();
        let case = sezzlee::json::parse(&case, 200).unwrap().value;
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if let Some(yaml) = case["input"].get("openapi_yaml").and_then(Value::as_str) {
            found.push((format!("{name}.yaml"), yaml.as_bytes().to_vec()));
        } else if let Some(document) = case["input"].get("openapi") {
            found.push((format!("{name}.json"), document.to_string().into_bytes()));
        }
    }
    found.extend(synthesized());
    found
}

/// What documents of people seldom hold: every keyword, webs that must be cut at every depth, odd names.
fn synthesized() -> Vec<Document> {
    let to = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    let text = "what it is for, and what to mind when it is used".repeat(8);
    let mut schemas = serde_json::Map::new();
    for layer in 0..9 {
        for place in 0..6 {
            let mut members = serde_json::Map::new();
            for next in 0..6 {
                let member = match next % 3 {
                    0 => to(&format!("L{}x{next}", layer + 1)),
                    1 => json!({"type": "array", "items": to(&format!("L{}x{next}", layer + 1))}),
                    _ => {
                        json!({"oneOf": [to(&format!("L{}x{next}", layer + 1)), {"type": "null"}]})
                    }
                };
                members.insert(format!("m{next}"), member);
            }
            let schema = json!({"type": "object", "description": text, "properties": members,
                "required": ["m0"], "example": {"m0": {"m0": text}}});
            schemas.insert(format!("L{layer}x{place}"), schema);
        }
    }
    for place in 0..6 {
        schemas.insert(
            format!("L9x{place}"),
            json!({"type": "string", "description": text}),
        );
    }
    schemas.insert("Odd näme/~".into(), to("Every"));
    schemas.insert(
        "Every".into(),
        json!({
            "type": ["object", "null"], "title": "t", "description": "d", "deprecated": true, "example": {"$ref": "x"},
            "properties": {"self": to("Odd näme~1~0"), "r": {"readOnly": true}, "w": {"writeOnly": true}, "b": true},
            "required": ["self", "r", "w"], "patternProperties": {"^x\\_": {"const": {"$ref": "y"}}, "(?i)z": {}},
            "additionalProperties": {"not": to("L8x1")}, "propertyNames": {"pattern": "^[a-z\\-]+$"},
            "if": to("L8x0"), "then": {"minProperties": 1}, "else": {"maxProperties": 5},
            "dependentRequired": {"a": ["b"]}, "dependentSchemas": {"a": to("L9x1")},
            "allOf": [{"unevaluatedProperties": false, "anyOf": [to("L8x2"), {}]}],
            "xml": {}, "externalDocs": {}, "discriminator": {"propertyName": "b"}, "x-own": 1,
            "$comment": "c", "default": {}, "enum": [{}, null],
        }),
    );
    let content = |schema: Value| json!({"content": {"application/json": {"schema": schema}}});
    let mut paths = serde_json::Map::new();
    for layer in 0..9 {
        let schema = to(&format!("L{layer}x0"));
        let operation = json!({
            "parameters": [{"name": "f", "in": "query", "content": {"application/json": {"schema": to("Odd näme~1~0")}}}],
            "requestBody": content(schema.clone()), "responses": {"200": content(json!({"type": "array", "items": schema}))},
        });
        paths.insert(format!("/l{layer}"), json!({"put": operation}));
    }
    let body = json!({"type": "object", "properties": {"a": to("Every"), "id": {"readOnly": true}}, "additionalProperties": true});
    paths.insert(
        "/open".into(),
        json!({"post": {"requestBody": content(body), "responses": {"200": content(to("Every"))}}}),
    );
    let document = json!({"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "servers": [{"url": "https://h.test"}],
        "paths": paths, "components": {"schemas": schemas}});
    let mut older = document.clone();
    older["openapi"] = json!("3.0.3");
    [("synthesized.json", document), ("older.json", older)]
        .map(|(name, document)| (name.to_owned(), document.to_string().into_bytes()))
        .into()
}

fn read_document(document: &Document) -> (Vec<Operation>, Report) {
    let (name, bytes) = document;
    let loader = Memory([(name.clone(), bytes.clone())].into());
    let mut operations = Vec::new();
    let report = read(
        std::slice::from_ref(name),
        &ReadOptions::default(),
        &loader,
        &mut operations,
    )
    .unwrap();
    (operations, report)
}

/// Every schema within a schema, itself included: an example may hold what only looks like one.
fn schemas<'s>(schema: &'s Value, into: &mut Vec<&'s serde_json::Map<String, Value>>) {
    let Value::Object(map) = schema else { return };
    into.push(map);
    for (keyword, value) in map {
        match (keyword.as_str(), value) {
            ("default" | "const" | "enum" | "examples" | "dependentRequired", _) => {}
            (
                "properties" | "patternProperties" | "dependentSchemas" | "$defs",
                Value::Object(all),
            ) => all.values().for_each(|one| schemas(one, into)),
            (_, Value::Array(all)) => all.iter().for_each(|one| schemas(one, into)),
            (_, one) => schemas(one, into),
        }
    }
}

fn references(schema: &Value) -> BTreeSet<&str> {
    let mut all = Vec::new();
    schemas(schema, &mut all);
    all.iter()
        .filter_map(|map| map.get("$ref").map(|to| to.as_str().unwrap()))
        .collect()
}

/// What is wrong with a published schema; empty when nothing is.
fn faults(schema: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    if let Err(error) = jsonschema::draft202012::meta::validate(schema) {
        faults.push(format!("no schema of 2020-12: {error}"));
    }
    if schema["type"] != "object" {
        faults.push("the root is no object".to_owned());
    }
    for to in references(schema) {
        let place = to.strip_prefix('#').unwrap_or("outside");
        if schema.pointer(place).is_none() {
            faults.push(format!("{to} leads nowhere"));
        }
    }
    // A definition is used when the root leads to it, not when only itself does.
    let none = serde_json::Map::new();
    let definitions = schema["$defs"].as_object().unwrap_or(&none);
    let mut root = schema.clone();
    root.as_object_mut().unwrap().shift_remove("$defs");
    let mut used: HashSet<String> = HashSet::new();
    let mut open: Vec<String> = references(&root).into_iter().map(str::to_owned).collect();
    while let Some(to) = open.pop() {
        let name = to.trim_start_matches("#/$defs/").to_owned();
        if let Some(target) = definitions.get(&name)
            && used.insert(name)
        {
            open.extend(references(target).into_iter().map(str::to_owned));
        }
    }
    for name in definitions.keys().filter(|&name| !used.contains(name)) {
        faults.push(format!("nothing leads to {name}"));
    }
    let mut all = Vec::new();
    schemas(schema, &mut all);
    let foreign = [
        "nullable",
        "example",
        "discriminator",
        "xml",
        "externalDocs",
    ];
    for map in all {
        for &name in foreign.iter().filter(|&&name| map.contains_key(name)) {
            faults.push(format!("{name} is no keyword"));
        }
        if map.keys().any(|name| name.starts_with("x-")) {
            faults.push("an extension is left".to_owned());
        }
    }
    if let Err(error) = jsonschema::draft202012::new(schema) {
        faults.push(format!("no validator can be made: {error}"));
    }
    faults
}

#[test]
fn every_published_schema_of_every_document_is_valid_whole_and_of_bounded_size() {
    let mut operations_checked = 0;
    let mut wrong: Vec<String> = Vec::new();
    for document in documents() {
        let (operations, report) = read_document(&document);
        operations_checked += operations.len();
        let reduced: HashSet<&str> = report
            .diagnostics
            .iter()
            .filter(|one| one.code == DiagnosticCode::SchemaReduced)
            .map(|one| one.at.as_str())
            .collect();
        let mut larger = 0;
        for operation in &operations {
            let definition = &operation.definition;
            let output = definition.output_schema.as_ref();
            for schema in [Some(&definition.input_schema), output]
                .into_iter()
                .flatten()
            {
                for fault in faults(schema) {
                    wrong.push(format!("{} {}: {fault}", document.0, definition.name));
                }
            }
            let bytes = canonical(&Value::Object(definition.to_object())).len();
            larger += usize::from(bytes > DEFINITION_BYTES);
            if bytes > LOADABLE_BYTES {
                wrong.push(format!("{} {}: {bytes} bytes", document.0, definition.name));
            }
        }
        if larger > reduced.len() {
            wrong.push(format!(
                "{}: {larger} large definitions, {} reported",
                document.0,
                reduced.len()
            ));
        }
        let counts = report.counts;
        if counts.selected != counts.published + counts.dropped
            || counts.published != operations.len() as u64
        {
            wrong.push(format!("{}: {counts:?}", document.0));
        }
    }
    assert!(
        operations_checked >= 40,
        "only {operations_checked} operations"
    );
    assert!(
        wrong.is_empty(),
        "{} faults: {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(30)]
    );
}

#[test]
fn two_readings_give_the_same_bytes() {
    for document in documents() {
        let text = |operations: &[Operation]| -> Vec<String> {
            operations
                .iter()
                .map(|one| serde_json::to_string(&one.definition).unwrap())
                .collect()
        };
        let (first, second) = (read_document(&document), read_document(&document));
        assert_eq!(text(&first.0), text(&second.0), "{}", document.0);
        assert_eq!(first.1.diagnostics, second.1.diagnostics, "{}", document.0);
    }
}

/// The checks above can fail.
#[test]
fn faults_are_seen() {
    for (schema, want) in [
        (json!({"type": "object", "minLength": -1}), "2020-12"),
        (json!({"type": "array"}), "no object"),
        (
            json!({"type": "object", "items": {"$ref": "#/$defs/A"}}),
            "leads nowhere",
        ),
        (
            json!({"type": "object", "$defs": {"A": {"$ref": "#/$defs/A"}}}),
            "leads to A",
        ),
        (
            json!({"type": "object", "properties": {"a": {"nullable": true}}}),
            "nullable",
        ),
        (json!({"type": "object", "pattern": "("}), "validator"),
        (json!({"type": "object", "x-a": 1}), "extension"),
    ] {
        let found = faults(&schema);
        assert!(
            found.iter().any(|one| one.contains(want)),
            "{schema}: {found:?}"
        );
    }
    let fine = json!({"type": "object", "properties": {"nullable": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"enum": [{"xml": 1}]}}});
    assert!(faults(&fine).is_empty(), "{:?}", faults(&fine));
}
