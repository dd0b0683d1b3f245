//! Bodies of every kind as they are read: which media type, which arguments, which of them are files.

use serde_json::{Value, json};
use sezzlee::catalog::{
    BodyShape, CollectionSeparator, Field, Fields, FileUse, Location, Operation, Style,
};

use crate::catalog::{Outcome, openapi, read_one};
use crate::catalog_schemas::check_published;

fn versioned(version: &str, operation: &Value) -> Outcome {
    let mut document = openapi(&json!({"/a": {"post": operation}}));
    document["openapi"] = json!(version);
    let read = read_one(&document);
    read.operations.iter().for_each(check_published);
    read
}

fn body(version: &str, content: &Value) -> Outcome {
    versioned(version, &json!({"requestBody": {"content": content}}))
}

fn shape(operation: &Operation) -> &BodyShape {
    &operation
        .template
        .as_ref()
        .unwrap()
        .body
        .as_ref()
        .unwrap()
        .shape
}

fn media_type(operation: &Operation) -> &str {
    &operation
        .template
        .as_ref()
        .unwrap()
        .body
        .as_ref()
        .unwrap()
        .media_type
}

#[track_caller]
fn fields(operation: &Operation) -> &Fields {
    match shape(operation) {
        BodyShape::Form(fields) | BodyShape::Multipart(fields) => fields,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn field<'a>(operation: &'a Operation, name: &str) -> &'a Field {
    let mut all = fields(operation).fields.iter();
    all.find(|field| field.member.name == name).unwrap()
}

fn input(operation: &Operation) -> &Value {
    &operation.definition.input_schema
}

fn is_valid(operation: &Operation, arguments: &Value) -> bool {
    jsonschema::draft202012::new(input(operation))
        .unwrap()
        .is_valid(arguments)
}

#[test]
fn the_media_type_is_chosen_by_how_it_is_written() {
    for (offered, want) in [
        (
            &["text/plain", "application/json", "multipart/form-data"][..],
            "application/json",
        ),
        (
            &[
                "text/plain",
                "multipart/form-data",
                "application/x-www-form-urlencoded",
            ],
            "application/x-www-form-urlencoded",
        ),
        (
            &[
                "application/octet-stream",
                "text/csv",
                "multipart/form-data",
            ],
            "multipart/form-data",
        ),
        (
            &["application/octet-stream", "text/csv; header=present"],
            "text/csv; header=present",
        ),
        (&["application/xml", "application/zip"], "application/zip"),
        (
            &["application/x-www-form-urlencoded; charset=utf-8"],
            "application/x-www-form-urlencoded; charset=utf-8",
        ),
        (&["image/*"], "application/octet-stream"),
        (&["text/*"], "text/plain; charset=utf-8"),
    ] {
        let content: Value = offered
            .iter()
            .map(|&one| (one.to_owned(), json!({})))
            .collect();
        let read = body("3.1.0", &content);
        assert_eq!(media_type(&read.operations[0]), want, "{offered:?}");
    }
}

/// What a patch means stands in its type: an object is never a JSON Patch, and of a patch that nothing describes
/// the agent is told which it is.
#[test]
fn patches_are_told_apart() {
    let json_patch = "application/json-patch+json";
    let merge_patch = "application/merge-patch+json";
    let own_patch = "application/strategic-merge-patch+json";
    let list = json!({"type": "array", "items": {"type": "object"}});
    let object = json!({"type": "object", "additionalProperties": true});
    for (offered, schema, want) in [
        (
            &[json_patch, merge_patch, own_patch][..],
            &object,
            merge_patch,
        ),
        (
            &[json_patch, merge_patch, own_patch],
            &json!({}),
            merge_patch,
        ),
        (&[own_patch, json_patch], &object, own_patch),
        (&[json_patch], &object, json_patch),
        (&[merge_patch, json_patch], &list, json_patch),
        (
            &[merge_patch, "application/json", json_patch],
            &list,
            "application/json",
        ),
        (
            &["application/vnd.a+json", json_patch],
            &list,
            "application/vnd.a+json",
        ),
    ] {
        let parameter = json!({"name": "body", "in": "body", "schema": schema});
        let document = json!({"swagger": "2.0", "host": "h.test", "paths": {"/a": {"patch":
            {"consumes": offered, "parameters": [parameter]}}}});
        let read = read_one(&document);
        let operation = &read.operations[0];
        check_published(operation);
        assert_eq!(media_type(operation), want, "{offered:?} {schema}");
        let said = input(operation)["properties"]["body"].get("description");
        let patch = want
            .contains("patch")
            .then(|| json!(format!("Sent as {want}.")));
        assert_eq!(said, patch.as_ref(), "{offered:?} {schema}");
    }
    // With a schema for each, the type that is chosen has its own.
    let read = body(
        "3.0.3",
        &json!({json_patch: {"schema": list}, merge_patch: {"schema": {"type": "object", "properties": {"a": {}}}}}),
    );
    assert_eq!(media_type(&read.operations[0]), merge_patch);
    assert_eq!(input(&read.operations[0])["properties"], json!({"a": {}}));
}

