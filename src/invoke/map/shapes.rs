//! The error bodies that are recognised (invoke.md, "Map"). Reads them, judges nothing: all text here is
//! still the backend's.

use serde_json::{Map, Value};

/// What an error body says, unfiltered.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    /// The sentence about the whole call.
    pub(super) message: Option<String>,
    /// Faults, at most [`FAULTS_MAX`]. Not empty: the backend gave field errors or a list of messages.
    pub(super) faults: Vec<Fault>,
    /// The id of a problem.
    pub(super) trace_id: Option<String>,
}

/// One fault of a list.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) field: Field,
    pub(super) message: String,
}

/// How the backend names the field.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// Not at all.
    None,
    /// As the message's first word, if that is a field.
    FirstWord,
    /// By a path written as text: `items[0].qty`, `$.qty`, `/data/attributes/qty`.
    Text(String),
    /// By a path in parts, after the place (`body`, `query`, …) where that is given.
    Parts {
        place: Option<String>,
        parts: Vec<String>,
    },
}

/// How many faults are read: an agent corrects a handful at a time.
const FAULTS_MAX: usize = 32;

/// How far error objects inside error objects are read.
const LEVELS_MAX: usize = 2;

/// Members that hold the sentence, the first that does wins.
const MESSAGES: [&str; 6] = [
    "message",
    "detail",
    "error_description",
    "error",
    "title",
    "reason",
];

/// Reads a JSON error body.
pub(super) fn read(body: &Value) -> Said {
    read_at(body, LEVELS_MAX)
}

fn read_at(body: &Value, levels_left: usize) -> Said {
    let mut said = match body {
        Value::String(text) => Said {
            message: sentence(text),
            ..Said::default()
        },
        Value::Array(items) => Said {
            faults: faults_of_list(items),
            ..Said::default()
        },
        Value::Object(object) => read_object(object, levels_left),
        _ => Said::default(),
    };
    said.faults.truncate(FAULTS_MAX);
    said
}

fn read_object(object: &Map<String, Value>, levels_left: usize) -> Said {
    let mut said = Said {
        message: MESSAGES
            .iter()
            .find_map(|name| object.get(*name).and_then(Value::as_str).and_then(sentence)),
        faults: faults(object),
        trace_id: object
            .get("traceId")
            .and_then(Value::as_str)
            .map(str::to_owned),
    };
    // `{"error": {"message": …}}` says the same one level down.
    if let (Some(inner @ Value::Object(_)), Some(levels_left)) =
        (object.get("error"), levels_left.checked_sub(1))
    {
        let inner = read_at(inner, levels_left);
        said.message = said.message.or(inner.message);
        said.trace_id = said.trace_id.or(inner.trace_id);
        if said.faults.is_empty() {
            said.faults = inner.faults;
        }
    }
    said
}

/// The faults of the first shape that has any.
fn faults(object: &Map<String, Value>) -> Vec<Fault> {
    let by_field = match object.get("errors") {
        Some(Value::Object(errors)) => faults_by_field(errors),
        // Problem details, JSON:API, and their relatives.
        Some(Value::Array(errors)) => faults_of_list(errors),
        _ => Vec::new(),
    };
    if !by_field.is_empty() {
        return by_field;
    }
    if let Some(Value::Array(messages)) = object.get("message") {
        let faults = faults_of_list(messages);
        if !faults.is_empty() {
            return faults;
        }
    }
    if let Some(Value::Array(details)) = object.get("detail") {
        let faults = faults_of_list(details);
        if !faults.is_empty() {
            return faults;
        }
    }
    // The same list under the other names it goes by, where its items name a field.
    [
        "invalid-params",
        "invalidParams",
        "violations",
        "issues",
        "details",
    ]
    .iter()
    .filter_map(|name| object.get(*name).and_then(Value::as_array))
    .map(|list| faults_of_list(list))
    .find(|faults| {
        faults
            .iter()
            .any(|fault| matches!(fault.field, Field::Text(_) | Field::Parts { .. }))
    })
    .unwrap_or_default()
}

/// `{"errors": {field: string | [string]}}`.
fn faults_by_field(errors: &Map<String, Value>) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (field, messages) in errors {
        let messages = match messages {
            Value::Array(messages) => messages.as_slice(),
            one => std::slice::from_ref(one),
        };
        for message in messages.iter().filter_map(message_of) {
            if faults.len() == FAULTS_MAX {
                return faults;
            }
            faults.push(Fault {
                field: Field::Text(field.clone()),
                message,
            });
        }
    }
    faults
}

fn faults_of_list(list: &[Value]) -> Vec<Fault> {
    list.iter()
        .filter_map(|item| {
            let field = match item {
                Value::Object(item) => field_of(item),
                _ => Field::FirstWord,
            };
            Some(Fault {
                field,
                message: message_of(item)?,
            })
        })
        .take(FAULTS_MAX)
        .collect()
}

/// The text of one fault: a string, or the object's own.
fn message_of(item: &Value) -> Option<String> {
    const NAMES: [&str; 9] = [
        "msg",
        "message",
        "detail",
        "description",
        "reason",
        "title",
        "error",
        "errorMessage",
        "defaultMessage",
    ];
    match item {
        Value::String(text) => sentence(text),
        Value::Object(item) => NAMES
            .iter()
            .find_map(|name| item.get(*name).and_then(Value::as_str).and_then(sentence)),
        _ => None,
    }
}

