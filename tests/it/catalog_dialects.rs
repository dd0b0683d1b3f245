//! The published schema accepts exactly what the document's schema accepts, read in its own dialect.
//!
//! The reading here is a validator of its own for the keywords that are generated, written from the
//! specifications of OpenAPI: it shares nothing with the conversion.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::catalog::{openapi, read_one};
use crate::catalog_schemas::check_published;

/// The dialects that differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Swagger,
    Older,
    Newer,
}

struct Reading<'d> {
    dialect: Dialect,
    components: &'d Map<String, Value>,
}

impl Reading<'_> {
    fn accepts(&self, schema: &Value, value: &Value) -> bool {
        let map = match schema {
            Value::Bool(all) => return *all,
            Value::Object(map) => map,
            _ => return true,
        };
        let says = |name: &str| map.get(name) == Some(&Value::Bool(true));
        let null_is_declared =
            says("nullable") || (self.dialect == Dialect::Swagger && says("x-nullable"));
        if value.is_null() && null_is_declared {
            return true;
        }
        if let Some(Value::String(to)) = map.get("$ref") {
            let target = &self.components[to.rsplit('/').next().unwrap()];
            // Before 3.1 nothing beside a reference counts.
            if !self.accepts(target, value) || self.dialect != Dialect::Newer {
                return self.dialect != Dialect::Newer && self.accepts(target, value);
            }
        }
        map.iter()
            .all(|(name, rule)| self.keyword(map, name, rule, value))
    }

    fn keyword(&self, map: &Map<String, Value>, name: &str, rule: &Value, value: &Value) -> bool {
        let list = || rule.as_array().unwrap();
        let number = value.as_f64();
        let limit = rule.as_f64();
        match (name, value) {
            ("type", _) => match rule {
                Value::String(one) => is_of(one, value),
                Value::Array(all) => all.iter().any(|one| is_of(one.as_str().unwrap(), value)),
                _ => true,
            },
            ("enum", _) => list().iter().any(|one| equal(one, value)),
            ("const", _) if self.dialect == Dialect::Newer => equal(rule, value),
            ("minimum", Value::Number(_)) => {
                let is_sharp = map.get("exclusiveMinimum") == Some(&Value::Bool(true));
                number > limit || (!is_sharp && number == limit)
            }
            ("maximum", Value::Number(_)) => {
                let is_sharp = map.get("exclusiveMaximum") == Some(&Value::Bool(true));
                number < limit || (!is_sharp && number == limit)
            }
            ("exclusiveMinimum", Value::Number(_)) if rule.is_number() => number > limit,
            ("minLength", Value::String(text)) => text.chars().count() as f64 >= limit.unwrap(),
            ("maxLength", Value::String(text)) => text.chars().count() as f64 <= limit.unwrap(),
            // The only pattern that is generated, in a needlessly escaped spelling.
            ("pattern", Value::String(text)) => text.starts_with('_'),
            ("items", Value::Array(items)) => items.iter().all(|one| self.accepts(rule, one)),
            ("minItems", Value::Array(items)) => items.len() as f64 >= limit.unwrap(),
            ("uniqueItems", Value::Array(items)) if rule == &Value::Bool(true) => (0..items.len())
                .all(|place| items[..place].iter().all(|one| !equal(one, &items[place]))),
            ("properties", Value::Object(members)) => members.iter().all(|(key, one)| {
                let schema = rule.get(key).filter(|schema| !is_read_only(schema));
                schema.is_none_or(|schema| self.accepts(schema, one))
            }),
            ("required", Value::Object(members)) => list().iter().all(|name| {
                let name = name.as_str().unwrap();
                let declared = map.get("properties").and_then(|all| all.get(name));
                declared.is_some_and(is_read_only) || members.contains_key(name)
            }),
            ("additionalProperties", Value::Object(members)) => members.iter().all(|(key, one)| {
                let declared = map.get("properties").and_then(|all| all.get(key));
                declared.is_some_and(|schema| !is_read_only(schema)) || self.accepts(rule, one)
            }),
            ("maxProperties", Value::Object(members)) => members.len() as f64 <= limit.unwrap(),
            ("allOf", _) => list().iter().all(|one| self.accepts(one, value)),
            ("anyOf", _) => list().iter().any(|one| self.accepts(one, value)),
            ("oneOf", _) => {
                let accepting = list().iter().filter(|one| self.accepts(one, value));
                accepting.count() == 1
            }
            ("not", _) => !self.accepts(rule, value),
            _ => true,
        }
    }
}

fn is_read_only(schema: &Value) -> bool {
    schema.get("readOnly") == Some(&Value::Bool(true))
}

fn is_of(name: &str, value: &Value) -> bool {
    match name {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        other => panic!("{other}"),
    }
}

fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(key, one)| right.get(key).is_some_and(|other| equal(one, other)))
        }
        _ => left == right,
    }
}

fn plain() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(1.0),
        json!(2.5),
        json!("a"),
        json!("_b"),
        json!("é_"),
    ])
}

