//! The size rule: definitions over the limit are reduced step by step, in order, only as far as needed; what
//! is left accepts at least what the whole accepts.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use sezzlee::catalog::{Definition, DefinitionSize, DiagnosticCode, ReadOptions};
use sezzlee::json::canonical;

use crate::catalog::{Outcome, openapi, read_with};
use crate::catalog_schemas::check_published;

const NO_LIMIT: DefinitionSize = DefinitionSize {
    definition_bytes_max: DefinitionSize::BYTES_MAX,
    schema_depth_max: None,
    trim_descriptions: false,
};

fn read_sized(document: &Value, size: DefinitionSize) -> Outcome {
    let options = ReadOptions {
        size,
        ..ReadOptions::default()
    };
    let read = read_with(document, &options);
    read.operations.iter().for_each(check_published);
    read
}

fn bytes_max(definition_bytes_max: usize) -> DefinitionSize {
    DefinitionSize {
        definition_bytes_max,
        ..DefinitionSize::default()
    }
}

fn bytes(definition: &Definition) -> usize {
    canonical(&Value::Object(definition.to_object())).len()
}

fn to(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// An operation whose body and answer are of schemas, with components.
fn document(body: &Value, answer: &Value, components: &Value) -> Value {
    let content = |schema: &Value| json!({"content": {"application/json": {"schema": schema}}});
    let mut document = openapi(&json!({"/a": {"post": {
        "requestBody": content(body), "responses": {"200": content(answer)},
    }}}));
    document["components"] = json!({"schemas": components});
    document
}

// The naive reading of the rule: every step is carried out on the whole definition, and measured.

fn names(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::String(to)) = map.get("$ref") {
                found.push(to.rsplit('/').next().unwrap().to_owned());
            }
            map.values().for_each(|one| names(one, found));
        }
        Value::Array(all) => all.iter().for_each(|one| names(one, found)),
        _ => {}
    }
}

fn split(schema: &Value) -> (Value, Map<String, Value>) {
    let mut root = schema.clone();
    let definitions = root.as_object_mut().unwrap().shift_remove("$defs");
    let definitions = definitions.and_then(|one| one.as_object().cloned());
    (root, definitions.unwrap_or_default())
}

fn depths(root: &Value, definitions: &Map<String, Value>) -> BTreeMap<String, usize> {
    let mut depths = BTreeMap::new();
    let mut layer = Vec::new();
    names(root, &mut layer);
    let mut depth = 1;
    while !layer.is_empty() {
        let mut next = Vec::new();
        for name in layer {
            if let Entry::Vacant(place) = depths.entry(name) {
                names(&definitions[place.key()], &mut next);
                place.insert(depth);
            }
        }
        (layer, depth) = (next, depth + 1);
    }
    depths
}

fn without_text(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => {
            let mut out = Map::new();
            for (name, value) in map {
                if name == "properties" {
                    let members = value.as_object().unwrap().iter();
                    let members = members.map(|(key, one)| (key.clone(), without_text(one)));
                    out.insert(name.clone(), Value::Object(members.collect()));
                } else if name != "description" && name != "examples" {
                    out.insert(name.clone(), without_text(value));
                }
            }
            Value::Object(out)
        }
        Value::Array(all) => all.iter().map(without_text).collect(),
        other => other.clone(),
    }
}

fn cut(schema: &Value, keeps: &BTreeSet<String>, all: &Map<String, Value>) -> Value {
    match schema {
        Value::Object(map) => {
            let mut out = Map::new();
            for (key, value) in map {
                let name = value.as_str().map(|to| to.trim_start_matches("#/$defs/"));
                match (key.as_str(), name) {
                    ("$ref", Some(name)) if !keeps.contains(name) => {
                        if let (Some(kind), false) =
                            (all[name].get("type"), map.contains_key("type"))
                        {
                            out.insert("type".into(), kind.clone());
                        }
                        let note = format!("{name}: left out for size");
                        out.insert("$comment".into(), json!(note));
                    }
                    _ => {
                        out.insert(key.clone(), cut(value, keeps, all));
                    }
                }
            }
            Value::Object(out)
        }
        Value::Array(list) => list.iter().map(|one| cut(one, keeps, all)).collect(),
        other => other.clone(),
    }
}

