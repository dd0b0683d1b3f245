//! Arguments: parameters of every kind, bodies, names that meet, what is never an argument.

use serde_json::{Value, json};
use sezzlee::catalog::{
    BodyShape, Card, CollectionSeparator, Location, Operation, Parameter, ReadOptions, Style,
};

use crate::catalog::{openapi, read_one, read_with};

fn parameters(operation: &Operation) -> &[Parameter] {
    &operation.template.as_ref().unwrap().parameters
}

fn properties(operation: &Operation) -> Vec<&str> {
    let schema = &operation.definition.input_schema["properties"];
    schema
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[track_caller]
fn check_wire(version: &str, parameter: &Value, want: (Style, bool)) {
    let name = parameter["name"].as_str().unwrap().to_owned();
    let route = format!("/a/{{{name}}}");
    let route = if parameter["in"] == "path" {
        &route
    } else {
        "/a"
    };
    let member = if version == "2.0" {
        "swagger"
    } else {
        "openapi"
    };
    let document = json!({member: version, "paths": {route: {"get": {"parameters": [parameter]}}}});
    let read = read_one(&document);
    let found = &parameters(&read.operations[0])[0];
    assert_eq!((found.style, found.explode), want, "{document}");
}

#[test]
fn styles_have_their_defaults_by_place() {
    use Style::{DeepObject, Form, Label, Matrix, PipeDelimited, Simple, SpaceDelimited};
    let v3 = |place: &str, style: Option<&str>, explode: Option<bool>| {
        let mut one = json!({"name": "p", "in": place, "schema": {"type": "array", "items": {}}});
        if let Some(style) = style {
            one["style"] = json!(style);
        }
        if let Some(explode) = explode {
            one["explode"] = json!(explode);
        }
        one
    };
    for (place, style, explode, want) in [
        ("path", None, None, (Simple, false)),
        ("path", Some("label"), Some(true), (Label, true)),
        ("path", Some("matrix"), None, (Matrix, false)),
        ("query", None, None, (Form, true)),
        ("query", Some("form"), Some(false), (Form, false)),
        (
            "query",
            Some("spaceDelimited"),
            None,
            (SpaceDelimited, false),
        ),
        (
            "query",
            Some("pipeDelimited"),
            Some(false),
            (PipeDelimited, false),
        ),
        ("query", Some("deepObject"), Some(false), (DeepObject, true)),
        ("header", None, None, (Simple, false)),
        ("header", Some("simple"), Some(true), (Simple, true)),
    ] {
        check_wire("3.0.0", &v3(place, style, explode), want);
    }
    let v2 = |place: &str, format: Option<&str>| {
        let mut one =
            json!({"name": "p", "in": place, "type": "array", "items": {"type": "string"}});
        if let Some(format) = format {
            one["collectionFormat"] = json!(format);
        }
        one
    };
    for (place, format, want) in [
        ("query", None, (Form, false)),
        ("query", Some("csv"), (Form, false)),
        ("query", Some("multi"), (Form, true)),
        (
            "query",
            Some("ssv"),
            (Style::Collection(CollectionSeparator::Space), false),
        ),
        (
            "query",
            Some("tsv"),
            (Style::Collection(CollectionSeparator::Tab), false),
        ),
        (
            "query",
            Some("pipes"),
            (Style::Collection(CollectionSeparator::Pipe), false),
        ),
        ("path", None, (Simple, false)),
        ("header", Some("csv"), (Simple, false)),
    ] {
        check_wire("2.0", &v2(place, format), want);
    }
    check_wire(
        "2.0",
        &json!({"name": "p", "in": "query", "type": "string"}),
        (Form, true),
    );
}

#[test]
fn content_parameters_are_json_and_deep_objects_are_grouped() {
    let document = openapi(&json!({"/a": {"get": {"parameters": [
        {"name": "filter", "in": "query", "content": {"application/json": {"schema": {"type": "object"}}}},
        {"name": "where", "in": "query", "style": "deepObject", "schema": {"$ref": "#/components/schemas/W"}},
        {"name": "raw", "in": "query", "allowReserved": true, "schema": {"type": "string", "nullable": true}},
    ]}}}));
    let mut document = document;
    document["components"] = json!({"schemas": {"W": {"type": "object", "properties": {"age": {"type": "integer", "description": "years"}}}}});
    let read = read_one(&document);
    let operation = &read.operations[0];
    let wire = parameters(operation);
    assert_eq!(wire[0].content_type.as_deref(), Some("application/json"));
    assert_eq!(operation.grouped_parameters, ["where"]);
    assert!(
        operation
            .search_text()
            .parameters
            .iter()
            .any(|text| text == "where.age")
    );
    assert!(wire[2].allow_reserved && wire[2].nullable && !wire[1].nullable);
}

#[test]
fn the_same_name_in_two_places_gives_two_arguments() {
    let schema = json!({"type": "string"});
    let document = openapi(&json!({"/a/{id}": {
        "parameters": [{"name": "id", "in": "path", "required": true, "schema": schema},
            {"name": "n", "in": "query", "schema": schema, "description": "path level"}],
        "get": {"parameters": [
            {"name": "id", "in": "header", "schema": schema}, {"name": "id", "in": "query", "schema": schema},
            {"name": "id_query", "in": "query", "schema": schema},
            {"name": "n", "in": "query", "required": true, "schema": schema, "description": "own"},
            {"name": "q", "in": "header", "schema": schema}, {"name": "q", "in": "query", "schema": schema},
        ]},
    }}));
    let read = read_one(&document);
    let operation = &read.operations[0];
    let seen: Vec<_> = parameters(operation)
        .iter()
        .map(|one| (one.argument.as_str(), one.name.as_str(), one.location))
        .collect();
    assert_eq!(
        seen,
        [
            ("id", "id", Location::Path),
            ("n", "n", Location::Query),
            ("id_header", "id", Location::Header),
            ("id_query_query", "id", Location::Query),
            ("id_query", "id_query", Location::Query),
            ("q_header", "q", Location::Header),
            ("q", "q", Location::Query),
        ]
    );
    let input = &operation.definition.input_schema;
    assert_eq!(input["required"], json!(["id", "n"]));
    assert_eq!(input["properties"]["n"]["description"], "own");
    assert_eq!(input["additionalProperties"], json!(false));
}

#[test]
fn transport_and_credentials_are_never_arguments() {
    let names = [
        "Accept",
        "content-type",
        "AUTHORIZATION",
        "Host",
        "Content-Length",
        "Transfer-Encoding",
        "Connection",
        "Cookie",
        "Proxy-Authorization",
        "Forwarded",
        "X-Forwarded-For",
        "X-HTTP-Method-Override",
        "X-Api-Key",
    ];
    let schema = json!({"type": "string"});
    let mut parameters: Vec<Value> = names
        .iter()
        .map(|name| json!({"name": name, "in": "header", "required": true, "schema": schema}))
        .collect();
    for (name, place) in [
        ("key", "query"),
        ("X-Fine", "header"),
        ("session_id", "cookie"),
        ("tracking", "cookie"),
        ("ghost", "path"),
    ] {
        parameters.push(json!({"name": name, "in": place, "schema": schema}));
    }
    let mut document = openapi(&json!({"/a": {"get": {"parameters": parameters}}}));
    document["components"] = json!({"securitySchemes": {
        "h": {"type": "apiKey", "in": "header", "name": "x-api-key"},
        "q": {"type": "apiKey", "in": "query", "name": "key"},
    }});
    let read = read_one(&document);
    assert_eq!(properties(&read.operations[0]), ["X-Fine", "tracking"]);
    assert_eq!(read.report.diagnostics.len(), names.len() + 3);
    assert!(
        read.findings()
            .iter()
            .all(|one| one.starts_with("warning parameter_dropped"))
    );
}

#[test]
fn what_cannot_be_written_drops_the_operation_only_when_it_is_required() {
    let parameter = |required: bool, rest: Value| {
        let mut one = json!({"name": "p", "required": required, "schema": {"type": "string"}});
        one.as_object_mut()
            .unwrap()
            .extend(rest.as_object().unwrap().clone());
        openapi(&json!({"/a": {"get": {"parameters": [one]}}}))
    };
    for rest in [
        json!({"in": "cookie", "style": "simple"}),
        json!({"in": "cookie", "name": "not a name"}),
        json!({"in": "query", "schema": {"type": "array", "items": {"type": "object"}}}),
        json!({"in": "header", "schema": {"type": "array", "items": {"type": "array", "items": {}}}}),
        json!({"in": "query", "content": {"application/x-www-form-urlencoded": {}}}),
        json!({"in": "query", "content": {"image/png": {}}}),
        json!({"in": "query", "style": "simple"}),
        json!({"in": "header", "name": "not a name"}),
        json!({"in": "query", "content": {"application/xml": {}}}),
        json!({"in": "query", "content": {}}),
    ] {
        let optional = read_one(&parameter(false, rest.clone()));
        assert_eq!(properties(&optional.operations[0]).len(), 0, "{rest}");
        assert!(optional.findings()[0].starts_with("warning parameter_dropped"));
        let required = read_one(&parameter(true, rest.clone()));
        assert!(required.operations.is_empty(), "{rest}");
        assert!(
            required.findings()[0].starts_with("dropped unsupported_parameter"),
            "{rest}"
        );
    }
}

#[test]
fn an_undeclared_placeholder_becomes_a_required_string() {
    let read = read_one(&openapi(&json!({"/a/{x}/{y}": {"get": {}}})));
    let operation = &read.operations[0];
    assert_eq!(
        operation.definition.input_schema["required"],
        json!(["x", "y"])
    );
    assert_eq!(
        Card::of(&operation.definition).parameters,
        "x: string (required), y: string (required)"
    );
    assert_eq!(
        read.findings(),
        ["warning missing_path_parameter /paths/~1a~1{x}~1{y}/get"]
    );
}

fn with_body(body: &Value) -> Value {
    openapi(&json!({"/a/{id}": {"post": {
        "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
        "requestBody": {"required": true, "description": "The thing.", "content": {"application/json": {"schema": body}}},
    }}}))
}

#[test]
fn object_bodies_are_flattened() {
    let read = read_one(&with_body(&json!({
        "type": "object", "required": ["name", "made"],
        "properties": {"name": {"type": "string", "nullable": true}, "made": {"type": "string", "readOnly": true}, "size": {"type": "integer"}},
    })));
    let operation = &read.operations[0];
    assert_eq!(
        operation.definition.input_schema,
        json!({
            "type": "object",
            "properties": {"id": {"type": "string"}, "name": {"type": ["string", "null"]}, "size": {"type": "integer"}},
            "required": ["id", "name"], "additionalProperties": false,
        })
    );
    let body = operation.template.as_ref().unwrap().body.as_ref().unwrap();
    assert!(body.required);
    let BodyShape::Members { members, open } = &body.shape else {
        panic!("members");
    };
    let seen: Vec<_> = members
        .iter()
        .map(|one| (one.name.as_str(), one.nullable, one.required))
        .collect();
    assert_eq!(
        (seen.as_slice(), *open),
        (
            [("name", true, true), ("size", false, false)].as_slice(),
            false
        )
    );
}

#[test]
fn a_root_all_of_is_merged_and_open_objects_stay_open() {
    let mut document = with_body(&json!({"allOf": [
        {"$ref": "#/components/schemas/Base"},
        {"type": "object", "properties": {"b": {"type": "string"}, "a": {"maxLength": 3}}, "required": ["a"], "additionalProperties": true},
    ]}));
    document["components"] =
        json!({"schemas": {"Base": {"allOf": [{"properties": {"a": {"type": "string"}}}]}}});
    let read = read_one(&document);
    let input = &read.operations[0].definition.input_schema;
    assert_eq!(
        input["properties"]["a"],
        json!({"allOf": [{"type": "string"}, {"maxLength": 3}]})
    );
    assert_eq!(input["properties"]["b"], json!({"type": "string"}));
    assert_eq!(input["required"], json!(["id", "a"]));
    assert_eq!(input["additionalProperties"], json!(true));
    let such = read_one(&with_body(
        &json!({"properties": {"a": {}}, "additionalProperties": {"type": "integer"}}),
    ));
    assert_eq!(
        such.operations[0].definition.input_schema["additionalProperties"],
        json!({"type": "integer"})
    );
}

#[test]
fn other_bodies_are_one_argument() {
    for body in [
        json!({"type": "array", "items": {"type": "string"}}),
        json!({"type": "string"}),
        json!({"type": "object"}),
        json!({"type": "object", "additionalProperties": {"type": "string"}}),
        json!({"oneOf": [{"type": "object", "properties": {"a": {}}}, {"type": "object"}]}),
        json!({"type": "object", "properties": {"a": {}}, "oneOf": [{"required": ["a"]}]}),
        json!({"anyOf": [{"properties": {"a": {}}}], "properties": {"b": {}}}),
        json!({"properties": {"a": {}}, "patternProperties": {"^x": {}}}),
        json!({}),
    ] {
        let read = read_one(&with_body(&body));
        let operation = &read.operations[0];
        assert_eq!(properties(operation), ["id", "body"], "{body}");
        assert_eq!(
            operation.definition.input_schema["properties"]["body"]["description"],
            "The thing."
        );
        assert_eq!(
            operation.definition.input_schema["required"],
            json!(["id", "body"])
        );
        assert!(read.report.diagnostics.is_empty(), "{body}");
    }
}

#[test]
fn a_member_named_like_a_parameter_makes_the_body_one_argument() {
    let read = read_one(&with_body(
        &json!({"type": "object", "properties": {"id": {}, "x": {}}}),
    ));
    assert_eq!(properties(&read.operations[0]), ["id", "body"]);
    assert!(read.findings()[0].starts_with("warning argument_collision"));
    let document = openapi(&json!({"/a": {"post": {
        "parameters": [{"name": "body", "in": "query", "schema": {}}, {"name": "x", "in": "query", "schema": {}}],
        "requestBody": {"content": {"application/json": {"schema": {"properties": {"x": {}}}}}},
    }}}));
    assert_eq!(
        properties(&read_one(&document).operations[0]),
        ["body", "x", "request_body"]
    );
}

#[test]
fn what_flat_arguments_cannot_say_is_reported() {
    let read = read_one(&with_body(&json!({
        "properties": {"a": {}, "b": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}], "minProperties": 1,
    })));
    assert_eq!(properties(&read.operations[0]), ["id", "a", "b"]);
    assert!(
        read.report.diagnostics[0]
            .message
            .starts_with("anyOf, minProperties")
    );
}

