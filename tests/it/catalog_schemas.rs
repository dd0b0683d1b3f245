//! Published schemas: self-contained, 2020-12, with the meaning of the document's.

use serde_json::{Value, json};
use sezzlee::catalog::Operation;

use crate::catalog::{openapi, read_one};

/// Fails unless every schema of an operation is valid 2020-12 and every reference in it resolves.
#[track_caller]
pub(crate) fn check_published(operation: &Operation) {
    let definition = &operation.definition;
    for schema in [
        Some(&definition.input_schema),
        definition.output_schema.as_ref(),
    ]
    .into_iter()
    .flatten()
    {
        if let Err(error) = jsonschema::draft202012::meta::validate(schema) {
            panic!("{}: {error}: {schema}", definition.name);
        }
        assert_eq!(schema["type"], "object", "{}", definition.name);
        check_references(schema, schema);
        // A validator can be made of it; patterns of other dialects are the document's.
        let _ = jsonschema::draft202012::new(schema);
    }
}

/// Looks at schemas only: an example may hold a `$ref` that is none.
#[track_caller]
fn check_references(root: &Value, schema: &Value) {
    let Value::Object(map) = schema else { return };
    if let Some(Value::String(reference)) = map.get("$ref") {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(root.pointer(pointer).is_some(), "{reference}");
    }
    for (keyword, value) in map {
        match (keyword.as_str(), value) {
            ("default" | "const" | "enum" | "examples", _) => {}
            (
                "properties" | "patternProperties" | "dependentSchemas" | "$defs",
                Value::Object(all),
            ) => {
                all.values().for_each(|one| check_references(root, one));
            }
            (_, Value::Array(all)) => all.iter().for_each(|one| check_references(root, one)),
            (_, one) => check_references(root, one),
        }
    }
}

#[track_caller]
fn member(version: &str, schema: &Value, components: &Value) -> (Value, Vec<String>) {
    let document = json!({
        "openapi": version, "servers": [{"url": "https://h.test"}],
        "paths": {"/a": {"post": {"requestBody": {"required": true, "content": {"application/json": {"schema":
            {"type": "object", "properties": {"m": schema}}}}}}}},
        "components": {"schemas": components},
    });
    let read = read_one(&document);
    read.operations.iter().for_each(check_published);
    let findings = read.findings();
    let input = read
        .operations
        .first()
        .map(|one| one.definition.input_schema.clone());
    (input.unwrap_or_default(), findings)
}

#[test]
fn spellings_of_3_0_become_2020_12() {
    for (from, want) in [
        (
            json!({"type": "string", "nullable": true}),
            json!({"type": ["string", "null"]}),
        ),
        (
            json!({"type": "string", "nullable": false}),
            json!({"type": "string"}),
        ),
        (
            json!({"nullable": true, "enum": ["a"]}),
            json!({"enum": ["a", null]}),
        ),
        (
            json!({"type": "string", "nullable": true, "enum": ["a", null]}),
            json!({"type": ["string", "null"], "enum": ["a", null]}),
        ),
        (
            json!({"allOf": [{"type": "string"}], "nullable": true, "description": "d"}),
            json!({"anyOf": [{"allOf": [{"type": "string"}]}, {"type": "null"}], "description": "d"}),
        ),
        (
            json!({"minimum": 0, "exclusiveMinimum": true, "maximum": 1, "exclusiveMaximum": false}),
            json!({"exclusiveMinimum": 0, "maximum": 1}),
        ),
        (
            json!({"maximum": 1.50, "exclusiveMaximum": true}),
            json!({"exclusiveMaximum": 1.50}),
        ),
        (
            json!({"exclusiveMinimum": 3}),
            json!({"exclusiveMinimum": 3}),
        ),
        (
            json!({"type": "string", "example": "x", "xml": {"name": "y"}, "externalDocs": {}, "x-own": 1, "discriminator": {"propertyName": "k"}}),
            json!({"type": "string", "examples": ["x"]}),
        ),
        (
            json!({"example": 1, "examples": [2]}),
            json!({"examples": [2]}),
        ),
        (
            json!({"items": [], "type": "array"}),
            json!({"type": "array"}),
        ),
        (
            json!({"type": "file"}),
            json!({"type": "string", "format": "binary"}),
        ),
        (
            json!({"type": "array", "items": [{"type": "string"}, {}]}),
            json!({"type": "array", "prefixItems": [{"type": "string"}, {}]}),
        ),
        (
            json!({"type": "object", "properties": {"a": {"readOnly": true}, "b": {"writeOnly": true}}, "required": ["a", "b", "b"]}),
            json!({"type": "object", "properties": {"b": {"writeOnly": true}}, "required": ["b"]}),
        ),
        (
            json!({"allOf": [{"properties": {"a": {"readOnly": true}}}, {"required": ["a", "c"]}], "required": ["a"]}),
            json!({"allOf": [{"properties": {}}, {"required": ["c"]}], "required": []}),
        ),
    ] {
        let (input, findings) = member("3.0.3", &from, &json!({}));
        assert_eq!(input["properties"]["m"], want, "{from}");
        assert!(findings.is_empty(), "{from}: {findings:?}");
    }
}