/// What the required members of the generated schemas lead to.
fn required_names(schema: &Value, all: &Map<String, Value>, found: &mut BTreeSet<String>) {
    if let Some(Value::String(to)) = schema.get("$ref") {
        let name = to.trim_start_matches("#/$defs/").to_owned();
        if found.insert(name.clone()) {
            required_names(&all[&name], all, found);
        }
    }
    if let Some(items) = schema.get("items") {
        required_names(items, all, found);
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        required_names(&schema["properties"][name.as_str().unwrap()], all, found);
    }
}

/// One schema at a step: `None` text kept, and definitions down to a depth.
fn at_step(schema: &Value, is_bare: bool, depth: Option<usize>, is_input: bool) -> Value {
    let (root, definitions) = split(schema);
    let depths = depths(&root, &definitions);
    let mut keeps: BTreeSet<String> = depths
        .iter()
        .filter(|&(_, &at)| depth.is_none_or(|max| at <= max))
        .map(|(name, _)| name.clone())
        .collect();
    if is_input {
        let mut needed = BTreeSet::new();
        required_names(&root, &definitions, &mut needed);
        keeps.extend(needed);
    }
    let mut out = cut(&root, &keeps, &definitions);
    let mut under = Map::new();
    for name in &keeps {
        let schema = cut(&definitions[name], &keeps, &definitions);
        let schema = if is_bare {
            without_text(&schema)
        } else {
            schema
        };
        under.insert(name.clone(), schema);
    }
    if !under.is_empty() {
        out["$defs"] = Value::Object(under);
    }
    out
}

/// The definition as the rule leaves it.
fn naive(whole: &Definition, limit: usize) -> Definition {
    let mut definition = whole.clone();
    if bytes(&definition) <= limit {
        return definition;
    }
    let output = whole.output_schema.as_ref().unwrap();
    let steps = |nearest: usize| std::iter::once(None).chain((nearest..=6).rev().map(Some));
    for depth in steps(1) {
        definition.output_schema = Some(at_step(output, true, depth, false));
        if bytes(&definition) <= limit {
            return definition;
        }
    }
    definition.output_schema = None;
    for depth in std::iter::once(None).chain(steps(0).map(Some)) {
        definition.input_schema = match depth {
            None => whole.input_schema.clone(),
            Some(depth) => at_step(&whole.input_schema, true, depth, true),
        };
        if bytes(&definition) <= limit {
            return definition;
        }
    }
    definition
}

