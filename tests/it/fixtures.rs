//! The fixture files: tokens, cards, versions.

use serde_json::Value;
use sezzlee::catalog::{Annotations, Card, Definition};

pub(crate) fn cases(file: &str) -> Vec<Value> {
    let path = format!("{}/tests/fixtures/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read(path).unwrap();
    let all = sezzlee::json::parse(&text, 100).unwrap().value;
    let cases = all["cases"].as_array().unwrap().clone();
    assert!(!cases.is_empty());
    cases
}

pub(crate) fn definition(tool: &Value) -> Definition {
    Definition {
        name: tool["name"].as_str().unwrap().into(),
        description: tool["description"].as_str().unwrap().into(),
        input_schema: tool["inputSchema"].clone(),
        output_schema: tool.get("outputSchema").cloned(),
        annotations: Annotations(tool["annotations"].as_object().cloned().unwrap_or_default()),
        deprecated: tool.get("deprecated") == Some(&Value::Bool(true)),
    }
}

#[test]
fn tokens() {
    for case in cases("tokens.json") {
        let input = case["input"].as_str().unwrap();
        assert_eq!(
            Value::from(sezzlee::text::tokens(input)),
            case["expected"],
            "{input}"
        );
        assert_eq!(
            Value::from(sezzlee::text::fold(input)),
            case["folded"],
            "{input}"
        );
    }
}

#[test]
fn versions() {
    for case in cases("version.json") {
        let version = definition(&case["input"]).version();
        assert_eq!(
            Value::from(version),
            case["expected"],
            "{}",
            case["description"]
        );
    }
}

#[test]
fn card_texts() {
    for case in cases("card.json") {
        let card = Card::of(&definition(&case["input"]["tool"]));
        let card = serde_json::to_value(card).unwrap();
        for member in ["name", "description", "parameters"] {
            assert_eq!(
                card[member], case["expected"][member],
                "{}",
                case["description"]
            );
        }
    }
}