fn value() -> impl Strategy<Value = Value> {
    plain().prop_recursive(3, 10, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(prop::sample::select(vec!["a", "b", "r"]), inner, 0..4)
                .prop_map(|all| json!(all)),
        ]
    })
}

/// Keywords about the value itself, in every spelling that a dialect has.
fn own_keywords(dialect: Dialect) -> BoxedStrategy<Map<String, Value>> {
    let types = prop::sample::select(vec![
        "string", "number", "integer", "boolean", "array", "object",
    ]);
    let kind = types.prop_map(|one| ("type".to_owned(), json!(one)));
    let null = match dialect {
        Dialect::Swagger => "x-nullable",
        _ => "nullable",
    };
    let limits = prop::sample::select(vec![
        ("minimum", json!(1)),
        ("maximum", json!(1)),
        ("minLength", json!(1)),
        ("maxLength", json!(1)),
        ("pattern", json!(r"^\_")),
        ("minItems", json!(1)),
        ("uniqueItems", json!(true)),
        ("maxProperties", json!(1)),
        ("description", json!("d")),
        ("example", json!(null)),
        ("x-own", json!({"type": "null"})),
        ("format", json!("int32")),
        (null, json!(true)),
        (null, json!(false)),
    ]);
    let sharp = match dialect {
        Dialect::Newer => vec![
            ("exclusiveMinimum", json!(1)),
            ("const", json!(1)),
            ("const", json!("a")),
            ("type", json!(["string", "null"])),
        ],
        _ => vec![
            ("exclusiveMinimum", json!(true)),
            ("exclusiveMaximum", json!(true)),
            ("exclusiveMinimum", json!(false)),
        ],
    };
    let sharp = prop::sample::select(sharp);
    let values =
        prop::collection::vec(value(), 1..4).prop_map(|all| ("enum".to_owned(), json!(all)));
    let named = |(name, value): (&str, Value)| (name.to_owned(), value);
    prop::collection::vec(
        prop_oneof![
            4 => kind,
            6 => limits.prop_map(named),
            2 => sharp.prop_map(named),
            1 => values,
        ],
        0..4,
    )
    .prop_map(|all| {
        let mut map = Map::new();
        map.extend(all);
        map
    })
    .prop_filter("values of the type", |map: &Map<String, Value>| {
        // A list whose values are of another type is read as what it can only have meant.
        let Some(Value::Array(values)) = map.get("enum") else {
            return true;
        };
        let kind = map.get("type").and_then(Value::as_str);
        kind.is_none_or(|kind| values.iter().all(|one| is_of(kind, one)))
    })
    .boxed()
}

fn schema(dialect: Dialect) -> impl Strategy<Value = Value> {
    let home = match dialect {
        Dialect::Swagger => "#/definitions/",
        _ => "#/components/schemas/",
    };
    let reference = (0..3).prop_map(move |place| {
        let mut map = Map::new();
        map.insert("$ref".into(), json!(format!("{home}S{place}")));
        map
    });
    let leaf = prop_oneof![3 => own_keywords(dialect), 1 => reference].prop_map(Value::Object);
    leaf.prop_recursive(3, 14, 3, move |inner| {
        let pair = prop::collection::vec(inner.clone(), 1..3);
        let lists = prop_oneof![Just("allOf"), Just("anyOf"), Just("oneOf")];
        let parts = prop_oneof![
            (lists, pair).prop_map(|(name, all)| json!({name: all})),
            inner.clone().prop_map(|one| json!({"not": one})),
            inner.clone().prop_map(|one| json!({"items": one})),
            inner
                .clone()
                .prop_map(|one| json!({"additionalProperties": one})),
            (inner.clone(), inner.clone(), any::<bool>(), any::<bool>()).prop_map(
                |(one, two, is_open, is_read_only)| {
                    let mut members = json!({"a": one, "b": two});
                    if is_read_only {
                        members["r"] = json!({"type": "string", "readOnly": true});
                    }
                    json!({"properties": members, "required": ["a", "r"], "additionalProperties": is_open})
                }
            ),
            inner.prop_map(move |one| json!({"$ref": format!("{home}S0"), "properties": {"a": one}})),
        ];
        (own_keywords(dialect), parts).prop_map(|(mut own, parts)| {
            for (name, value) in parts.as_object().unwrap() {
                own.insert(name.clone(), value.clone());
            }
            Value::Object(own)
        })
    })
}

