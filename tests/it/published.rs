//! What is published beside the code agrees with it: the table of error codes, the shape of a definition.

use serde_json::{Value, json};
use sezzlee::catalog::Definition;
use sezzlee::contract::Code;

use crate::fixtures::{cases, definition};

fn read(file: &str) -> String {
    std::fs::read_to_string(format!("{}/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Adding a code: add its row to `docs/errors.md`, at the same place, with the words of the code's comment.
#[test]
fn the_error_page_has_every_code_in_order() {
    let page = read("docs/errors.md");
    let rows: Vec<Vec<&str>> = page
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect();
    let codes: Vec<_> = rows.iter().map(|row| row[0].trim_matches('`')).collect();
    let expected: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(codes, expected);
    for (row, code) in rows.iter().zip(Code::ALL) {
        let name = code.as_str();
        assert_eq!(row.len(), 4, "{name}");
        assert_eq!(
            row[1],
            if code.retryable() { "yes" } else { "no" },
            "{name}"
        );
        assert_eq!(row[2], code.meaning(), "{name}");
        assert!(
            row[3].ends_with('.') && row[3].len() > 10,
            "{name} says nothing to do"
        );
    }
}

fn shape() -> (Value, jsonschema::Validator) {
    let shape: Value =
        serde_json::from_str(&read("index-schema/tool-definition.schema.json")).unwrap();
    let validator = jsonschema::draft202012::new(&shape).unwrap();
    (shape, validator)
}

/// A definition as it is answered.
fn answered(definition: &Definition) -> Value {
    let mut object = definition.to_object();
    object.insert("version".into(), json!(definition.version()));
    Value::Object(object)
}

#[test]
fn the_published_shape_is_a_schema_and_definitions_fit_it() {
    let (shape, validator) = shape();
    assert!(jsonschema::meta::is_valid(&shape));
    for case in cases("version.json") {
        let answer = answered(&definition(&case["input"]));
        let faults: Vec<_> = validator
            .iter_errors(&answer)
            .map(|fault| fault.to_string())
            .collect();
        assert!(faults.is_empty(), "{}: {faults:?}", case["description"]);
    }
}

#[test]
fn the_published_shape_is_strict() {
    let (_, validator) = shape();
    let fine = json!({
        "name": "get_order", "description": "", "annotations": {"title": "Order", "readOnlyHint": true},
        "inputSchema": {"type": "object", "properties": {"id": {"type": "integer"}, "any": true}, "required": ["id"]},
        "outputSchema": {"type": "object", "$defs": {"A": {"$ref": "#/$defs/A"}}},
        "deprecated": true, "authUncertain": true, "version": "6361f59c4d6b968c",
    });
    assert!(validator.is_valid(&fine));
    for (pointer, value) in [
        ("/name", json!("")),
        ("/name", json!("a\nb")),
        ("/name", json!("n".repeat(257))),
        ("/description", json!(null)),
        ("/annotations/readOnlyHint", json!(false)),
        ("/annotations/title", json!(1)),
        ("/annotations", json!(null)),
        ("/annotations", json!({"scopes": ["a"]})),
        ("/inputSchema", json!(true)),
        ("/inputSchema", json!({})),
        ("/inputSchema", json!({"type": ["object"]})),
        ("/inputSchema/properties", json!([])),
        ("/inputSchema/properties/id", json!("integer")),
        ("/inputSchema/properties/id/type", json!("whole")),
        ("/inputSchema/required", json!("id")),
        ("/outputSchema/type", json!("array")),
        ("/deprecated", json!(false)),
        ("/authUncertain", json!(false)),
        ("/version", json!("6361F59C4D6B968C")),
        ("/version", json!("6361f59c4d6b968")),
    ] {
        let mut broken = fine.clone();
        *broken.pointer_mut(pointer).unwrap() = value.clone();
        assert!(!validator.is_valid(&broken), "{pointer} = {value}");
    }
    for member in [
        "name",
        "description",
        "inputSchema",
        "annotations",
        "version",
    ] {
        let mut broken = fine.clone();
        broken.as_object_mut().unwrap().remove(member);
        assert!(!validator.is_valid(&broken), "without {member}");
    }
    let mut broken = fine;
    broken["route"] = json!("/orders/{id}");
    assert!(!validator.is_valid(&broken), "a member more");
}