#[test]
fn what_is_no_schema_is_left_out_and_said() {
    let (lost, idle) = ("warning keyword_left_out", "warning malformed");
    for (from, want, code) in [
        (json!({"type": "strnig"}), json!({}), lost),
        (
            json!({"type": ["string", "nope", "string"]}),
            json!({"type": ["string"]}),
            idle,
        ),
        (json!({"type": 5}), json!({}), lost),
        (json!({"minLength": "five"}), json!({}), lost),
        (json!({"minLength": -1}), json!({}), lost),
        (json!({"minLength": null}), json!({}), idle),
        (json!({"maxItems": 1.5}), json!({}), lost),
        (json!({"multipleOf": 0}), json!({}), lost),
        // A habit of draft 3: the member itself says that it is required.
        (json!({"required": true}), json!({}), lost),
        (json!({"required": false}), json!({}), idle),
        (
            json!({"required": ["a", 5]}),
            json!({"required": ["a"]}),
            idle,
        ),
        (json!({"enum": "a"}), json!({}), lost),
        (json!({"enum": []}), json!({}), lost),
        (json!({"allOf": []}), json!({}), idle),
        (json!({"allOf": {}}), json!({}), lost),
        (json!({"items": "string"}), json!({}), lost),
        (json!({"properties": []}), json!({}), lost),
        (
            json!({"properties": {"a": null}}),
            json!({"properties": {"a": {}}}),
            "warning schema_left_out",
        ),
        (json!({"additionalProperties": "no"}), json!({}), lost),
        (json!({"description": 5}), json!({}), idle),
        (json!({"pattern": 5}), json!({}), lost),
        (
            json!({"pattern": r"\A[[:alpha:]]\z"}),
            json!({}),
            "warning pattern_left_out",
        ),
        // With the pattern gone its members would be further ones.
        (
            json!({"patternProperties": {"(?i)x": {}, "^y": {}}, "additionalProperties": false}),
            json!({"patternProperties": {"^y": {}}}),
            "warning pattern_left_out",
        ),
        (json!("string"), json!({}), "warning schema_left_out"),
    ] {
        let (input, findings) = member("3.0.3", &from, &json!({}));
        assert_eq!(input["properties"]["m"], want, "{from}");
        assert!(findings[0].starts_with(code), "{from}: {findings:?}");
    }
    let (input, findings) = member("3.0.3", &json!({"exclusiveMinimum": true}), &json!({}));
    assert_eq!(input["properties"]["m"], json!({}));
    assert!(findings[0].starts_with("warning malformed"));
}