#[test]
fn forms_become_their_fields() {
    let schema = json!({
        "allOf": [
            {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer", "description": "An a."}}},
            {"type": "object", "properties": {"b": {"type": "array", "items": {"type": "string"}}, "id": {"type": "string", "readOnly": true}}},
        ],
    });
    let encoding = json!({"b": {"style": "pipeDelimited", "explode": false, "allowReserved": true}, "a": {"contentType": "text/plain"}, "ghost": {}});
    let content =
        json!({"application/x-www-form-urlencoded": {"schema": schema, "encoding": encoding}});
    let read = body("3.0.3", &content);
    let operation = &read.operations[0];
    assert_eq!(
        input(operation)["properties"],
        json!({"a": {"type": "integer", "description": "An a."}, "b": {"type": "array", "items": {"type": "string"}}})
    );
    assert_eq!(input(operation)["required"], json!(["a"]));
    assert_eq!(input(operation)["additionalProperties"], json!(false));
    let (a, b) = (field(operation, "a"), field(operation, "b"));
    assert_eq!((a.style, a.member.required), (None, true));
    assert_eq!(a.content_types, ["text/plain"]);
    assert_eq!(
        (b.style, b.explode, b.allow_reserved),
        (Some(Style::PipeDelimited), false, true)
    );
    assert_eq!(read.findings(), [""; 0]);
}

#[test]
fn encodings_have_their_defaults() {
    for (encoding, want) in [
        (json!({}), (None, false)),
        (json!({"contentType": "a/b"}), (None, false)),
        (json!({"style": "form"}), (Some(Style::Form), true)),
        (json!({"explode": false}), (Some(Style::Form), false)),
        (json!({"allowReserved": true}), (Some(Style::Form), true)),
        (
            json!({"style": "spaceDelimited"}),
            (Some(Style::SpaceDelimited), false),
        ),
        (
            json!({"style": "deepObject", "explode": false}),
            (Some(Style::DeepObject), true),
        ),
    ] {
        for media_type in ["application/x-www-form-urlencoded", "multipart/form-data"] {
            let content = json!({media_type: {
                "schema": {"type": "object", "properties": {"f": {"type": "object"}}},
                "encoding": {"f": encoding},
            }});
            let read = body("3.1.0", &content);
            let field = field(&read.operations[0], "f");
            assert_eq!((field.style, field.explode), want, "{encoding}");
        }
    }
    let content = json!({"multipart/form-data": {
        "schema": {"type": "object", "properties": {"f": {"type": "object"}}},
        "encoding": {"f": {"style": "matrix"}},
    }});
    let at = "/paths/~1a/post/requestBody/content/multipart~1form-data/encoding/f/style";
    assert_eq!(
        body("3.1.0", &content).findings()[0],
        format!("dropped unsupported_parameter {at}")
    );
    let xml = json!({"multipart/form-data": {
        "schema": {"type": "object", "properties": {"f": {"type": "object"}}},
        "encoding": {"f": {"contentType": "application/xml"}},
    }});
    assert!(body("3.1.0", &xml).findings()[0].starts_with("dropped unsupported_media_type"));
}

#[test]
fn bodies_without_known_fields_are_one_object() {
    let form = "application/x-www-form-urlencoded";
    let map = json!({"type": "object", "additionalProperties": {"type": "string"}});
    for (content, schema) in [
        (json!({form: {"schema": map}}), map.clone()),
        (json!({form: {}}), json!({"type": "object"})),
        (
            json!({"multipart/form-data": {"schema": {"oneOf": [{"type": "object", "properties": {"a": {}}}, {"type": "object"}]}}}),
            json!({"oneOf": [{"type": "object", "properties": {"a": {}}}, {"type": "object"}]}),
        ),
    ] {
        let read = body("3.0.0", &content);
        let operation = &read.operations[0];
        assert_eq!(
            input(operation)["properties"],
            json!({"body": schema}),
            "{content}"
        );
        assert_eq!(fields(operation).within.as_ref().unwrap().argument, "body");
    }
    // A form that is required and empty is sent empty, and asks for nothing.
    let nothing = json!({form: {"schema": {"type": "object", "properties": {}}}});
    let read = versioned(
        "3.0.0",
        &json!({"requestBody": {"required": true, "content": nothing}}),
    );
    assert_eq!(input(&read.operations[0])["properties"], json!({}));
    assert_eq!(fields(&read.operations[0]).fields, []);
    // A form that its author calls a string is one; a list is nothing that has fields.
    let read = body("3.0.0", &json!({form: {"schema": {"type": "string"}}}));
    assert!(matches!(shape(&read.operations[0]), BodyShape::Text(_)));
    for (media_type, schema) in [
        (form, json!({"type": "array", "items": {}})),
        ("multipart/form-data", json!({"type": "string"})),
    ] {
        let read = body("3.0.0", &json!({media_type: {"schema": schema}}));
        assert!(
            read.findings()[0].starts_with("dropped unsupported_media_type"),
            "{media_type}"
        );
    }
}

#[test]
fn a_field_named_like_a_parameter_makes_the_body_one_argument() {
    let read = versioned(
        "3.0.0",
        &json!({
            "parameters": [{"name": "id", "in": "query", "schema": {"type": "integer"}}, {"name": "body", "in": "header", "schema": {}}],
            "requestBody": {"required": true, "description": "A photo.", "content": {"multipart/form-data": {
                "schema": {"type": "object", "required": ["id"], "properties": {
                    "id": {"type": "string", "nullable": true},
                    "photo": {"type": "string", "format": "binary"},
                }},
            }}},
        }),
    );
    let operation = &read.operations[0];
    let whole = &input(operation)["properties"]["request_body"];
    assert_eq!(whole["required"], json!(["id"]));
    assert_eq!(whole["description"], json!("A photo."));
    assert_eq!(
        whole["properties"]["photo"]["properties"]["text"]["type"],
        json!("string")
    );
    let (id, photo) = (field(operation, "id"), field(operation, "photo"));
    assert_eq!(
        (id.member.nullable, id.member.required, id.file),
        (true, true, FileUse::Never)
    );
    assert_eq!((photo.member.nullable, photo.file), (false, FileUse::Only));
    assert_eq!(input(operation)["required"], json!(["request_body"]));
    assert!(read.findings()[0].starts_with("warning argument_collision"));
}

/// Fields as versions spell them, and whether they are files.
fn spellings(binary: &Value) -> Vec<(&'static str, Value, FileUse)> {
    use FileUse::{Beside, Never, Only};
    vec![
        ("3.0.3", binary.clone(), Only),
        ("3.1.0", binary.clone(), Only),
        ("3.0.3", json!({"$ref": "#/components/schemas/Bytes"}), Only),
        (
            "3.0.3",
            json!({"allOf": [{"$ref": "#/components/schemas/Bytes"}], "description": "d"}),
            Only,
        ),
        ("3.0.3", json!({"type": "string", "format": "byte"}), Never),
        (
            "3.0.3",
            json!({"type": "string", "format": "base64"}),
            Never,
        ),
        ("3.0.3", json!({"type": "file"}), Only),
        (
            "3.0.3",
            json!({"type": "string", "format": "binary", "nullable": true}),
            Only,
        ),
        ("3.0.3", json!({"type": "array", "items": binary}), Only),
        (
            "3.1.0",
            json!({"type": ["array", "null"], "items": {"contentMediaType": "image/png"}}),
            Only,
        ),
        ("3.0.3", json!({}), Beside),
        ("3.1.0", json!({}), Only),
        ("3.1.0", json!({"description": "Anything."}), Only),
        ("3.1.0", json!({"contentMediaType": "image/png"}), Only),
        (
            "3.1.0",
            json!({"type": "string", "contentMediaType": "application/octet-stream"}),
            Only,
        ),
        (
            "3.1.0",
            json!({"type": "string", "contentMediaType": "image/png", "contentEncoding": "base64"}),
            Never,
        ),
        (
            "3.1.0",
            json!({"type": "string", "contentMediaType": "application/json"}),
            Never,
        ),
        (
            "3.0.3",
            json!({"type": "string", "contentMediaType": "image/png"}),
            Never,
        ),
        (
            "3.1.0",
            json!({"anyOf": [binary, {"type": "string"}]}),
            Beside,
        ),
        (
            "3.1.0",
            json!({"oneOf": [binary, {"type": "array", "items": binary}]}),
            Only,
        ),
        ("3.1.0", json!({"anyOf": [binary, {"type": "null"}]}), Only),
        (
            "3.1.0",
            json!({"type": "object", "properties": {"f": binary}}),
            Never,
        ),
        ("3.1.0", json!({"type": "array", "items": {}}), Never),
        ("3.1.0", json!({"type": "string"}), Never),
        ("3.1.0", json!({"$ref": "#/components/schemas/Loop"}), Never),
    ]
}

#[test]
fn files_are_told_by_the_spelling_of_each_version() {
    use FileUse::{Beside, Never};
    let binary = json!({"type": "string", "format": "binary"});
    for (version, schema, want) in spellings(&binary) {
        let mut document = openapi(
            &json!({"/a": {"post": {"requestBody": {"content": {"multipart/form-data": {
                "schema": {"type": "object", "properties": {"f": schema}},
            }}}}}}),
        );
        document["openapi"] = json!(version);
        document["components"] = json!({"schemas": {
            "Bytes": binary,
            "Loop": {"anyOf": [{"$ref": "#/components/schemas/Loop2"}, {"$ref": "#/components/schemas/Loop2"}]},
            "Loop2": {"type": "array", "items": {"$ref": "#/components/schemas/Loop"}},
        }});
        let read = read_one(&document);
        let operation = &read.operations[0];
        check_published(operation);
        assert_eq!(field(operation, "f").file, want, "{version} {schema}");
        let is_list = schema["items"].is_object();
        let file = |one: Value| {
            if is_list {
                json!({"f": [one]})
            } else {
                json!({"f": one})
            }
        };
        if want != Never {
            for good in [
                json!({"text": "a"}),
                json!({"base64": "YQ==", "name": "n", "mediaType": "image/png"}),
            ] {
                assert!(is_valid(operation, &file(good)), "{version} {schema}");
            }
            for bad in [
                json!({}),
                json!({"text": "a", "base64": "YQ=="}),
                json!({"text": "a", "filename": "n"}),
                json!({"ref": "x"}),
            ] {
                assert!(!is_valid(operation, &file(bad)), "{version} {schema}");
            }
        }
        // What is no file keeps its own schema, which is not this test's business.
        if want != Never {
            let takes_text = is_valid(operation, &file(json!("plain")));
            assert_eq!(takes_text, want == Beside, "{version} {schema}");
        }
    }
}

#[test]
fn maps_of_files_take_files() {
    let map =
        json!({"type": "object", "additionalProperties": {"type": "string", "format": "binary"}});
    let read = body("3.0.3", &json!({"multipart/form-data": {"schema": map}}));
    let operation = &read.operations[0];
    assert_eq!(fields(operation).further, FileUse::Only);
    assert!(is_valid(operation, &json!({"body": {"a": {"text": "x"}}})));
    assert!(!is_valid(operation, &json!({"body": {"a": "x"}})));
    let mut with_known = map;
    with_known["properties"] = json!({"note": {"type": "string"}});
    let read = body(
        "3.0.3",
        &json!({"multipart/form-data": {"schema": with_known}}),
    );
    let operation = &read.operations[0];
    assert_eq!(
        (fields(operation).further, fields(operation).open),
        (FileUse::Only, true)
    );
    assert!(is_valid(
        operation,
        &json!({"note": "n", "a": {"text": "x"}})
    ));
    assert!(!is_valid(operation, &json!({"note": "n", "a": "x"})));
}

#[test]
fn alternatives_without_end_are_looked_at_for_a_while() {
    let many: Vec<Value> = (0..300)
        .map(|_| json!({"$ref": "#/components/schemas/Web"}))
        .chain([json!({"type": "string", "format": "binary"})])
        .collect();
    let mut document = openapi(
        &json!({"/a": {"post": {"requestBody": {"content": {"multipart/form-data": {
            "schema": {"type": "object", "properties": {"f": {"type": "array", "items": {"$ref": "#/components/schemas/Web"}}, "g": {"type": "string"}}},
        }}}}}}),
    );
    document["components"] = json!({"schemas": {"Web": {"anyOf": many}}});
    let read = read_one(&document);
    assert_eq!(read.report.counts.found, 1);
    for operation in &read.operations {
        check_published(operation);
        assert_eq!(fields(operation).fields.len(), 2);
    }
}

#[test]
fn a_file_says_what_it_may_be() {
    let content = json!({"multipart/form-data": {
        "schema": {"type": "object", "properties": {
            "closed": {"type": "string", "format": "binary", "description": "The portrait."},
            "range": {"type": "string", "format": "binary"},
            "open": {"type": "string", "format": "binary"},
        }},
        "encoding": {
            "closed": {"contentType": "image/png, image/jpeg"},
            "range": {"contentType": "image/*"},
            "open": {"contentType": "application/octet-stream"},
        },
    }});
    let read = body("3.0.3", &content);
    let properties = &input(&read.operations[0])["properties"];
    assert!(
        properties["closed"]["description"]
            .as_str()
            .unwrap()
            .starts_with("The portrait.\n\nA file: ")
    );
    assert_eq!(
        properties["closed"]["properties"]["mediaType"]["enum"],
        json!(["image/png", "image/jpeg"])
    );
    let range = properties["range"]["properties"]["mediaType"].to_string();
    assert!(range.contains("image/*") && !range.contains("enum"));
    assert!(
        properties["open"]["properties"]["mediaType"]
            .get("enum")
            .is_none()
    );
}

#[test]
fn headers_of_parts_are_sent_when_the_document_fixes_them() {
    let content = json!({"multipart/form-data": {
        "schema": {"type": "object", "properties": {"f": {"type": "string"}}},
        "encoding": {"f": {"headers": {
            "X-Kind": {"schema": {"type": "string", "enum": ["photo"]}},
            "X-Const": {"$ref": "#/components/headers/Const"},
            "X-Free": {"schema": {"type": "string"}},
            "X-Broken": {"schema": {"enum": ["a\r\nX-Evil: 1"]}},
            "Content-Type": {"schema": {"type": "string"}},
        }}},
    }});
    let mut document = openapi(&json!({"/a": {"post": {"requestBody": {"content": content}}}}));
    document["openapi"] = json!("3.1.0");
    document["components"] = json!({"headers": {"Const": {"schema": {"const": 7}}}});
    let read = read_one(&document);
    let fixed = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        field(&read.operations[0], "f").headers,
        [fixed("X-Kind", "photo"), fixed("X-Const", "7")]
    );
    let at = "/paths/~1a/post/requestBody/content/multipart~1form-data/encoding/f/headers";
    assert_eq!(
        read.findings(),
        [
            format!("warning encoding_left_out {at}/X-Free"),
            format!("warning encoding_left_out {at}/X-Broken")
        ]
    );
}