#[test]
fn json_is_chosen_and_bodies_that_are_not_written_drop_the_operation() {
    let with = |content: Value, required: bool| {
        openapi(
            &json!({"/a": {"post": {"requestBody": {"required": required, "content": content}}}}),
        )
    };
    let media_type = |content: Value| {
        let read = read_one(&with(content, true));
        read.operations[0]
            .template
            .clone()
            .unwrap()
            .body
            .unwrap()
            .media_type
    };
    assert_eq!(
        media_type(json!({"text/plain": {}, "application/json": {}})),
        "application/json"
    );
    assert_eq!(
        media_type(json!({"application/x+json": {}, "*/*": {}})),
        "application/x+json"
    );
    assert_eq!(media_type(json!({"*/*": {}})), "application/json");
    for other in [
        "application/xml",
        "text/xml; charset=utf-8",
        "application/atom+xml",
        "multipart/mixed",
        "multipart/related",
        "nonsense",
    ] {
        let read = read_one(&with(
            json!({other: {"schema": {"type": "object", "properties": {"a": {}}}}}),
            false,
        ));
        assert_eq!(
            read.findings()[0],
            "dropped unsupported_media_type /paths/~1a/post/requestBody/content",
            "{other}"
        );
        assert_eq!(read.report.counts.dropped, 1);
    }
    // An empty form that generators write on every operation asks for nothing.
    let nothing = json!({"application/x-www-form-urlencoded": {"schema": {"type": "object", "properties": {}}}});
    assert!(
        read_one(&with(nothing, false)).operations[0]
            .template
            .as_ref()
            .unwrap()
            .body
            .is_none()
    );
}