/// Objects that refer to each other, some through lists, with texts of some length.
fn web() -> impl Strategy<Value = Value> {
    const SCHEMAS: usize = 9;
    let member = (0..SCHEMAS, 0..3, any::<bool>());
    let schema = (
        prop::collection::vec(member, 0..4),
        0..400_usize,
        0..200_usize,
    );
    prop::collection::vec(schema, SCHEMAS).prop_map(|all| {
        let mut schemas = Map::new();
        for (place, (members, description, values)) in all.into_iter().enumerate() {
            let mut properties = Map::new();
            let mut required = Vec::new();
            for (number, (next, kind, is_required)) in members.into_iter().enumerate() {
                let next = to(&format!("S{next}"));
                let member = match kind {
                    0 => next,
                    1 => json!({"type": "array", "items": next, "description": "some"}),
                    _ => json!({"type": "string", "description": "description", "example": "e"}),
                };
                properties.insert(format!("m{number}"), member);
                if is_required {
                    required.push(format!("m{number}"));
                }
            }
            properties.insert("description".into(), json!({"enum": ["v".repeat(values)]}));
            let schema = json!({"type": "object", "properties": properties, "required": required,
                "description": "d".repeat(description), "example": {"description": "e".repeat(description / 4)}});
            schemas.insert(format!("S{place}"), schema);
        }
        Value::Object(schemas)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_steps_are_those_of_the_rule(components in web(), limit in 300..12_000_usize) {
        let document = document(
            &json!({"type": "object", "properties": {"a": to("S0"), "b": to("S1")}, "required": ["b"]}),
            &json!({"type": "array", "items": to("S2"), "description": "kept"}),
            &components,
        );
        let whole = read_sized(&document, NO_LIMIT);
        let sized = read_sized(&document, bytes_max(limit));
        let want = naive(&whole.operations[0].definition, limit);
        let got = &sized.operations[0].definition;
        prop_assert_eq!(canonical(&Value::Object(got.to_object())), canonical(&Value::Object(want.to_object())));
        let reports = sized.report.diagnostics.iter().filter(|one| one.code == DiagnosticCode::SchemaReduced).count();
        let is_reduced = got != &whole.operations[0].definition || bytes(got) > limit;
        prop_assert_eq!(reports, usize::from(is_reduced));
    }
}

/// Schemas of every kind that a reference can stand in.
fn referring() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        (0..4_usize).prop_map(|place| to(&format!("S{place}"))),
        prop::sample::select(vec![
            json!({"type": "string"}),
            json!({"type": "integer", "minimum": 2}),
            json!({"type": "null"}),
            json!({"enum": ["a", 1]}),
            json!({"required": ["a"]}),
            json!(true),
            json!({"type": "object"}),
        ]),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let pair = prop::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            inner.clone().prop_map(|one| json!({"not": one})),
            pair.clone().prop_map(|all| json!({"oneOf": all})),
            pair.clone().prop_map(|all| json!({"anyOf": all})),
            pair.clone()
                .prop_map(|all| json!({"oneOf": all, "anyOf": all})),
            pair.clone()
                .prop_map(|all| json!({"allOf": all, "unevaluatedProperties": false})),
            pair.clone()
                .prop_map(|all| json!({"prefixItems": all, "unevaluatedItems": false})),
            (inner.clone(), inner.clone())
                .prop_map(|(one, two)| json!({"if": one, "then": two, "else": {"type": "string"}})),
            inner
                .clone()
                .prop_map(|one| json!({"contains": one, "maxContains": 1})),
            inner
                .clone()
                .prop_map(|one| json!({"type": "array", "items": one})),
            inner
                .clone()
                .prop_map(|one| json!({"properties": {"a": one}, "additionalProperties": false})),
            inner
                .clone()
                .prop_map(|one| json!({"dependentSchemas": {"a": one}})),
            inner.clone().prop_map(|one| json!({"propertyNames": one})),
            inner.prop_map(
                |one| json!({"patternProperties": {"^a": one}, "additionalProperties": false})
            ),
        ]
    })
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop::sample::select(vec![
        json!(null),
        json!("a"),
        json!("b"),
        json!(1),
        json!(3),
        json!({}),
        json!([]),
    ]);
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(prop::sample::select(vec!["a", "b"]), inner, 0..3)
                .prop_map(|all| json!(all)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a_reduced_schema_accepts_what_the_whole_accepts(
        schemas in prop::collection::vec(referring(), 4),
        values in prop::collection::vec(value(), 8),
        depth in 1..3_usize,
    ) {
        // Each stands in a part of the value, so that no cycle is without end.
        let mut components = Map::new();
        for (place, schema) in schemas.iter().enumerate() {
            let far = to(&format!("S{}", (place + 1) % 4));
            let own = json!({"anyOf": [{"items": schema}, {"properties": {"b": far}}]});
            components.insert(format!("S{place}"), if place == 3 { json!({"items": schema, "properties": {"a": schema}}) } else { own });
        }
        let document = document(&json!({"type": "array", "items": schemas[0]}), &json!({}), &Value::Object(components));
        let mut document = document;
        document["openapi"] = json!("3.1.0");
        let whole = read_sized(&document, NO_LIMIT);
        let cut = read_sized(&document, DefinitionSize { schema_depth_max: Some(depth), trim_descriptions: true, ..NO_LIMIT });
        let validator = |read: &Outcome| jsonschema::draft202012::new(&read.operations[0].definition.input_schema).unwrap();
        let (whole, cut) = (validator(&whole), validator(&cut));
        for value in values {
            let arguments = json!({"body": [value]});
            if whole.is_valid(&arguments) {
                prop_assert!(cut.is_valid(&arguments), "{arguments}");
            }
        }
    }
}