#[test]
fn bytes_and_text_are_one_argument() {
    let read = body(
        "3.0.3",
        &json!({
            "application/octet-stream": {"schema": {"type": "string", "format": "binary", "description": "The archive."}},
            "application/x-tar": {},
        }),
    );
    let operation = &read.operations[0];
    let BodyShape::File {
        member,
        content_types,
    } = shape(operation)
    else {
        panic!("a file");
    };
    assert_eq!(member.argument, "body");
    assert_eq!(
        content_types[..],
        ["application/octet-stream", "application/x-tar"]
    );
    assert!(
        input(operation)["properties"]["body"]["properties"]
            .get("name")
            .is_none()
    );
    assert!(is_valid(operation, &json!({"body": {"base64": "YQ=="}})));
    let described = input(operation)["properties"]["body"]["description"]
        .as_str()
        .unwrap();
    assert!(described.starts_with("The archive."));

    let read = versioned(
        "3.0.3",
        &json!({"requestBody": {"required": true, "description": "Markdown.", "content": {
            "text/x-markdown": {"schema": {"type": "string", "maxLength": 5}},
        }}}),
    );
    assert_eq!(
        input(&read.operations[0]),
        &json!({"type": "object", "properties": {"body": {"type": "string", "maxLength": 5, "description": "Markdown."}}, "required": ["body"], "additionalProperties": false})
    );
    for media_type in ["text/csv", "application/octet-stream"] {
        let rows = json!({media_type: {"schema": {"type": "array", "items": {"type": "object"}}}});
        let at = format!(
            "/paths/~1a/post/requestBody/content/{}/schema",
            media_type.replace('/', "~1")
        );
        assert_eq!(
            body("3.0.3", &rows).findings(),
            [format!("warning body_schema_left_out {at}")]
        );
    }
}