#[test]
fn swagger_bodies_forms_and_parameters() {
    let document = json!({
        "swagger": "2.0", "host": "h.test", "consumes": ["application/json"],
        "parameters": {"Limit": {"name": "limit", "in": "query", "type": "integer", "required": true, "description": "How many", "default": 10}},
        "definitions": {"Pet": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "x-nullable": true, "example": "Rex"}}}},
        "paths": {
            "/pets": {
                "get": {"parameters": [{"$ref": "#/parameters/Limit"}]},
                "post": {"parameters": [{"name": "pet", "in": "body", "required": true, "schema": {"$ref": "#/definitions/Pet"}}]},
                "put": {"consumes": ["application/xml"], "parameters": [{"name": "pet", "in": "body", "schema": {}}]},
                "patch": {"parameters": [{"name": "f", "in": "formData", "type": "file"}]},
            },
        },
    });
    let read = read_one(&document);
    assert_eq!(
        read.named("get_pets").definition.input_schema,
        json!({"type": "object", "properties": {"limit": {"type": "integer", "default": 10, "description": "How many"}},
            "required": ["limit"], "additionalProperties": false})
    );
    assert_eq!(
        read.named("post_pets").definition.input_schema["properties"]["name"],
        json!({"type": ["string", "null"], "examples": ["Rex"]})
    );
    assert_eq!(
        read.findings(),
        ["dropped unsupported_media_type /paths/~1pets/put/parameters/0"]
    );
    let file = &read.named("patch_pets").template.as_ref().unwrap().body;
    assert_eq!(file.as_ref().unwrap().media_type, "multipart/form-data");
}

#[test]
fn a_fragment_of_the_route_stays_here() {
    let read = read_one(&openapi(
        &json!({"/#Action=List": {"post": {}}, "/a?fixed=1": {"get": {}}}),
    ));
    assert_eq!(read.names(), ["post_action_list", "get_a_fixed_1"]);
    let routes: Vec<_> = read
        .operations
        .iter()
        .map(|one| {
            (
                one.route.clone().unwrap(),
                one.template.clone().unwrap().route,
            )
        })
        .collect();
    assert_eq!(
        routes,
        [
            ("/#Action=List".into(), "/".to_owned()),
            ("/a?fixed=1".into(), "/a?fixed=1".to_owned())
        ]
    );
}

#[test]
fn a_base_url_of_the_operator_replaces_every_server() {
    let options = ReadOptions {
        base_url: Some("http://127.0.0.1:9/x/".parse().unwrap()),
        ..ReadOptions::default()
    };
    let read = read_with(
        &openapi(&json!({"/a": {"get": {"servers": [{"url": "https://other.test"}]}}})),
        &options,
    );
    assert_eq!(
        read.operations[0]
            .template
            .as_ref()
            .unwrap()
            .base_url
            .as_deref(),
        Some("http://127.0.0.1:9/x")
    );
}
