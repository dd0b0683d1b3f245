//! What the targets share: documents held in memory, and what must hold of whatever was read.
#![allow(dead_code, reason = "each target uses a part of it")]

use std::collections::{HashMap, HashSet};
use std::io::{Cursor, Read};

use serde_json::Value;
use sezzlee::catalog::{
    LoadError, Loader, Operation, ReadOptions, Report, Sink, SinkError, SourceTarget, read,
};

/// Sources by name; nothing else exists.
pub struct Memory(HashMap<String, Vec<u8>>);

impl Loader for Memory {
    fn open(
        &self,
        target: &SourceTarget,
        _bytes_max: Option<u64>,
    ) -> Result<Box<dyn Read + Send>, LoadError> {
        let name = match target {
            SourceTarget::File(path) => path.to_string_lossy().into_owned(),
            SourceTarget::Url(url) => url.to_string(),
        };
        match self.0.get(&name) {
            Some(bytes) => Ok(Box::new(Cursor::new(bytes.clone()))),
            None => Err(LoadError::Refused("there is no such source".to_owned())),
        }
    }
}

#[derive(Default)]
struct List(Vec<Operation>);

impl Sink for List {
    fn operation(&mut self, operation: Operation) -> Result<u32, SinkError> {
        self.0.push(operation);
        Ok(u32::try_from(self.0.len() - 1).unwrap())
    }

    fn rename(&mut self, ordinal: u32, name: &str) -> Result<(), SinkError> {
        name.clone_into(&mut self.0[ordinal as usize].definition.name);
        Ok(())
    }
}

/// Reads sources and holds what came of them to everything that must be so.
pub fn read_checked(sources: &[(&str, &[u8])]) -> (Vec<Operation>, Report) {
    let (operations, report) = read_once(sources);
    let counts = report.counts;
    assert_eq!(
        counts.selected,
        counts.published + counts.dropped,
        "{report:?}"
    );
    assert!(counts.found >= counts.selected, "{report:?}");
    assert_eq!(counts.published, operations.len() as u64);
    let mut names = HashSet::new();
    for operation in &operations {
        let name = &operation.definition.name;
        assert!(names.insert(name), "{name:?} is published twice");
        if operation.template.is_some() {
            assert!((1..=256).contains(&name.chars().count()), "{name:?}");
        }
        check_published(operation);
    }
    for found in &report.diagnostics {
        let documented = found.code.explanation().unwrap().severities();
        assert!(
            documented.contains(&found.severity),
            "not documented: {found}"
        );
        assert!(found.message.len() > 10, "{found}");
        let Some((_, bytes)) = sources.iter().find(|(name, _)| *name == found.document) else {
            continue;
        };
        if !found.at.as_str().is_empty() {
            assert!(found.line.is_some() && found.column.is_some(), "{found}");
        }
        let lines = bytes
            .iter()
            .filter(|byte| matches!(byte, b'\n' | b'\r'))
            .count() as u64;
        assert!(found.line.unwrap_or(1) <= lines + 1, "{found}");
        assert!(
            found.column.unwrap_or(1) <= bytes.len() as u64 + 1,
            "{found}"
        );
    }
    // The same again, to the byte.
    let (again, report_again) = read_once(sources);
    assert_eq!(operations, again);
    assert_eq!(report.diagnostics, report_again.diagnostics);
    (operations, report)
}

fn read_once(sources: &[(&str, &[u8])]) -> (Vec<Operation>, Report) {
    let names: Vec<String> = sources.iter().map(|(name, _)| (*name).to_owned()).collect();
    let all = sources
        .iter()
        .map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec()));
    let options = ReadOptions {
        threads: Some(1),
        ..ReadOptions::default()
    };
    let mut list = List::default();
    let report = read(&names, &options, &Memory(all.collect()), &mut list).unwrap();
    (list.0, report)
}