#[test]
fn sequences_of_3_2_are_not_parts_with_names() {
    let sequence = json!({"itemSchema": {"type": "object"}, "itemEncoding": {}});
    let read = body("3.2.0", &json!({"multipart/form-data": sequence}));
    assert!(read.findings()[0].starts_with("dropped unsupported_media_type"));
    let read = body(
        "3.2.0",
        &json!({"multipart/form-data": sequence, "text/plain": {}}),
    );
    assert_eq!(media_type(&read.operations[0]), "text/plain");
    let read = body(
        "3.2.0",
        &json!({"application/jsonl": {"itemSchema": {"type": "object"}}}),
    );
    assert!(matches!(shape(&read.operations[0]), BodyShape::File { .. }));
    assert!(read.findings()[0].starts_with("warning body_schema_left_out"));
}

#[test]
fn swagger_forms_are_what_the_operation_consumes() {
    let text = |name: &str| json!({"name": name, "in": "formData", "type": "string", "description": "Said."});
    let list = |format: &str| json!({"name": format, "in": "formData", "type": "array", "items": {"type": "string"}, "collectionFormat": format});
    let file = json!({"name": "f", "in": "formData", "type": "file", "required": true, "description": "The file."});
    let form = "application/x-www-form-urlencoded";
    for (consumes, parameters, want) in [
        (json!([form, "multipart/form-data"]), vec![text("a")], form),
        (
            json!(["multipart/form-data"]),
            vec![text("a")],
            "multipart/form-data",
        ),
        (json!(["application/json"]), vec![text("a")], form),
        (json!([]), vec![text("a")], form),
        (
            json!([form]),
            vec![text("a"), file.clone()],
            "multipart/form-data",
        ),
    ] {
        let document = json!({"swagger": "2.0", "host": "h.test", "paths": {"/a": {"post": {"consumes": consumes, "parameters": parameters}}}});
        let read = read_one(&document);
        assert_eq!(media_type(&read.operations[0]), want, "{consumes}");
        assert_eq!(
            input(&read.operations[0])["properties"]["a"],
            json!({"type": "string", "description": "Said."})
        );
    }
    let parameters = json!([file, list("csv"), list("ssv"), list("tsv"), list("pipes"), list("multi"), text("q"), {"name": "q", "in": "query", "type": "string"}]);
    let document = json!({"swagger": "2.0", "host": "h.test", "paths": {"/a": {"post": {"parameters": parameters}}}});
    let read = read_one(&document);
    let operation = &read.operations[0];
    check_published(operation);
    let style = |name: &str| {
        (
            field(operation, name).style.unwrap(),
            field(operation, name).explode,
        )
    };
    assert_eq!(style("csv"), (Style::Form, false));
    assert_eq!(
        style("ssv"),
        (Style::Collection(CollectionSeparator::Space), false)
    );
    assert_eq!(
        style("tsv"),
        (Style::Collection(CollectionSeparator::Tab), false)
    );
    assert_eq!(
        style("pipes"),
        (Style::Collection(CollectionSeparator::Pipe), false)
    );
    assert_eq!(style("multi"), (Style::Form, true));
    assert_eq!(field(operation, "f").file, FileUse::Only);
    // `q` is in the query too.
    let whole = &input(operation)["properties"]["body"];
    assert_eq!(whole["required"], json!(["f"]));
    assert!(
        whole["properties"]["f"]["description"]
            .as_str()
            .unwrap()
            .starts_with("The file.")
    );
    let both = json!({"swagger": "2.0", "host": "h.test", "paths": {"/a": {"post": {"parameters": [text("a"), {"name": "b", "in": "body", "schema": {"type": "object", "properties": {"b": {}}}}]}}}});
    let read = read_one(&both);
    assert_eq!(media_type(&read.operations[0]), "application/json");
    assert_eq!(
        read.findings(),
        ["warning malformed /paths/~1a/post/parameters/0"]
    );
}