#[test]
fn what_went_is_told_in_order() {
    let large = |next: Value| {
        json!({"type": "object", "description": "d".repeat(3_000), "properties": {
            "next": next, "values": {"enum": ["v".repeat(3_000)]},
        }})
    };
    let components = json!({
        "A": large(to("B")), "B": large(to("C")), "C": large(to("D")), "D": large(json!({})), "Key": {"type": "object", "required": ["deep"], "properties": {"deep": to("B")}},
    });
    let body = json!({"type": "object", "required": ["key"], "properties": {"a": to("A"), "key": to("Key")}, "description": "x"});
    let document = document(
        &body,
        &json!({"type": "array", "items": to("A")}),
        &components,
    );
    let told = |limit: usize| {
        let read = read_sized(&document, bytes_max(limit));
        let found = read.report.diagnostics.iter();
        let mut found = found.filter(|one| one.code == DiagnosticCode::SchemaReduced);
        let message = found.next().map(|one| {
            assert_eq!(one.at.as_str(), "/paths/~1a/post");
            one.message.clone()
        });
        assert!(found.next().is_none());
        let definition = read.operations[0].definition.clone();
        (message.unwrap_or_default(), bytes(&definition), definition)
    };
    let (message, size, _) = told(65_536);
    assert_eq!((message.as_str(), size > 48_000), ("", true));
    for (limit, want) in [
        (
            45_000,
            "left out are descriptions and examples under $defs of the output; raise",
        ),
        (
            34_000,
            "output $defs below depth 2 (1 references cut); raise",
        ),
        (27_000, "left out are the output schema; raise"),
        (
            20_000,
            "left out are the output schema, descriptions and examples under $defs of the input; raise",
        ),
        // B is what a required path needs: it stays at every depth.
        (
            10_000,
            "input $defs below depth 3 (1 references cut); raise",
        ),
        (7_000, "input $defs below depth 2 (1 references cut); raise"),
        (4_000, "input $defs below depth 0 (2 references cut); raise"),
        (
            1_000,
            "input $defs below depth 0 (2 references cut); it still has ",
        ),
    ] {
        let (message, size, definition) = told(limit);
        assert!(message.contains(want), "{limit}: {message}");
        assert!(size <= limit || limit == 1_000, "{limit}: {size}");
        let input = &definition.input_schema;
        assert_eq!(input["required"], json!(["key"]));
        assert_eq!(
            input["$defs"]["Key"]["properties"]["deep"],
            json!({"$ref": "#/$defs/B"})
        );
        assert!(input["$defs"]["B"].is_object(), "{limit}");
    }
    let cut = told(4_000).2.input_schema;
    assert_eq!(
        cut["properties"]["a"],
        json!({"type": "object", "$comment": "A: left out for size"})
    );
}

#[test]
fn the_operators_own_limits_are_met_without_a_warning() {
    let deep = |next: Value| json!({"type": "object", "description": "d", "example": {}, "properties": {"next": next}});
    let components =
        json!({"A": deep(to("B")), "B": deep(to("C")), "C": deep(json!({"description": "e"}))});
    let document = document(
        &json!({"type": "array", "description": "kept", "items": to("A")}),
        &json!({"type": "array", "items": to("A")}),
        &components,
    );
    let size = DefinitionSize {
        schema_depth_max: Some(2),
        trim_descriptions: true,
        ..DefinitionSize::default()
    };
    let read = read_sized(&document, size);
    assert!(read.report.diagnostics.is_empty(), "{:?}", read.findings());
    let definition = &read.operations[0].definition;
    let bare = |next: Value| json!({"type": "object", "properties": {"next": next}});
    let want = json!({"A": bare(json!({"$ref": "#/$defs/B"})), "B": bare(json!({"type": "object", "$comment": "C: left out for size"}))});
    assert_eq!(definition.output_schema.as_ref().unwrap()["$defs"], want);
    assert_eq!(definition.input_schema["$defs"], want);
    assert_eq!(
        definition.input_schema["properties"]["body"]["description"],
        "kept"
    );
}

#[test]
fn what_no_answer_holds_is_dropped_and_an_output_never_costs_its_operation() {
    let wide = json!({"type": "object", "properties": {"x": {"enum": ["y".repeat(300_000)]}}});
    let small = json!({"type": "object", "properties": {"x": {"type": "string"}}});
    let read = read_sized(&document(&wide, &small, &json!({})), bytes_max(65_536));
    assert_eq!(
        read.findings()[0],
        "dropped definition_too_large /paths/~1a/post"
    );
    // An operator whose answers are larger may have it.
    let read = read_sized(&document(&wide, &small, &json!({})), NO_LIMIT);
    assert_eq!(read.operations.len(), 1);
    for answer in [&wide, &to("Wide")] {
        let read = read_sized(
            &document(&small, answer, &json!({"Wide": wide})),
            bytes_max(65_536),
        );
        assert!(read.operations[0].definition.output_schema.is_none());
        assert_eq!(read.findings(), ["warning schema_reduced /paths/~1a/post"]);
    }
    let vast = json!({"enum": ["y".repeat(DefinitionSize::BYTES_MAX)]});
    let read = read_sized(&document(&small, &vast, &json!({})), NO_LIMIT);
    assert!(read.operations[0].definition.output_schema.is_none());
}