/// Every schema of a document's operation is valid 2020-12, of an object, and every reference in it resolves.
pub fn check_published(operation: &Operation) {
    let definition = &operation.definition;
    let schemas = [
        Some(&definition.input_schema),
        definition.output_schema.as_ref(),
    ];
    for schema in schemas.into_iter().flatten() {
        if let Err(error) = jsonschema::draft202012::meta::validate(schema) {
            panic!("{}: {error}: {schema}", definition.name);
        }
        assert_eq!(schema["type"], "object", "{}", definition.name);
        check_references(schema, schema);
    }
}

/// Looks at schemas only: an example may hold a `$ref` that is none.
fn check_references(root: &Value, schema: &Value) {
    let Value::Object(map) = schema else { return };
    if let Some(Value::String(reference)) = map.get("$ref") {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(
            root.pointer(pointer).is_some(),
            "{reference} leads nowhere in {root}"
        );
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

/// JSON of any shape, as random as its bytes, with names and texts that matter to documents among the others.
pub mod random {
    use arbitrary::{Result, Unstructured};
    use serde_json::{Map, Value, json};

    /// One of a list.
    pub fn one<'l>(u: &mut Unstructured<'_>, list: &[&'l str]) -> Result<&'l str> {
        u.choose(list).copied()
    }

    /// A scalar.
    pub fn scalar(u: &mut Unstructured<'_>) -> Result<Value> {
        Ok(match u.int_in_range(0..=9)? {
            0 => Value::Null,
            1 => json!(u.arbitrary::<bool>()?),
            2 => json!(u.arbitrary::<i64>()?),
            3 => json!(
                u.arbitrary::<f64>()
                    .map(|one| if one.is_finite() { one } else { 0.5 })?
            ),
            4 => json!(u.int_in_range(0..=3)?),
            5 => json!(one(
                u,
                &[
                    "",
                    ".",
                    "..",
                    "a/b",
                    "a&b=c#d+e",
                    "\r\nx: y",
                    "ü",
                    "%2F",
                    "\0"
                ]
            )?),
            6 => json!(one(
                u,
                &[
                    "string", "object", "array", "integer", "number", "boolean", "null", "file"
                ]
            )?),
            7 => json!(one(u, TARGETS)?),
            _ => json!(u.arbitrary::<&str>()?),
        })
    }

    /// Where references lead in the documents that are made here, rightly and wrongly.
    pub const TARGETS: &[&str] = &[
        "#/components/schemas/A",
        "#/components/schemas/B",
        "#/components/schemas/C",
        "#/components/parameters/A",
        "#/components/parameters/B",
        "#/components/requestBodies/A",
        "#/components/responses/A",
        "#/components/responses/B",
        "#/components/pathItems/A",
        "#/components/schemas/A/properties/a",
        "#/components/schemas/A/items",
        "#/components/schemas/A/allOf/0",
        "#/definitions/A",
        "#/paths/~1a",
        "#/paths/~1a/get",
        "#/paths/~1a~1{a}/post/requestBody",
        "#",
        "#/",
        "#a",
        "#/components/schemas/Nowhere",
        "b.yaml",
        "b.yaml#/a",
        "../c.json#/x",
        "https://h.test/d.json#/a",
        "#/components/schemas/A%2Fb",
        "#/components/schemas",
        "",
    ];

    /// Any JSON.
    pub fn value(u: &mut Unstructured<'_>, levels: usize) -> Result<Value> {
        if levels == 0 || u.is_empty() {
            return scalar(u);
        }
        Ok(match u.int_in_range(0..=3)? {
            0 => Value::Array(list(u, |u| value(u, levels - 1))?),
            1 => {
                let mut map = Map::new();
                for _ in 0..u.int_in_range(0..=3)? {
                    let key = one(
                        u,
                        &[
                            "a",
                            "b",
                            "$ref",
                            "type",
                            "",
                            "x-a",
                            "properties",
                            "a/b",
                            "~",
                        ],
                    )?;
                    map.insert(key.to_owned(), value(u, levels - 1)?);
                }
                Value::Object(map)
            }
            _ => scalar(u)?,
        })
    }

    /// Up to three of something.
    pub fn list<T>(
        u: &mut Unstructured<'_>,
        mut make: impl FnMut(&mut Unstructured<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let count = u.int_in_range(0..=3)?;
        (0..count).map(|_| make(u)).collect()
    }

    /// A schema of any dialect, mostly well-formed.
    pub fn schema(u: &mut Unstructured<'_>, levels: usize) -> Result<Value> {
        if levels == 0 || u.is_empty() {
            return Ok(json!({}));
        }
        if u.ratio(1, 30)? {
            return value(u, 2);
        }
        if u.ratio(1, 6)? {
            let mut map = Map::new();
            map.insert("$ref".to_owned(), json!(one(u, TARGETS)?));
            if u.ratio(1, 3)? {
                keyword(u, levels, &mut map)?;
            }
            return Ok(Value::Object(map));
        }
        let mut map = Map::new();
        for _ in 0..u.int_in_range(0..=5)? {
            keyword(u, levels, &mut map)?;
        }
        Ok(Value::Object(map))
    }

    fn keyword(
        u: &mut Unstructured<'_>,
        levels: usize,
        map: &mut Map<String, Value>,
    ) -> Result<()> {
        let (name, member) = match u.int_in_range(0..=9)? {
            0 => (
                "type",
                json!(one(
                    u,
                    &[
                        "string", "object", "array", "integer", "null", "file", "any", ""
                    ]
                )?),
            ),
            1 => {
                let name = one(
                    u,
                    &[
                        "properties",
                        "patternProperties",
                        "$defs",
                        "definitions",
                        "dependentSchemas",
                    ],
                )?;
                let mut members = Map::new();
                for _ in 0..u.int_in_range(0..=3)? {
                    let key = one(u, &["a", "b", "c", "body", "$ref", "a/b", "", "~", "ü"])?;
                    members.insert(key.to_owned(), schema(u, levels - 1)?);
                }
                (name, Value::Object(members))
            }
            2 => {
                let name = one(u, &["allOf", "oneOf", "anyOf", "prefixItems", "items"])?;
                (name, Value::Array(list(u, |u| schema(u, levels - 1))?))
            }
            3 => {
                let name = one(
                    u,
                    &[
                        "items",
                        "additionalProperties",
                        "not",
                        "if",
                        "then",
                        "else",
                        "contains",
                        "propertyNames",
                        "unevaluatedProperties",
                        "unevaluatedItems",
                        "additionalItems",
                        "contentSchema",
                    ],
                )?;
                (name, schema(u, levels - 1)?)
            }
            4 => {
                let name = one(
                    u,
                    &[
                        "nullable",
                        "readOnly",
                        "writeOnly",
                        "deprecated",
                        "exclusiveMinimum",
                        "exclusiveMaximum",
                        "additionalProperties",
                        "uniqueItems",
                        "$recursiveAnchor",
                    ],
                )?;
                (name, json!(u.arbitrary::<bool>()?))
            }
            5 => {
                let name = one(
                    u,
                    &[
                        "minimum",
                        "maximum",
                        "exclusiveMinimum",
                        "multipleOf",
                        "minLength",
                        "maxItems",
                        "minProperties",
                    ],
                )?;
                (name, json!(u.int_in_range(-2..=9)?))
            }
            6 => (
                "required",
                json!(list(u, |u| one(u, &["a", "b", "c", "z"]))?),
            ),
            7 => {
                let name = one(
                    u,
                    &[
                        "enum",
                        "examples",
                        "const",
                        "default",
                        "example",
                        "discriminator",
                        "xml",
                    ],
                )?;
                (name, value(u, 2)?)
            }
            8 => {
                let name = one(
                    u,
                    &[
                        "$anchor",
                        "$dynamicAnchor",
                        "$id",
                        "$schema",
                        "$dynamicRef",
                        "$recursiveRef",
                        "pattern",
                        "format",
                        "title",
                        "description",
                        "contentEncoding",
                        "x-a",
                    ],
                )?;
                (name, scalar(u)?)
            }
            _ => (
                one(
                    u,
                    &[
                        "type",
                        "required",
                        "properties",
                        "items",
                        "enum",
                        "allOf",
                        "$ref",
                    ],
                )?,
                value(u, 2)?,
            ),
        };
        map.insert(name.to_owned(), member);
        Ok(())
    }
}