/// How an item of a list names its field.
fn field_of(item: &Map<String, Value>) -> Field {
    // FastAPI and zod: a path in parts.
    for name in ["loc", "path"] {
        if let Some(Value::Array(parts)) = item.get(name) {
            return parts_of(parts);
        }
    }
    // JSON:API.
    if let Some(Value::Object(source)) = item.get("source") {
        let named = ["pointer", "parameter", "header"]
            .iter()
            .find_map(|name| source.get(*name).and_then(Value::as_str));
        if let Some(text) = named {
            return Field::Text(text.to_owned());
        }
    }
    [
        "pointer",
        "field",
        "parameter",
        "param",
        "property",
        "propertyName",
        "propertyPath",
        "path",
        "name",
    ]
    .iter()
    .find_map(|name| item.get(*name).and_then(Value::as_str))
    .filter(|text| !text.is_empty())
    .map_or(Field::None, |text| Field::Text(text.to_owned()))
}

fn parts_of(parts: &[Value]) -> Field {
    let mut texts: Vec<String> = parts
        .iter()
        .filter_map(|part| match part {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        })
        .collect();
    let placed = texts.first().is_some_and(|first| {
        matches!(
            first.as_str(),
            "body" | "query" | "path" | "header" | "cookie"
        )
    });
    let place = (placed && texts.len() > 1).then(|| texts.remove(0));
    Field::Parts {
        place,
        parts: texts,
    }
}

/// A text that says something.
fn sentence(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(name: &str) -> Field {
        Field::Text(name.to_owned())
    }

    fn parts(place: Option<&str>, parts: &[&str]) -> Field {
        Field::Parts {
            place: place.map(str::to_owned),
            parts: parts.iter().map(|&part| part.to_owned()).collect(),
        }
    }

    #[track_caller]
    fn check(body: &Value, message: Option<&str>, faults: &[(Field, &str)]) {
        let said = read(body);
        assert_eq!(said.message.as_deref(), message, "{body}");
        let found: Vec<_> = said
            .faults
            .iter()
            .map(|fault| (&fault.field, fault.message.as_str()))
            .collect();
        let want: Vec<_> = faults.iter().map(|(field, text)| (field, *text)).collect();
        assert_eq!(found, want, "{body}");
    }

    #[test]
    fn every_shape_is_recognised() {
        check(
            &json!({"errors": {"qty": ["a", "b"], "Id": "c"}, "title": "t"}),
            Some("t"),
            &[(text("qty"), "a"), (text("qty"), "b"), (text("Id"), "c")],
        );
        check(
            &json!({"type": "about:blank", "title": "Bad", "detail": "d", "errors": [
                {"detail": "must be positive", "pointer": "#/qty"}]}),
            Some("d"),
            &[(text("#/qty"), "must be positive")],
        );
        check(
            &json!({"message": ["qty must be positive", "x"], "error": "Bad Request"}),
            Some("Bad Request"),
            &[
                (Field::FirstWord, "qty must be positive"),
                (Field::FirstWord, "x"),
            ],
        );
        check(
            &json!({"detail": [{"loc": ["body", "items", 0, "qty"], "msg": "m", "type": "t"}]}),
            None,
            &[(parts(Some("body"), &["items", "0", "qty"]), "m")],
        );
        check(
            &json!({"errors": [{"title": "t", "detail": "d", "source": {"pointer": "/data/attributes/qty"}},
                {"title": "p", "source": {"parameter": "limit"}}]}),
            None,
            &[(text("/data/attributes/qty"), "d"), (text("limit"), "p")],
        );
        check(
            &json!({"invalid-params": [{"name": "qty", "reason": "r"}], "title": "t"}),
            Some("t"),
            &[(text("qty"), "r")],
        );
        check(
            &json!({"details": ["plain", "words"], "message": "m"}),
            Some("m"),
            &[],
        );
        check(
            &json!({"error": {"message": "m", "errors": [{"field": "qty", "message": "f"}]}}),
            Some("m"),
            &[(text("qty"), "f")],
        );
        check(&json!("no"), Some("no"), &[]);
        check(
            &json!({"error": {"error": {"error": {"message": "deep"}}}}),
            None,
            &[],
        );
        for (body, want) in [
            (json!({"message": "a", "detail": "b"}), "a"),
            (json!({"title": "t", "detail": "b"}), "b"),
            (
                json!({"error": "invalid_grant", "error_description": "d"}),
                "d",
            ),
            (json!({"error": "e", "title": "t"}), "e"),
            (json!({"reason": "r", "title": " "}), "r"),
            (json!({"message": 7, "title": "t"}), "t"),
        ] {
            check(&body, Some(want), &[]);
        }
        for body in [
            json!(null),
            json!(7),
            json!({}),
            json!([]),
            json!({"errors": []}),
        ] {
            check(&body, None, &[]);
        }
    }

    #[test]
    fn long_lists_are_cut() {
        let messages: Vec<Value> = (0..1000)
            .map(|number| json!(format!("m{number}")))
            .collect();
        assert_eq!(
            read(&json!({ "message": messages })).faults.len(),
            FAULTS_MAX
        );
        let by_field: Map<String, Value> = (0..1000)
            .map(|number| (format!("f{number}"), json!(["a", "b"])))
            .collect();
        assert_eq!(
            read(&json!({ "errors": by_field })).faults.len(),
            FAULTS_MAX
        );
    }
}
