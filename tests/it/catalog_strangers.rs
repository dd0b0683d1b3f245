//! Documents of careless and of hostile authors, read and called: what cannot be sent is no tool, names that
//! backends read as the transport's are no arguments, and long chains cost no more than short ones.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use sezzlee::catalog::{BodyShape, ReadOptions};
use sezzlee::invoke::compose;

use crate::catalog::{openapi, read_one, read_sources};

/// The names of the arguments of the operation `a`.
fn arguments(document: &Value) -> Vec<String> {
    let read = read_one(document);
    let schema = &read.named("a").definition.input_schema;
    let properties = schema["properties"].as_object();
    properties
        .into_iter()
        .flat_map(Map::keys)
        .cloned()
        .collect()
}

/// A media type that no header can carry is never chosen: another one is, or the operation is dropped.
#[test]
fn media_types_that_cannot_be_sent_are_not_offered() {
    let schema = json!({"schema": {"type": "object", "properties": {"a": {"type": "string"}}}});
    for bad in [
        "application/json; a=\r\nX-Other: 1",
        "application/vnd.\u{0}+json",
        "application/vnd.\u{fc}+json",
        "text/plain\r\nX-Other: 1",
        "x/y\nX-Other: 1",
        "application/json, text/html",
        "multi part/form-data",
    ] {
        let offer = |content: Value| {
            let body = json!({"operationId": "a", "requestBody": {"content": content}});
            read_one(&openapi(&json!({"/a": {"post": body}})))
        };
        let read = offer(json!({bad: schema}));
        let want = ["dropped unsupported_media_type /paths/~1a/post/requestBody/content"];
        assert_eq!(read.findings()[..1], want, "{bad:?}");
        assert_eq!(read.report.counts.dropped, 1);
        let read = offer(json!({bad: schema, "text/csv": {}}));
        let body = read
            .named("a")
            .template
            .as_ref()
            .and_then(|one| one.body.as_ref());
        assert_eq!(body.map(|one| one.media_type.as_str()), Some("text/csv"));

        // Swagger 2.0 names its types elsewhere.
        let read = read_one(
            &json!({"swagger": "2.0", "host": "orchard.test", "paths": {"/a": {"post": {
            "consumes": [bad], "parameters": [{"in": "body", "name": "b", "schema": {"type": "string"}}]}}}}),
        );
        assert_eq!(read.report.counts.dropped, 1, "{bad:?}");
    }
}

/// CGI and its kin read `_` and `-` of a header as the same: a parameter spelled with the other one is still
/// the transport's, or the carrier of a credential.
#[test]
fn headers_are_told_as_backends_read_them() {
    let names = [
        "Content_Length",
        "transfer_encoding",
        "X-Forwarded_For",
        "X_Forwarded-Host",
        "Proxy_Authorization",
        "HTTP2-Settings",
        "X_Api-Key",
        "X-Tint",
    ];
    let parameters: Vec<Value> = names
        .iter()
        .map(|name| json!({"name": name, "in": "header", "schema": {"type": "string"}}))
        .collect();
    let mut document =
        openapi(&json!({"/a": {"get": {"operationId": "a", "parameters": parameters}}}));
    document["components"] = json!({"securitySchemes": {
        "key": {"type": "apiKey", "in": "header", "name": "X-API_KEY"}}});
    assert_eq!(arguments(&document), ["X-Tint"]);
    let read = read_one(&document);
    let dropped = read.findings();
    let dropped = dropped
        .iter()
        .filter(|one| one.starts_with("warning parameter_dropped "));
    assert_eq!(dropped.count(), names.len() - 1);
}

/// A list of lists or of objects has no form in a style, in whichever spelling the type is written.
#[test]
fn lists_without_a_wire_form_are_no_arguments_however_their_type_is_spelled() {
    let list = [json!("array"), json!(["array"]), json!(["null", "array"])];
    let item = [
        (json!("object"), false),
        (json!(["object", "null"]), false),
        (json!(["array"]), false),
        (json!(["string", "null"]), true),
        (json!(["string", "object"]), true),
    ];
    for list in &list {
        for (item, is_argument) in &item {
            let schema = json!({"type": list, "items": {"type": item}});
            for required in [false, true] {
                let parameter =
                    json!({"name": "l", "in": "query", "required": required, "schema": schema});
                let mut document = openapi(
                    &json!({"/a": {"get": {"operationId": "a", "parameters": [parameter]}}}),
                );
                document["openapi"] = json!("3.1.0");
                let read = read_one(&document);
                assert_eq!(
                    read.operations.len(),
                    usize::from(!required || *is_argument)
                );
                for operation in &read.operations {
                    let template = operation.template.as_ref().unwrap();
                    assert_eq!(
                        template.parameters.len(),
                        usize::from(*is_argument),
                        "{schema}"
                    );
                    if *is_argument {
                        let given = json!({"l": ["x", "y"]});
                        assert!(compose(template, given.as_object().unwrap()).is_ok());
                    }
                }
            }
        }
    }
}