#[test]
fn what_can_only_have_meant_one_thing_is_read_as_that() {
    for (version, from, want) in [
        ("3.0.3", json!({"maximum": "50"}), json!({"maximum": 50})),
        (
            "3.0.3",
            json!({"minLength": " 5 "}),
            json!({"minLength": 5}),
        ),
        (
            "3.0.3",
            json!({"multipleOf": "0.5"}),
            json!({"multipleOf": 0.5}),
        ),
        (
            "3.0.3",
            json!({"minimum": 1, "exclusiveMinimum": "false"}),
            json!({"minimum": 1}),
        ),
        (
            "3.0.3",
            json!({"uniqueItems": "true"}),
            json!({"uniqueItems": true}),
        ),
        (
            "3.0.3",
            json!({"additionalProperties": "false"}),
            json!({"additionalProperties": false}),
        ),
        (
            "3.0.3",
            json!({"type": "string", "enum": [1.5, true, "a", null]}),
            json!({"type": "string", "enum": ["1.5", "true", "a", null]}),
        ),
        (
            "3.0.3",
            json!({"type": "integer", "enum": ["-1", "0", "x"]}),
            json!({"type": "integer", "enum": [-1, 0, "x"]}),
        ),
        (
            "3.0.3",
            json!({"type": "boolean", "enum": ["true"]}),
            json!({"type": "boolean", "enum": [true]}),
        ),
        (
            "3.1.0",
            json!({"type": ["string", null]}),
            json!({"type": ["string", "null"]}),
        ),
        ("3.1.0", json!({"type": null}), json!({"type": "null"})),
        (
            "3.0.3",
            json!({"items": [{"type": "string"}], "additionalItems": false}),
            json!({"prefixItems": [{"type": "string"}], "items": false}),
        ),
        (
            "3.1.0",
            json!({"prefixItems": [{}], "items": [{"type": "string"}], "additionalItems": false}),
            json!({"prefixItems": [{}]}),
        ),
    ] {
        let (input, findings) = member(version, &from, &json!({}));
        assert_eq!(input["properties"]["m"], want, "{from}");
        assert!(
            findings
                .iter()
                .all(|one| one.starts_with("warning malformed")),
            "{from}: {findings:?}"
        );
    }
}

#[test]
fn a_required_member_that_nobody_declares_is_told() {
    let schema =
        json!({"properties": {"a": {}, "r": {"readOnly": true}}, "required": ["a", "r", "b"]});
    let read = read_one(&openapi(
        &json!({"/a": {"post": {"requestBody": {"content": {"application/json": {"schema": schema}}}}}}),
    ));
    assert_eq!(
        read.findings(),
        ["warning keyword_left_out /paths/~1a/post/requestBody/content/application~1json/schema"]
    );
    assert!(read.report.diagnostics[0].message.contains("\"b\""));
    let input = &read.operations[0].definition.input_schema;
    assert_eq!(input["required"], json!(["a"]));
}

#[test]
fn every_referenced_schema_stands_once_under_defs() {
    let components = json!({
        "Tree": {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}, "leaf": {"$ref": "#/components/schemas/Leaf"}}},
        "Leaf": {"type": "object", "properties": {"tree": {"$ref": "#/components/schemas/Alias"}}},
        "Alias": {"$ref": "#/components/schemas/Tree"},
        "Id": {"type": "integer", "description": "shared"},
        "Odd Näme/x": {"type": "object", "properties": {"a": {}}},
        "Unused": {"type": "string"},
    });
    let schema = json!({"type": "object", "properties": {
        "t": {"$ref": "#/components/schemas/Tree"}, "again": {"$ref": "#/components/schemas/Alias"}, "i": {"$ref": "#/components/schemas/Id"},
        "odd": {"$ref": "#/components/schemas/Odd Näme~1x"}, "inner": {"$ref": "#/components/schemas/Leaf/properties/tree"},
    }});
    let (input, findings) = member("3.0.3", &schema, &components);
    assert!(findings.is_empty(), "{findings:?}");
    let names: Vec<_> = input["$defs"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    assert_eq!(names[..2], ["Tree", "Id"]);
    assert!(names[2].starts_with("Odd_Name_x_"), "{names:?}");
    assert_eq!(names[3..], ["Leaf"]);
    assert_eq!(
        input["$defs"]["Tree"]["properties"]["kids"]["items"],
        json!({"$ref": "#/$defs/Tree"})
    );
    assert_eq!(
        input["$defs"]["Leaf"]["properties"]["tree"],
        json!({"$ref": "#/$defs/Tree"})
    );
}

