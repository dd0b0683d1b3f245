//! Documents made to break a reader: nothing panics, hangs, or costs its neighbours.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use sezzlee::catalog::{Card, DefinitionSize, Operation, ReadOptions};

use crate::catalog::{Outcome, openapi, read_one, read_sources};
use crate::catalog_schemas::check_published;

#[track_caller]
fn check(read: &Outcome) {
    for operation in &read.operations {
        check_published(operation);
        assert!(levels(&operation.definition.input_schema) < 110);
        let _ = Card::of(&operation.definition);
        assert_eq!(operation.definition.version().len(), 16);
        let text = serde_json::to_string(operation).unwrap();
        let back: sezzlee::catalog::Operation = serde_json::from_str(&text).unwrap();
        assert_eq!(back, *operation);
    }
}

fn levels(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(levels).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(levels).max().unwrap_or(0),
        _ => 0,
    }
}

/// `open` and `close` repeated around a value, as text: building it as a value would need the stack that the
/// reader is tested for.
fn nested(open: &str, close: &str, times: usize, inner: &str) -> String {
    format!("{}{inner}{}", open.repeat(times), close.repeat(times))
}

fn with_schema(schema: &str) -> String {
    format!(
        r#"{{"openapi":"3.0.0","paths":{{"/a":{{"post":{{"requestBody":{{"content":{{"application/json":{{"schema":{schema}}}}}}},"responses":{{"200":{{"content":{{"application/json":{{"schema":{schema}}}}}}}}}}}}}}}}}"#
    )
}