/// A chain of references or of `allOf`, entered at every link by an operation of its own: what each costs is
/// bounded, so that the document is read in the time its size deserves, and every operation is accounted for.
#[test]
fn chains_of_schemas_cost_each_operation_little() {
    const LINKS: usize = 4_000;
    const NEAR: usize = 50;
    const OPERATIONS: usize = 300;
    /// With one thread of a busy machine, unoptimized; without a bound it takes many times this.
    const TIME_MAX: Duration = Duration::from_mins(1);
    let links: [fn(usize) -> String; 2] = [
        |n| format!(r##"{{"$ref":"#/components/schemas/C{n}"}}"##),
        |n| {
            format!(
                r##"{{"allOf":[{{"$ref":"#/components/schemas/C{n}"}}],"properties":{{"p{n}":{{"type":"string"}}}}}}"##
            )
        },
    ];
    for (link, last) in links.into_iter().zip([1, NEAR]) {
        let mut schemas = format!(r#""C{LINKS}":{{"type":"object"}}"#);
        for n in 0..LINKS {
            write!(schemas, r#","C{n}":{}"#, link(n + 1)).unwrap();
        }
        // Most enter far from the end, the last one near it.
        let paths: Vec<String> = (0..OPERATIONS - 1)
            .chain([LINKS - NEAR])
            .map(|n| {
                format!(
                    r##""/a{n}":{{"post":{{"requestBody":{{"content":{{"application/json":{{"schema":{{"$ref":"#/components/schemas/C{n}"}}}}}}}}}}}}"##
                )
            })
            .collect();
        let text = format!(
            r#"{{"openapi":"3.1.0","paths":{{{}}},"components":{{"schemas":{{{schemas}}}}}}}"#,
            paths.join(",")
        );
        let start = Instant::now();
        let read = read_sources(&[("d.json", text.as_bytes())], &ReadOptions::default());
        assert!(start.elapsed() < TIME_MAX, "{:?}", start.elapsed());
        let counts = &read.report.counts;
        assert_eq!(counts.found, OPERATIONS as u64);
        assert_eq!(counts.found, counts.published + counts.dropped);
        // What is merged of a long chain is bounded, and a short one is merged whole.
        let arguments: Vec<usize> = read
            .operations
            .iter()
            .filter_map(|one| one.definition.input_schema["properties"].as_object())
            .map(Map::len)
            .collect();
        assert_eq!(arguments.last(), Some(&last));
        assert!(arguments.iter().rev().skip(1).all(|&count| count == 1));
    }
}

/// What a part would be sent as is a media type, or is left out and told.
#[test]
fn types_of_parts_that_cannot_be_sent_are_told() {
    for (types, kept, told) in [
        ("text/plain\r\nX-Other: 1", &[][..], true),
        ("image/png, , no type", &["image/png"], true),
        (
            "image/png, image/*, */*",
            &["image/png", "image/*", "*/*"],
            false,
        ),
        ("", &[], false),
    ] {
        let schema = json!({"type": "object", "properties": {"s": {"type": "string"}}});
        let content = json!({"multipart/form-data":
            {"schema": schema, "encoding": {"s": {"contentType": types}}}});
        let body = json!({"operationId": "a", "requestBody": {"content": content}});
        let read = read_one(&openapi(&json!({"/a": {"post": body}})));
        let template = read.named("a").template.as_ref().unwrap();
        let Some(BodyShape::Multipart(fields)) = template.body.as_ref().map(|one| &one.shape)
        else {
            panic!("{template:?}");
        };
        assert_eq!(fields.fields[0].content_types, kept);
        let is_told = |one: &String| {
            one.starts_with("warning encoding_left_out ") && one.ends_with("/s/contentType")
        };
        assert_eq!(read.findings().iter().any(is_told), told, "{types}");
    }
}