#[test]
fn root_references_show_their_type() {
    let components = json!({
        "Id": {"type": "integer", "description": "shared", "minimum": 1}, "Thing": {"type": "object", "nullable": true, "properties": {}},
        "Any": {"description": "anything"}, "Color": {"enum": ["red"]},
    });
    let at = |version: &str, schema: Value| {
        member(version, &schema, &components).0["properties"]["m"].clone()
    };
    let to = |name: &str| format!("#/components/schemas/{name}");
    assert_eq!(
        at("3.0.3", json!({"$ref": to("Id")})),
        json!({"type": "integer", "description": "shared", "minimum": 1})
    );
    assert_eq!(
        at("3.0.3", json!({"$ref": to("Id"), "description": "own"})),
        json!({"type": "integer", "description": "own", "minimum": 1})
    );
    assert_eq!(
        at("3.0.3", json!({"$ref": to("Color")})),
        json!({"enum": ["red"]})
    );
    assert_eq!(
        at("3.0.3", json!({"$ref": to("Thing")})),
        json!({"$ref": "#/$defs/Thing", "type": ["object", "null"]})
    );
    assert_eq!(
        at("3.0.3", json!({"$ref": to("Any")})),
        json!({"$ref": "#/$defs/Any"})
    );
    assert_eq!(
        at("3.1.0", json!({"$ref": to("Id"), "maximum": 9})),
        json!({"$ref": "#/$defs/Id", "maximum": 9, "type": "integer"})
    );
    // The type is that of the reference at the root, whatever else is referred to beside it.
    assert_eq!(
        at(
            "3.1.0",
            json!({"$ref": to("Thing"), "properties": {"x": {"type": "array", "items": {"$ref": to("Id")}}}})
        )["type"],
        json!(["object", "null"])
    );
    // Before 3.1 nothing but a description counts beside a reference.
    assert_eq!(
        at(
            "3.0.3",
            json!({"$ref": to("Thing"), "maxProperties": 1, "description": "d"})
        ),
        json!({"$ref": "#/$defs/Thing", "description": "d", "type": ["object", "null"]})
    );
    assert_eq!(
        at("3.0.3", json!({"$ref": to("Thing"), "nullable": true})),
        json!({"anyOf": [{"$ref": "#/$defs/Thing"}, {"type": "null"}]})
    );
}

#[test]
fn references_that_lead_nowhere_cost_the_input_its_operation_and_the_output_its_place() {
    let schema = |target: &str| json!({"type": "object", "properties": {"a": {"$ref": target}}});
    for (target, code) in [
        ("#/components/schemas/Nowhere", "unresolvable_ref"),
        ("../other.yaml#/Pet", "external_ref_blocked"),
        ("other.yaml#/Pet", "unresolvable_ref"),
        ("https://h.test/x.json", "external_ref_blocked"),
        ("#/components/schemas/Loop", "cyclic_ref"),
    ] {
        let mut document = openapi(&json!({
            "/in": {"post": {"requestBody": {"content": {"application/json": {"schema": {"type": "array", "items": schema(target)}}}}}},
            "/out": {"get": {"responses": {"200": {"content": {"application/json": {"schema": schema(target)}}}}}},
        }));
        document["components"] =
            json!({"schemas": {"Loop": {"$ref": "#/components/schemas/Loop"}}});
        let read = read_one(&document);
        assert_eq!(read.names(), ["get_out"], "{target}");
        let output = read.operations[0]
            .definition
            .output_schema
            .as_ref()
            .unwrap();
        assert_eq!(output["properties"]["a"], json!({}));
        let at = "requestBody/content/application~1json/schema/items/properties/a";
        assert_eq!(
            read.findings()[0],
            format!("dropped {code} /paths/~1in/post/{at}")
        );
        assert!(read.findings()[1].starts_with(&format!("warning {code}")));
    }
}