#[test]
fn cookies_and_query_strings_are_arguments() {
    let read = versioned(
        "3.2.0",
        &json!({"parameters": [
            {"name": "theme", "in": "cookie", "schema": {"type": "string"}},
            {"name": "plain", "in": "cookie", "style": "cookie", "explode": false, "required": true, "schema": {"type": "string"}},
            {"name": "sessionid", "in": "cookie", "required": true, "schema": {"type": "string"}},
            {"name": "filter", "in": "querystring", "content": {"application/x-www-form-urlencoded": {"schema": {"type": "object", "properties": {"q": {"type": "string"}}}}}},
        ]}),
    );
    let operation = &read.operations[0];
    let names: Vec<&String> = input(operation)["properties"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    assert_eq!(names, ["theme", "plain", "filter"]);
    assert_eq!(
        input(operation)["properties"]["filter"]["properties"]["q"],
        json!({"type": "string"})
    );
    let parameters = &operation.template.as_ref().unwrap().parameters;
    assert_eq!(
        (parameters[0].style, parameters[0].explode),
        (Style::Form, true)
    );
    assert_eq!(
        (parameters[1].style, parameters[1].explode),
        (Style::Cookie, false)
    );
    assert_eq!(parameters[2].location, Location::QueryString);
    assert_eq!(
        read.findings(),
        ["warning parameter_dropped /paths/~1a/post/parameters/2"]
    );

    let whole = json!({"name": "w", "in": "querystring", "required": true, "content": {"application/json": {}}});
    for others in [
        json!([whole, {"name": "q", "in": "query", "schema": {}}]),
        json!([whole, {"name": "v", "in": "querystring", "required": true, "content": {"application/json": {}}}]),
        json!([{"name": "w", "in": "querystring", "required": true, "schema": {}}]),
        json!([{"name": "w", "in": "querystring", "required": true, "content": {"application/xml": {}}}]),
    ] {
        let read = versioned("3.2.0", &json!({"parameters": others}));
        assert!(
            read.findings()[0].starts_with("dropped unsupported_parameter"),
            "{others}"
        );
    }
    // Before 3.2 there is neither.
    for parameter in [
        whole,
        json!({"name": "a", "in": "cookie", "style": "cookie", "required": true, "schema": {}}),
    ] {
        let read = versioned("3.1.0", &json!({"parameters": [parameter]}));
        assert!(read.findings()[0].starts_with("dropped unsupported_parameter"));
    }
}
