//! However a document is cut into files, it says the same: its schemas in one file against the same in several,
//! with references written by a naive hand.

use std::fs;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use sezzlee::catalog::{Definition, FileLoader, ReadOptions, read};

const SCHEMAS: usize = 7;

/// The files schemas are put into; the first is the document.
const FILES: [&str; 5] = [
    "main.json",
    "a.json",
    "deep/b.json",
    "deep/er/c d.json",
    "other/e.yaml",
];

/// One schema, as the numbers of those it refers to.
#[derive(Debug, Clone)]
enum Shape {
    Text,
    Members(Vec<usize>),
    All(Vec<usize>),
    Alias(usize),
    List(usize),
}

fn shapes() -> impl Strategy<Value = Vec<(Shape, usize)>> {
    let number = 0..SCHEMAS;
    let numbers = || prop::collection::vec(0..SCHEMAS, 0..4);
    let shape = prop_oneof![
        Just(Shape::Text),
        numbers().prop_map(Shape::Members),
        numbers().prop_map(Shape::All),
        number.clone().prop_map(Shape::Alias),
        number.prop_map(Shape::List),
    ];
    prop::collection::vec((shape, 0..FILES.len()), SCHEMAS)
}

/// The way from one file to another, by going up all the way first.
fn way(from: &str, to: &str) -> String {
    let up = "../".repeat(from.matches('/').count());
    format!("{up}{}", to.replace(' ', "%20"))
}

/// Where a schema stands in its file.
fn home(file: usize, schema: usize) -> String {
    match file {
        0 => format!("/components/schemas/S{schema}"),
        _ => format!("/any~1where/default/S{schema}"),
    }
}

fn schema(shape: &Shape, from: usize, files: &[usize]) -> Value {
    let to = |&schema: &usize| {
        let file = files[schema];
        let way = if file == from {
            String::new()
        } else {
            way(FILES[from], FILES[file])
        };
        json!({"$ref": format!("{way}#{}", home(file, schema))})
    };
    match shape {
        Shape::Text => json!({"type": "string"}),
        Shape::Members(of) => {
            let members = of.iter().map(|number| (format!("m{number}"), to(number)));
            json!({"type": "object", "properties": members.collect::<Map<_, _>>()})
        }
        Shape::All(of) => json!({
            "type": "object", "properties": {"own": {"default": {"$ref": "data"}}},
            "allOf": of.iter().map(to).collect::<Vec<_>>(),
        }),
        Shape::Alias(of) => to(of),
        Shape::List(of) => json!({"type": "array", "items": to(of)}),
    }
}

/// What is published of the schemas in these files, and what is found wrong, without places.
fn published(shapes: &[(Shape, usize)], files: &[usize]) -> (Vec<Definition>, Vec<&'static str>) {
    let root = tempfile::tempdir().unwrap();
    let first = {
        let way = if files[0] == 0 { "" } else { FILES[files[0]] };
        json!({"$ref": format!("{}#{}", way.replace(' ', "%20"), home(files[0], 0))})
    };
    let content = json!({"application/json": {"schema": first}});
    let mut values = vec![json!({}); FILES.len()];
    values[0] = json!({"openapi": "3.1.0", "paths": {"/a": {
        "post": {"requestBody": {"content": content}},
        "get": {"responses": {"200": {"content": content}}},
    }}, "components": {"schemas": {}}});
    for (number, (shape, _)) in shapes.iter().enumerate() {
        let file = files[number];
        let made = schema(shape, file, files);
        let home = if file == 0 {
            &mut values[0]["components"]["schemas"]
        } else {
            &mut values[file]["any/where"]["default"]
        };
        home[format!("S{number}")] = made;
    }
    for (name, value) in FILES.iter().zip(&values) {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, value.to_string()).unwrap();
    }
    let source = root.path().join(FILES[0]).display().to_string();
    let mut list: Vec<sezzlee::catalog::Operation> = Vec::new();
    let report = read(&[source], &ReadOptions::default(), &FileLoader, &mut list).unwrap();
    let mut codes: Vec<_> = report
        .diagnostics
        .iter()
        .map(|one| one.code.as_str())
        .collect();
    codes.sort_unstable();
    let definitions = list.into_iter().map(|one| one.definition);
    (definitions.collect(), codes)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_document_in_several_files_says_what_it_says_in_one(shapes in shapes()) {
        let files: Vec<usize> = shapes.iter().map(|(_, file)| *file).collect();
        let (whole, of_whole) = published(&shapes, &[0; SCHEMAS]);
        let (split, of_split) = published(&shapes, &files);
        prop_assert_eq!(&whole, &split, "{:?}", of_split);
        prop_assert_eq!(of_whole, of_split);
        prop_assert!(!whole.is_empty());
    }
}