#[test]
fn a_thousand_levels_are_read_converted_and_dropped() {
    for (open, close, times) in [
        (r#"{"items":"#, "}", 980),
        (
            r#"{"type":"object","nullable":true,"properties":{"a":"#,
            "}}",
            490,
        ),
        (r#"{"allOf":["#, "]}", 490),
        (r#"{"nullable":true,"oneOf":["#, "]}", 490),
        (r#"{"properties":{"a":{"not":"#, "}}}", 320),
        (r#"{"example":["#, "]}", 490),
    ] {
        let text = with_schema(&nested(open, close, times, r#"{"type":"string"}"#));
        let read = read_sources(&[("d.json", text.as_bytes())], &ReadOptions::default());
        assert_eq!(
            read.report.counts.published,
            1,
            "{open}: {:?}",
            read.findings()
        );
        check(&read);
    }
    let value = with_schema(&format!(
        r#"{{"type":"array","default":{}}}"#,
        nested("[", "]", 900, "1")
    ));
    let read = read_sources(&[("d.json", value.as_bytes())], &ReadOptions::default());
    assert!(
        read.findings()[0].starts_with("warning value_left_out"),
        "{:?}",
        read.findings()
    );
    check(&read);
}

#[test]
fn what_moved_under_defs_for_its_depth_still_validates() {
    let text = with_schema(&nested(
        r#"{"type":"array","minItems":1,"items":"#,
        "}",
        200,
        r#"{"type":"integer"}"#,
    ));
    let read = read_sources(&[("d.json", text.as_bytes())], &ReadOptions::default());
    let validator =
        jsonschema::draft202012::new(&read.operations[0].definition.input_schema).unwrap();
    let deep = nested("[", "]", 200, "7");
    let value = sezzlee::json::parse(format!(r#"{{"body":{deep}}}"#).as_bytes(), 300)
        .unwrap()
        .value;
    assert!(validator.is_valid(&value));
    let wrong = nested("[", "]", 200, "\"x\"");
    let value = sezzlee::json::parse(format!(r#"{{"body":{wrong}}}"#).as_bytes(), 300)
        .unwrap()
        .value;
    assert!(!validator.is_valid(&value));
}

fn with_bytes_max(definition_bytes_max: usize) -> ReadOptions {
    ReadOptions {
        size: DefinitionSize {
            definition_bytes_max,
            ..DefinitionSize::default()
        },
        ..ReadOptions::default()
    }
}

#[test]
fn a_web_of_schemas_takes_no_longer_than_its_size() {
    const SCHEMAS: usize = 60;
    let schemas: Map<String, Value> = (0..SCHEMAS)
        .map(|n| {
            let members: Map<String, Value> = (0..SCHEMAS)
                .map(|to| {
                    (
                        format!("m{to}"),
                        json!({"$ref": format!("#/components/schemas/S{to}")}),
                    )
                })
                .collect();
            (
                format!("S{n}"),
                json!({"type": "object", "properties": members}),
            )
        })
        .collect();
    let paths: Map<String, Value> = (0..SCHEMAS)
        .map(|n| {
            let schema = json!({"$ref": format!("#/components/schemas/S{n}")});
            (format!("/p{n}"), json!({"get": {"responses": {"200": {"content": {"application/json": {"schema": schema}}}}}}))
        })
        .collect();
    let mut document = openapi(&Value::Object(paths));
    document["components"] = json!({"schemas": schemas});
    let start = Instant::now();
    let reduced = read_one(&document);
    assert_eq!(reduced.operations.len(), SCHEMAS);
    let read = crate::catalog::read_with(&document, &with_bytes_max(DefinitionSize::BYTES_MAX));
    // Expanding instead of referring would take sixty to the power of sixty.
    assert!(start.elapsed() < Duration::from_mins(1));
    assert_eq!(read.operations.len(), SCHEMAS);
    let output = read.operations[0]
        .definition
        .output_schema
        .as_ref()
        .unwrap();
    assert_eq!(output["$defs"].as_object().unwrap().len(), SCHEMAS);
}

#[test]
fn long_lists_of_names_take_no_longer_than_their_length() {
    const NAMES: usize = 30_000;
    let start = Instant::now();
    let route: String = (0..1_000).map(|n| format!("/{{p{n}}}")).collect();
    let names: Vec<String> = (0..NAMES).map(|n| format!("n{n}")).collect();
    let properties: Map<String, Value> =
        names.iter().map(|name| (name.clone(), json!({}))).collect();
    let schema = json!({"type": "object", "properties": properties, "required": names});
    let parameters: Vec<Value> = (0..1_000)
        .map(|n| json!({"name": format!("p{n}"), "in": "path", "schema": {"type": "string"}}))
        .collect();
    let document = openapi(&json!({
        route.clone(): {"get": {}, "put": {"parameters": parameters}},
        "/body": {"post": {"requestBody": {"content": {"application/json": {"schema": schema}}}}},
    }));
    let entry = json!({"name": "n", "description": "d", "method": "POST", "route": route, "inputSchema": schema});
    let (document, entry) = (document.to_string(), entry.to_string());
    let read = read_sources(
        &[
            ("d.json", document.as_bytes()),
            ("c.jsonl", entry.as_bytes()),
        ],
        &with_bytes_max(DefinitionSize::BYTES_MAX),
    );
    assert_eq!(
        read.operations.len(),
        4,
        "{:?}",
        read.report.diagnostics.first()
    );
    assert!(start.elapsed() < Duration::from_mins(1));
}

#[test]
fn endless_names_and_lists_are_refused() {
    let long = "x".repeat(200_000);
    let parameters: Vec<Value> = (0..3_000)
        .map(|n| json!({"name": format!("p{n}"), "in": "query"}))
        .collect();
    let with = |route: &str| {
        openapi(
            &json!({route: {"get": {}}, "/b": {"get": {"parameters": parameters}}, "/c": {"get": {}}}),
        )
    };
    let read = read_one(&with(&format!("/{}", &long[..20_000])));
    assert_eq!(read.names(), ["get_c"]);
    assert_eq!(read.findings()[0], "dropped malformed /paths");
    assert_eq!(
        read.findings()[1],
        "dropped malformed /paths/~1b/get/parameters"
    );
    let read = read_one(&with(&format!("/{long}")));
    assert_eq!(read.findings(), ["dropped source_too_large "]);
    let open = format!("{{\"{}\":", &long[..100]);
    let text = format!(
        "{{\"openapi\":\"3.0.0\",\"x\":{}}}",
        nested(&open, "}", 400, "1")
    );
    let read = read_sources(&[("d.json", text.as_bytes())], &ReadOptions::default());
    assert_eq!(read.findings(), ["dropped source_too_large "]);
}

#[test]
fn a_schema_too_large_for_anyone_costs_its_operation() {
    let values: Vec<String> = (0..300_000).map(|n| format!("\"value {n}\"")).collect();
    let text = with_schema(&format!(r#"{{"enum":[{}]}}"#, values.join(",")));
    let read = read_sources(&[("d.json", text.as_bytes())], &ReadOptions::default());
    assert_eq!(read.report.counts.dropped, 1);
    assert!(
        read.findings()[0].starts_with("dropped definition_too_large"),
        "{:?}",
        read.findings()
    );
}

#[test]
fn aliases_of_yaml_cannot_multiply() {
    let mut text = "openapi: 3.0.0\nx0: &x0 [a, a, a, a, a, a, a, a, a, a]\n".to_owned();
    for level in 1..12 {
        let line = format!(
            "x{level}: &x{level} [{}]\n",
            vec![format!("*x{}", level - 1); 10].join(", ")
        );
        text.push_str(&line);
    }
    let start = Instant::now();
    let read = read_sources(&[("d.yaml", text.as_bytes())], &ReadOptions::default());
    assert!(
        read.findings()[0].starts_with("dropped source_too_large"),
        "{:?}",
        read.findings()
    );
    assert!(start.elapsed() < Duration::from_mins(1));
}

const KEYS: &[&str] = &[
    "$ref",
    "type",
    "properties",
    "items",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "required",
    "nullable",
    "enum",
    "default",
    "example",
    "examples",
    "format",
    "description",
    "minimum",
    "exclusiveMinimum",
    "additionalProperties",
    "readOnly",
    "writeOnly",
    "parameters",
    "requestBody",
    "responses",
    "content",
    "application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "image/png",
    "encoding",
    "contentType",
    "headers",
    "itemSchema",
    "consumes",
    "schema",
    "200",
    "default",
    "name",
    "in",
    "style",
    "explode",
    "a",
    "id",
    "get",
    "post",
    "put",
    "security",
    "servers",
    "url",
    "variables",
    "tags",
    "operationId",
    "x-sezzlee",
    "ignore",
    "hints",
    "const",
    "$recursiveRef",
    "patternProperties",
    "collectionFormat",
];

/// JSON whose keys are those that documents have, so that it goes deep into the reader.
fn shaped(depth: u32) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..100).prop_map(Value::from),
        prop::sample::select(vec![
            "string",
            "object",
            "array",
            "integer",
            "file",
            "query",
            "path",
            "header",
            "cookie",
            "body",
            "form",
            "deepObject",
            "application/json",
            "text/plain",
            "binary",
            "formData",
            "querystring",
            "a",
            "id",
            "#",
            "#/components/schemas/A",
            "#/components/schemas/B",
            "#/components/parameters/P",
            "#/paths/~1a~1{id}",
            "x.json#/a",
            "",
        ])
        .prop_map(Value::from),
    ];
    let keys = prop::sample::select(KEYS);
    leaf.prop_recursive(depth, 60, 6, move |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            4 => prop::collection::vec((keys.clone(), inner), 0..6)
                .prop_map(|members| members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192,
        ..ProptestConfig::default() })]

    #[test]
    fn any_value_is_read_or_refused(value in shaped(6), text in "\\PC{0,60}") {
        check(&read_one(&value));
        check(&read_sources(&[("d.yaml", text.as_bytes())], &ReadOptions::default()));
        check(&read_sources(&[("d.jsonl", text.as_bytes())], &ReadOptions::default()));
    }

    #[test]
    fn any_document_is_read_and_its_counts_add_up(
        version in prop::sample::select(vec!["2.0", "3.0.3", "3.1.0", "3.2.0"]),
        operations in prop::collection::vec(shaped(5), 1..4),
        schemas in (shaped(4), shaped(4)),
        parameter in shaped(2),
    ) {
        let member = if version == "2.0" { "swagger" } else { "openapi" };
        let paths: Map<String, Value> = operations
            .iter()
            .enumerate()
            .map(|(n, operation)| {
                let route = if n == 0 { "/a/{id}".to_owned() } else { format!("/p{n}") };
                (route, json!({"get": operation, "post": operation, "parameters": []}))
            })
            .collect();
        let document = json!({
            member: version, "paths": paths,
            "components": {"schemas": {"A": schemas.0, "B": schemas.1}, "parameters": {"P": parameter}},
            "definitions": {"A": schemas.0},
        });
        let read = read_one(&document);
        let counts = read.report.counts;
        prop_assert_eq!(counts.found, 2 * operations.len() as u64);
        check(&read);
        let again = read_one(&document);
        prop_assert_eq!(again.operations, read.operations);
        prop_assert_eq!(again.report.diagnostics, read.report.diagnostics);
    }

    #[test]
    fn any_schema_is_published_valid(schema in shaped(7)) {
        for version in ["3.0.3", "3.1.0"] {
            let document = json!({
                "openapi": version,
                "paths": {"/a": {"post": {
                    "requestBody": {"content": {"application/json": {"schema": schema}}},
                    "responses": {"200": {"content": {"application/json": {"schema": schema}}}},
                }}},
                "components": {"schemas": {"A": schema, "B": {"type": "object", "properties": {"a": schema}}}},
            });
            check(&read_one(&document));
        }
    }
}

/// A number's private key in the JSON library is a key like any other in documents, whatever language they
/// are in, and stays one in a generation.
#[test]
fn private_keys_of_the_json_library_survive_reading_and_storing() {
    for key in [
        "$serde_json::private::Number",
        "$serde_json::private::RawValue",
    ] {
        let schema = json!({"type": "object", "default": {key: "5"}, "properties": {key: {"type": "string"}}});
        let document = openapi(&json!({"/a": {"post": {
            "operationId": "a",
            "requestBody": {"content": {"application/json": {"schema": {
                "type": "object", "properties": {"x": schema, key: {"enum": [{key: "7"}]}},
            }}}},
        }}}));
        let json = document.to_string();
        let yaml = json.replacen('{', "{ # a flow mapping\n", 1);
        let line = json!({"name": "a", "description": "d", "inputSchema": {"properties": {
            "x": schema, key: {"enum": [{key: "7"}]},
        }}});
        let line = line.to_string();
        for (name, text) in [("a.json", &json), ("a.yaml", &yaml), ("a.jsonl", &line)] {
            let outcome = read_sources(&[(name, text.as_bytes())], &ReadOptions::default());
            let operation = outcome.named("a");
            let properties = &operation.definition.input_schema["properties"];
            assert_eq!(properties["x"]["default"][key], "5", "{name}");
            assert_eq!(properties["x"]["properties"][key]["type"], "string");
            assert_eq!(properties[key]["enum"][0][key], "7", "{name}");
            let stored = serde_json::to_vec(operation).unwrap();
            let again: Operation = serde_json::from_slice(&stored).unwrap();
            assert_eq!(again, *operation, "{name}");
        }
    }
}

/// Whatever a route looks like, an operation that is published can be called: every place has its argument,
/// and no parameter is sent twice.
#[test]
fn odd_routes_are_dropped_or_can_be_called() {
    use sezzlee::invoke::compose;

    let query = |name: &str| json!([{"name": name, "in": "query", "schema": {"type": "string"}}]);
    let cases = [
        ("/a/../b", json!([]), None),
        ("/%2e%2E/b", json!([]), None),
        ("/a/.", json!([]), None),
        ("/a/{}", json!([]), Some("/a/%7B%7D")),
        ("/a/{x}/{{y}}", json!([]), Some("/a/1/%7B1%7D")),
        ("/a/{x", json!([]), Some("/a/%7Bx")),
        ("/a/{x}#{y}", json!([]), Some("/a/1")),
        ("/a?k=v", query("k"), Some("/a?k=v")),
        ("/a?k=v", query("q"), Some("/a?k=v&q=1")),
        ("/a?k={k}", query("k"), Some("/a?k=1")),
        ("/a?k={k}&l={k}", query("k"), Some("/a?l=1&k=1")),
        ("/a?k={v}", json!([]), Some("/a?k=1")),
    ];
    for (route, parameters, want) in cases {
        let document = openapi(&json!({route: {"get": {"parameters": parameters}}}));
        let line = json!({"name": "a", "description": "d", "method": "GET", "route": route, "baseUrl": "https://h.test"});
        let line = line.to_string();
        let from_line = read_sources(&[("a.jsonl", line.as_bytes())], &ReadOptions::default());
        assert_eq!(from_line.operations.len(), usize::from(want.is_some()));
        let outcome = read_one(&document);
        let Some(want) = want else {
            assert_eq!(outcome.operations.len(), 0, "{route}");
            continue;
        };
        for operation in outcome.operations.iter().chain(&from_line.operations) {
            let template = operation.template.as_ref().unwrap();
            let arguments: Map<String, Value> = template
                .parameters
                .iter()
                .map(|one| (one.argument.clone(), json!("1")))
                .collect();
            let request = compose(template, &arguments).unwrap_or_else(|error| {
                panic!("{route} is published and cannot be called: {error:?}")
            });
            if outcome.operations.contains(operation) {
                let sent = request.target();
                assert!(sent.ends_with(want), "{route}: {sent}, not {want}");
            }
        }
    }
}
