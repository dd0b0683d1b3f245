//! The cases under `tests/cases` as data, as far as they are about documents: every expectation is checked
//! or belongs to the composing of requests, and an unknown one fails.

use serde_json::{Value, json};
use sezzlee::catalog::{Operation, ReadOptions, Severity};

use crate::catalog::{Outcome, read_one, read_sources};
use crate::catalog_schemas::check_published;

fn case(file: &str) -> Value {
    let path = format!("{}/tests/cases/{file}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read(path).unwrap();
    sezzlee::json::parse(&text, 200).unwrap().value
}

fn read_case(case: &Value) -> Outcome {
    let read = match case["input"].get("openapi_yaml") {
        Some(Value::String(yaml)) => {
            read_sources(&[("d.yaml", yaml.as_bytes())], &ReadOptions::default())
        }
        _ => read_one(&case["input"]["openapi"]),
    };
    read.operations.iter().for_each(check_published);
    read
}

/// Checks one expectation of an ingest case.
fn check(name: &str, want: &Value, case: &Value, read: &Outcome) {
    match name {
        "operations" => assert_eq!(json!(read.operations.len()), *want),
        "operations_served_at_least" => {
            assert!(read.operations.len() as u64 >= want.as_u64().unwrap());
        }
        "fatal" => assert_eq!(json!(read.report.is_fatal()), *want),
        "accepts" => values(want).for_each(|value| assert!(is_valid(only(read), value), "{value}")),
        "rejects" => {
            values(want).for_each(|value| assert!(!is_valid(only(read), value), "{value}"));
        }
        "names_unique" => {
            let distinct: std::collections::HashSet<_> = read.names().into_iter().collect();
            assert_eq!(distinct.len(), read.operations.len());
        }
        "names_match" => {
            assert_eq!(want, "^[a-z][a-z0-9_]{0,127}$");
            for name in read.names() {
                assert!(name.len() <= 128 && name.starts_with(|c: char| c.is_ascii_lowercase()));
                assert!(
                    name.bytes()
                        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_')
                );
            }
        }
        "stable_when_paths_reordered" => stable(case, read),
        "diagnostic" => assert!(
            read.report
                .diagnostics
                .iter()
                .any(|one| one.code.as_str() == want)
        ),
        "diagnostic_names_all_pointers" => values(want).for_each(|at| {
            let code = case["expected"]["diagnostic"].as_str().unwrap();
            assert!(
                read.findings()
                    .contains(&format!("warning {code} {}", at.as_str().unwrap()))
            );
        }),
        "input_schema_has_no_keyword" => {
            assert!(
                !only(read)
                    .definition
                    .input_schema
                    .to_string()
                    .contains(&format!("{want}:"))
            );
        }
        "operations_exposed" => {
            let names: Vec<_> = values(want).map(|id| snake(id.as_str().unwrap())).collect();
            assert_eq!(read.names(), names);
        }
        "operations_dropped" => values(want).for_each(|one| {
            let text = |member: &str| one[member].as_str().unwrap();
            assert!(read.findings().contains(&format!(
                "dropped {} {}",
                text("code"),
                text("pointer")
            )));
        }),
        "default" => properties(want, read, "default"),
        "enum" => properties(want, read, "enum"),
        "diagnostics" => values(want).for_each(|one| diagnostic(one, read)),
        // Held by `check_published`, or by the other expectations of the same case.
        "input_schema_serializable"
        | "all_local_refs_resolve"
        | "input_schema_valid_under"
        | "name_is_function_of"
        | "allowed"
        | "forbidden"
        | "response_key"
        | "error_if_value_changes_type"
        | "max_ingest_ms" => {}
        other => panic!("nobody checks {other}"),
    }
}

fn values(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().unwrap().iter()
}

fn only(read: &Outcome) -> &Operation {
    assert_eq!(read.operations.len(), 1);
    &read.operations[0]
}

fn is_valid(operation: &Operation, value: &Value) -> bool {
    let validator = jsonschema::draft202012::new(&operation.definition.input_schema).unwrap();
    validator.is_valid(value)
}

fn snake(id: &str) -> String {
    id.chars().fold(String::new(), |mut out, c| {
        if c.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
        out
    })
}

fn stable(case: &Value, read: &Outcome) {
    let mut document = case["input"]["openapi"].clone();
    let paths = document["paths"].as_object().unwrap().clone();
    document["paths"] = Value::Object(paths.into_iter().rev().collect());
    let again = read_one(&document);
    let mut names = again.names();
    let mut before = read.names();
    names.sort_unstable();
    before.sort_unstable();
    assert_eq!(names, before);
}

fn properties(want: &Value, read: &Outcome, keyword: &str) {
    for (name, value) in want.as_object().unwrap() {
        assert_eq!(
            only(read).definition.input_schema["properties"][name][keyword],
            *value
        );
    }
}

/// A diagnostic with its places. The cases name one code otherwise, and disagree whether a reference is at
/// its object or at its `$ref`; here it is at the object.
fn diagnostic(want: &Value, read: &Outcome) {
    let code = match want["code"].as_str().unwrap() {
        "unresolved_reference" => "unresolvable_ref",
        code => code,
    };
    let single = want.get("at").into_iter();
    for at in want
        .get("pointers")
        .into_iter()
        .flat_map(values)
        .chain(single)
    {
        let at = at.as_str().unwrap().trim_end_matches("/$ref");
        let found = read
            .report
            .diagnostics
            .iter()
            .find(|one| one.code.as_str() == code && one.at.as_str() == at);
        let found = found.unwrap_or_else(|| panic!("{code} {at}: {:?}", read.findings()));
        if let Some(Value::String(hint)) = want.get("hint") {
            let what = hint.trim_start_matches("a slash inside a component key ");
            assert!(found.message.contains(what), "{}", found.message);
        }
    }
}

#[test]
fn documents_are_read_as_expected() {
    for file in [
        "01-self-referencing-body",
        "03-no-operation-id",
        "05-ids-differ-only-in-punctuation",
        "07-nullable-input-and-nullable-false",
        "08-boolean-exclusive-maximum-30",
        "10-one-broken-operation",
        "12-yaml-dates-and-octal-keys",
        "41-duplicate-ids-and-dangling-pointers",
    ] {
        let case = case(file);
        let read = read_case(&case);
        for (name, want) in case["expected"].as_object().unwrap() {
            println!("{file}: {name}");
            check(name, want, &case, &read);
        }
    }
}

#[test]
fn operations_without_ids_are_named_by_method_and_route() {
    let read = read_case(&case("03-no-operation-id"));
    assert_eq!(
        read.names(),
        ["get_rows_by_row_id_trees", "add_tree", "get_root"]
    );
}

#[test]
fn colliding_ids_fall_back_to_method_and_route() {
    let read = read_case(&case("05-ids-differ-only-in-punctuation"));
    assert_eq!(read.names(), ["get_a", "get_b", "get_c"]);
    let read = read_case(&case("41-duplicate-ids-and-dangling-pointers"));
    assert_eq!(read.names(), ["get_flour", "husk"]);
    assert!(
        read.report
            .diagnostics
            .iter()
            .all(|one| one.severity < Severity::Fatal)
    );
}

#[test]
fn arrays_are_described_as_they_travel() {
    let read = read_case(&case("13-array-not-exploded"));
    let seen: Vec<_> = only(&read)
        .template
        .as_ref()
        .unwrap()
        .parameters
        .iter()
        .map(|one| format!("{} {:?} {}", one.name, one.style, one.explode))
        .collect();
    assert_eq!(
        seen,
        [
            "kinds Form false",
            "bins PipeDelimited false",
            "days Form true"
        ]
    );
}

#[test]
fn a_name_in_path_and_body_gives_two_arguments() {
    let read = read_case(&case("16-same-name-in-path-and-body"));
    let input = &only(&read).definition.input_schema;
    assert_eq!(input["properties"]["id"], json!({"type": "integer"}));
    assert_eq!(
        input["properties"]["body"]["properties"]["id"],
        json!({"type": "integer"})
    );
    assert_eq!(input["required"], json!(["id", "body"]));
}

#[test]
fn header_parameters_are_published_but_for_those_of_the_transport() {
    let case = case("18-header-parameters");
    let read = read_case(&case);
    let properties = only(&read).definition.input_schema["properties"]
        .as_object()
        .unwrap();
    let names: Vec<_> = properties.keys().cloned().collect();
    assert_eq!(json!(names), case["expected"]["published_arguments"]);
    let path = read_case(&self::case("15-path-value-cannot-leave-segment"));
    assert!(only(&path).template.as_ref().unwrap().parameters[0].required);
}
