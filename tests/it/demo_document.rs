//! The shop's document as a value: read from YAML, references followed.

use axum::http::StatusCode;
use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value, json};

/// The document, whole.
pub(crate) fn document() -> Value {
    let mut events = Parser::new_from_str(sezzlee::demo::DOCUMENT).map(|event| event.unwrap().0);
    loop {
        match events.next().unwrap() {
            Event::StreamStart | Event::DocumentStart(_) => {}
            first => return value(first, &mut events),
        }
    }
}

/// One YAML node; the document has no anchors and no tags.
fn value<'a>(first: Event<'a>, events: &mut impl Iterator<Item = Event<'a>>) -> Value {
    match first {
        Event::Scalar(text, ScalarStyle::Plain, ..) => match text.as_ref() {
            "true" => json!(true),
            "false" => json!(false),
            "null" | "~" | "" => Value::Null,
            number => number
                .parse::<i64>()
                .map_or_else(|_| json!(number), Value::from),
        },
        Event::Scalar(text, ..) => json!(text),
        Event::SequenceStart(..) => {
            let mut items = Vec::new();
            loop {
                match events.next().unwrap() {
                    Event::SequenceEnd => return Value::Array(items),
                    item => items.push(value(item, events)),
                }
            }
        }
        Event::MappingStart(..) => {
            let mut members = Map::new();
            loop {
                match events.next().unwrap() {
                    Event::MappingEnd => return Value::Object(members),
                    Event::Scalar(key, ..) => {
                        let next = events.next().unwrap();
                        let before = members.insert(key.clone().into_owned(), value(next, events));
                        assert!(before.is_none(), "{key} stands twice");
                    }
                    other => panic!("a key is {other:?}"),
                }
            }
        }
        other => panic!("unexpected {other:?}"),
    }
}

/// One operation with the parameters of its path.
#[derive(Debug)]
pub(crate) struct Described {
    pub(crate) call: String,
    pub(crate) operation: Value,
    pub(crate) parameters: Vec<Value>,
}

/// Every operation, in document order.
pub(crate) fn operations(document: &Value) -> Vec<Described> {
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        let shared = item.get("parameters").and_then(Value::as_array);
        for (method, operation) in item.as_object().unwrap() {
            if method == "parameters" {
                continue;
            }
            let own = operation.get("parameters").and_then(Value::as_array);
            let parameters = shared.into_iter().chain(own).flatten();
            all.push(Described {
                call: format!("{} {path}", method.to_uppercase()),
                parameters: parameters
                    .map(|one| follow(document, one).clone())
                    .collect(),
                operation: operation.clone(),
            });
        }
    }
    all
}

/// The value a reference stands for, or the value itself.
pub(crate) fn follow<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value.get("$ref").and_then(Value::as_str) {
        Some(reference) => document
            .pointer(reference.strip_prefix('#').unwrap())
            .unwrap(),
        None => value,
    }
}

/// Holds an answer to what the document says of its operation and status.
pub(crate) fn check_answer(
    document: &Value,
    described: &Described,
    status: StatusCode,
    content_type: Option<&str>,
    body: &[u8],
) {
    let call = &described.call;
    let declared = described.operation["responses"].get(status.as_str());
    let declared =
        declared.unwrap_or_else(|| panic!("{call} answers {status}, which is not declared"));
    let Some(content) = follow(document, declared).get("content") else {
        assert!(
            body.is_empty(),
            "{call} {status} has a body nobody declared"
        );
        return;
    };
    // Two answers come with a body of another kind on purpose: that is what they are there for.
    let media_type = content_type.unwrap().split(';').next().unwrap();
    let media = content.get(media_type);
    let media =
        media.unwrap_or_else(|| panic!("{call} {status} is {media_type}, which is not declared"));
    if !media_type.ends_with("json") {
        return;
    }
    let body: Value = serde_json::from_slice(body).unwrap();
    let mut schema = media["schema"].clone();
    schema["components"] = document["components"].clone();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let faults: Vec<_> = validator
        .iter_errors(&body)
        .map(|fault| fault.to_string())
        .collect();
    assert!(faults.is_empty(), "{call} {status}: {faults:?}");
}