fn document(dialect: Dialect, schema: &Value, components: &Map<String, Value>) -> Value {
    if dialect == Dialect::Swagger {
        return json!({"swagger": "2.0", "host": "h.test", "schemes": ["https"], "definitions": components, "paths": {"/a": {"post": {
            "parameters": [{"name": "body", "in": "body", "schema": {"type": "array", "items": schema}}], "responses": {},
        }}}});
    }
    let mut document = openapi(
        &json!({"/a": {"post": {"requestBody": {"content": {"application/json": {"schema":
        {"type": "array", "items": schema}}}}}}}),
    );
    if dialect == Dialect::Newer {
        document["openapi"] = json!("3.1.0");
    }
    document["components"] = json!({"schemas": components});
    document
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn published_schemas_accept_what_the_documents_accept(
        (dialect, schema, components) in prop_oneof![Just(Dialect::Swagger), Just(Dialect::Older), Just(Dialect::Newer)]
            .prop_flat_map(|dialect| (Just(dialect), schema(dialect), prop::collection::vec(own_keywords(dialect), 3))),
        values in prop::collection::vec(value(), 10),
    ) {
        let components: Map<String, Value> = components.into_iter().enumerate()
            .map(|(place, one)| (format!("S{place}"), Value::Object(one))).collect();
        let read = read_one(&document(dialect, &schema, &components));
        prop_assert_eq!(read.operations.len(), 1, "{:?}", read.findings());
        read.operations.iter().for_each(check_published);
        let input = &read.operations[0].definition.input_schema;
        let validator = jsonschema::draft202012::new(input).unwrap();
        let reading = Reading { dialect, components: &components };
        for value in values {
            let arguments = json!({"body": [value]});
            prop_assert_eq!(
                validator.is_valid(&arguments), reading.accepts(&schema, &value),
                "{:?} {} of {} as {}", dialect, value, schema, input
            );
        }
    }
}

/// A part of a body's root: members `a`, `b`, `c`, some of them required.
fn part(dialect: Dialect) -> impl Strategy<Value = Value> {
    let names = || prop::collection::btree_set(prop_oneof![Just("a"), Just("b"), Just("c")], 0..3);
    let members = prop::collection::vec(own_keywords(dialect), 3);
    (names(), names(), members).prop_map(|(declared, required, members)| {
        let members: Map<String, Value> = declared
            .iter()
            .zip(members)
            .map(|(name, schema)| ((*name).to_owned(), Value::Object(schema)))
            .collect();
        json!({"type": "object", "properties": members, "required": required})
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]

    /// A body that is flattened takes what its schema takes, as far as its members are declared or it is open.
    #[test]
    fn flattened_bodies_accept_what_the_documents_accept(
        (dialect, parts, first) in prop_oneof![Just(Dialect::Swagger), Just(Dialect::Older), Just(Dialect::Newer)]
            .prop_flat_map(|dialect| (Just(dialect), prop::collection::vec(part(dialect), 0..3), part(dialect))),
        is_shared in any::<bool>(),
        additional in prop::sample::select(vec![None, Some(json!(true)), Some(json!(false)), Some(json!({"type": "string"}))]),
        values in prop::collection::vec(prop::collection::btree_map(prop_oneof![Just("a"), Just("b"), Just("c"), Just("d")], value(), 0..4), 10),
    ) {
        let home = if dialect == Dialect::Swagger { "#/definitions/" } else { "#/components/schemas/" };
        let declared: std::collections::HashSet<String> = std::iter::once(&first).chain(&parts)
            .flat_map(|part| part["properties"].as_object().unwrap().keys().cloned()).collect();
        prop_assume!(!declared.is_empty());
        // What is required but nowhere declared is no argument, with a warning.
        let (mut first, mut parts) = (first, parts);
        for part in std::iter::once(&mut first).chain(&mut parts) {
            let required = part["required"].as_array_mut().unwrap();
            required.retain(|name| declared.contains(name.as_str().unwrap()));
        }
        let mut components = Map::new();
        let mut root = first.clone();
        if let (Some(additional), true) = (&additional, parts.is_empty()) {
            root["additionalProperties"] = additional.clone();
        }
        let mut all = Vec::new();
        for (place, part) in parts.iter().enumerate() {
            components.insert(format!("S{place}"), part.clone());
            all.push(if is_shared { json!({"$ref": format!("{home}S{place}")}) } else { part.clone() });
        }
        if !all.is_empty() {
            root["allOf"] = json!(all);
        }
        let mut document = document(dialect, &json!({}), &components);
        let operation = &mut document["paths"]["/a"]["post"];
        if dialect == Dialect::Swagger {
            operation["parameters"][0]["schema"] = root.clone();
        } else {
            operation["requestBody"]["content"]["application/json"]["schema"] = root.clone();
        }
        let read = read_one(&document);
        read.operations.iter().for_each(check_published);
        let input = &read.operations[0].definition.input_schema;
        let validator = jsonschema::draft202012::new(input).unwrap();
        let reading = Reading { dialect, components: &components };
        let is_open = parts.is_empty() && additional.is_some_and(|additional| additional != json!(false));
        for value in values {
            let value = json!(value);
            let names = value.as_object().unwrap().keys();
            let is_taken = is_open || names.into_iter().all(|name| declared.contains(name));
            prop_assert_eq!(
                validator.is_valid(&value), is_taken && reading.accepts(&root, &value),
                "{:?} {} of {} as {}", dialect, value, root, input
            );
        }
    }
}