/// An open body takes further members, but none that the backend alone sets.
#[test]
fn a_member_that_is_read_only_is_no_further_member_either() {
    let body = json!({"type": "object", "additionalProperties": true, "required": ["id", "name"], "properties": {
        "name": {"type": "string"}, "id": {"type": "string", "readOnly": true},
    }});
    let read = read_sized(&document(&body, &json!({}), &json!({})), NO_LIMIT);
    let operation = &read.operations[0];
    let input = &operation.definition.input_schema;
    assert_eq!(input["required"], json!(["name"]));
    let validator = jsonschema::draft202012::new(input).unwrap();
    let template = operation.template.as_ref().unwrap();
    for (arguments, is_fine) in [
        (json!({"name": "n"}), true),
        (json!({"name": "n", "more": 1}), true),
        (json!({"name": "n", "id": "x"}), false),
    ] {
        assert_eq!(validator.is_valid(&arguments), is_fine, "{arguments}");
        let map = arguments.as_object().unwrap();
        let composed = sezzlee::invoke::compose(template, map);
        assert_eq!(composed.is_ok(), is_fine, "{arguments}");
    }
    // A parameter may have the name; it is no member of the body then.
    let mut document = document(&body, &json!({}), &json!({}));
    document["paths"]["/a"]["post"]["parameters"] =
        json!([{"name": "id", "in": "query", "schema": {"type": "string"}}]);
    let read = read_sized(&document, NO_LIMIT);
    let input = &read.operations[0].definition.input_schema;
    assert!(
        jsonschema::draft202012::new(input)
            .unwrap()
            .is_valid(&json!({"name": "n", "id": "x"}))
    );
}

/// However vast the web, an operation takes about its limit, and none is left out for it.
#[test]
fn many_operations_share_a_vast_web() {
    const SCHEMAS: usize = 400;
    const OPERATIONS: usize = 300;
    let mut components = Map::new();
    for place in 0..SCHEMAS {
        let members: Map<String, Value> = (1..=20)
            .map(|step| {
                let next = to(&format!("S{}", (place * 7 + step) % SCHEMAS));
                (format!("m{step}"), next)
            })
            .collect();
        let schema =
            json!({"type": "object", "description": "d".repeat(10_000), "properties": members});
        components.insert(format!("S{place}"), schema);
    }
    let mut paths = Map::new();
    for number in 0..OPERATIONS {
        let schema = json!({"type": "array", "items": to(&format!("S{}", number % SCHEMAS))});
        let content = json!({"content": {"application/json": {"schema": schema}}});
        paths.insert(
            format!("/p{number}"),
            json!({"post": {"requestBody": content, "responses": {"200": content}}}),
        );
    }
    let mut document = openapi(&Value::Object(paths));
    document["components"] = json!({"schemas": components});
    let read = read_with(&document, &ReadOptions::default());
    assert_eq!(read.operations.len(), OPERATIONS);
    let largest = read
        .operations
        .iter()
        .map(|one| bytes(&one.definition))
        .max();
    assert!(largest.unwrap() <= 65_536, "{largest:?}");
    assert_eq!(read.report.diagnostics.len(), OPERATIONS);
}

#[test]
fn a_required_path_that_no_answer_holds_costs_its_operation() {
    let large = |next: Value| {
        json!({"type": "object", "required": ["next", "x"], "properties": {
            "next": next, "x": {"enum": ["v".repeat(100_000)]},
        }})
    };
    let components = json!({"A": large(to("B")), "B": large(to("C")), "C": large(json!({}))});
    let body = |required: Value| json!({"type": "object", "required": required, "properties": {"a": to("A"), "b": {}}});
    let read = |required: Value| {
        read_sized(
            &document(&body(required), &json!({}), &components),
            DefinitionSize::default(),
        )
    };
    assert_eq!(
        read(json!(["a"])).findings()[0],
        "dropped definition_too_large /paths/~1a/post"
    );
    let fine = read(json!(["b"]));
    assert_eq!(fine.findings(), ["warning schema_reduced /paths/~1a/post"]);
    assert!(
        fine.operations[0]
            .definition
            .input_schema
            .get("$defs")
            .is_none()
    );
}