#[test]
fn a_cycle_that_reaches_no_value_is_refused() {
    let components = json!({"A": {"allOf": [{"$ref": "#/components/schemas/B"}]}, "B": {"anyOf": [{"$ref": "#/components/schemas/A"}, {"type": "object"}]}});
    let document = |schema: Value| {
        let mut document = openapi(&json!({"/a": {"post": {
            "requestBody": {"content": {"application/json": {"schema": schema}}},
            "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}}},
        }}}));
        document["components"] = json!({"schemas": components});
        document
    };
    let nested = read_one(&document(
        json!({"type": "array", "items": {"$ref": "#/components/schemas/A"}}),
    ));
    assert!(
        nested.findings()[0].starts_with("dropped cyclic_ref"),
        "{:?}",
        nested.findings()
    );
    // In an answer only the output schema is lost.
    let fine = read_one(&document(json!({"type": "string"})));
    assert!(fine.operations[0].definition.output_schema.is_none());
    assert!(fine.findings()[0].starts_with("warning cyclic_ref"));
}

#[track_caller]
fn output(responses: &Value) -> Option<Value> {
    let mut document = openapi(&json!({"/a": {"get": {"responses": responses}}}));
    document["components"] = json!({
        "schemas": {
            "Pet": {"type": "object", "properties": {"n": {"type": "string"}, "secret": {"writeOnly": true}, "friend": {"$ref": "#/components/schemas/Pet"}}, "required": ["n", "secret"]},
            "Name": {"type": "string"},
        },
        "responses": {"Pets": {"content": {"application/json": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/Pet"}}}}}},
    });
    let read = read_one(&document);
    read.operations.iter().for_each(check_published);
    assert!(read.report.diagnostics.is_empty(), "{:?}", read.findings());
    read.operations[0].definition.output_schema.clone()
}

#[test]
fn the_output_schema_is_that_of_the_first_success() {
    let with = |schema: Value| json!({"content": {"application/json": {"schema": schema}}});
    let object = |name: &str| json!({"type": "object", "properties": {name: {}}});
    let pick = |responses: Value| {
        output(&responses).map(|schema| {
            schema["properties"]
                .as_object()
                .unwrap()
                .keys()
                .next()
                .unwrap()
                .clone()
        })
    };
    assert_eq!(
        pick(json!({"404": with(object("e")), "201": with(object("b")), "200": with(object("a"))}))
            .as_deref(),
        Some("a")
    );
    assert_eq!(pick(json!({"default": with(object("d")), "206": with(object("c")), "203": with(object("b"))})).as_deref(), Some("b"));
    assert_eq!(
        pick(json!({"default": with(object("d")), "2XX": with(object("x"))})).as_deref(),
        Some("x")
    );
    assert_eq!(
        pick(json!({"default": with(object("d")), "400": with(object("x"))})).as_deref(),
        Some("d")
    );
    assert_eq!(pick(json!({"204": {}, "206": with(object("c"))})), None);
    assert_eq!(pick(json!({"200": {}})), None);
    assert_eq!(pick(json!({"400": with(object("e"))})), None);
    assert_eq!(
        pick(json!({"200": {"content": {"application/xml": {"schema": object("a")}}}})),
        None
    );
}

#[test]
fn an_output_that_is_no_object_is_wrapped() {
    let with =
        |schema: Value| json!({"200": {"content": {"application/json": {"schema": schema}}}});
    let pet = json!({"type": "object", "properties": {"n": {"type": "string"}, "friend": {"$ref": "#/$defs/Pet"}}, "required": ["n"]});
    let mut inlined = pet.clone();
    inlined["$defs"] = json!({"Pet": pet});
    assert_eq!(
        output(&with(json!({"$ref": "#/components/schemas/Pet"}))),
        Some(inlined)
    );
    assert_eq!(
        output(&json!({"200": {"$ref": "#/components/responses/Pets"}})),
        Some(json!({
            "type": "object", "properties": {"result": {"type": "array", "items": {"$ref": "#/$defs/Pet"}}}, "required": ["result"], "$defs": {"Pet": pet},
        }))
    );
    let wrapped = |schema: Value| json!({"type": "object", "properties": {"result": schema}, "required": ["result"]});
    assert_eq!(
        output(&with(json!({"$ref": "#/components/schemas/Name"}))),
        Some(wrapped(json!({"type": "string"})))
    );
    assert_eq!(
        output(&with(json!({"type": "object", "nullable": true}))),
        Some(wrapped(json!({"type": ["object", "null"]})))
    );
    assert_eq!(output(&with(json!({}))), Some(wrapped(json!({}))));
    let text = json!({"200": {"content": {"text/plain": {"schema": {"type": "string"}}}}});
    assert_eq!(output(&text), Some(wrapped(json!({"type": "string"}))));
    let alternatives = json!({"oneOf": [{"type": "object"}, {"$ref": "#/components/schemas/Pet"}]});
    assert_eq!(
        output(&with(alternatives)).unwrap()["oneOf"][1],
        json!({"$ref": "#/$defs/Pet"})
    );
}

#[test]
fn a_recursive_reference_leads_to_its_anchor() {
    let components = json!({"Filter": {"type": "object", "$recursiveAnchor": true, "properties": {"all": {"type": "array", "items": {"oneOf": [{"$recursiveRef": "#"}]}}}}});
    let (input, findings) = member(
        "3.1.0",
        &json!({"$ref": "#/components/schemas/Filter"}),
        &components,
    );
    assert_eq!(
        input["$defs"]["Filter"]["properties"]["all"]["items"]["oneOf"],
        json!([{"$ref": "#/$defs/Filter"}])
    );
    assert!(findings.is_empty(), "{findings:?}");
    // Without an anchor it is a guess, and with several of a name so is a dynamic one.
    let guessed = json!({"type": "object", "properties": {"all": {"$recursiveRef": "#"}}});
    let (_, findings) = member("3.1.0", &guessed, &json!({}));
    assert!(findings[0].starts_with("warning dynamic_ref_flattened"));
    let node =
        |to: &str| json!({"$dynamicAnchor": "node", "properties": {"next": {"$dynamicRef": to}}});
    let one = json!({"Node": node("#node")});
    let (input, findings) = member("3.1.0", &json!({"$ref": "#/components/schemas/Node"}), &one);
    assert_eq!(
        input["$defs"]["Node"]["properties"]["next"],
        json!({"$ref": "#/$defs/Node"})
    );
    assert!(findings.is_empty(), "{findings:?}");
    let two = json!({"Node": node("#node"), "Other": node("#node")});
    let (_, findings) = member("3.1.0", &json!({"$ref": "#/components/schemas/Node"}), &two);
    assert!(
        findings[0].starts_with("warning dynamic_ref_flattened"),
        "{findings:?}"
    );
}

#[test]
fn numbers_keep_their_digits_and_digits_keep_their_place() {
    let text = r#"{"openapi":"3.0.0","paths":{"/a":{"get":{"parameters":[{"name":"n","in":"query",
        "schema":{"type":"number","maximum":12345678901234567890.10,"multipleOf":1e-400}}]}}}}"#;
    let read = crate::catalog::read_sources(
        &[("d.json", text.as_bytes())],
        &sezzlee::catalog::ReadOptions::default(),
    );
    let schema = read.operations[0].definition.input_schema["properties"]["n"].to_string();
    assert_eq!(
        schema,
        r#"{"type":"number","maximum":12345678901234567890.10,"multipleOf":1e-400}"#
    );
}
