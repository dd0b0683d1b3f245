//! A JSON value as the parts that parameter styles write. Numbers keep their digits.

use std::borrow::Cow;

use serde_json::Value;

use crate::catalog::Parameter;

/// A value taken apart, ready for a style.
#[derive(Debug)]
pub(super) enum Parts<'a> {
    /// One text.
    One(Cow<'a, str>),
    /// The items of a list; may be empty.
    List(Vec<Cow<'a, str>>),
    /// The members of an object; may be empty.
    Members(Vec<(&'a str, Cow<'a, str>)>),
}

/// Why a value has no wire form outside a body.
pub(super) const NESTED: &str = "holds null, a list or an object inside; only plain values can be sent in a list or object here";

/// Takes a value apart; `None` when something inside is not plain. Null itself is not plain.
pub(super) fn parts<'a>(parameter: &Parameter, value: &'a Value) -> Option<Parts<'a>> {
    if parameter.content_type.as_deref().is_some_and(is_json) {
        return Some(Parts::One(value.to_string().into()));
    }
    match value {
        Value::Array(items) => items
            .iter()
            .map(plain)
            .collect::<Option<_>>()
            .map(Parts::List),
        Value::Object(members) => members
            .iter()
            .map(|(key, member)| Some((key.as_str(), plain(member)?)))
            .collect::<Option<_>>()
            .map(Parts::Members),
        single => plain(single).map(Parts::One),
    }
}

/// The text of a string, number or boolean.
pub(super) fn plain(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(text.as_str().into()),
        Value::Number(number) => Some(number.to_string().into()),
        Value::Bool(true) => Some("true".into()),
        Value::Bool(false) => Some("false".into()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Whether a media type is written as JSON; `*/*` and `application/*` count (ingestion.md, "Arguments").
pub(super) fn is_json(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    let essence = essence.to_ascii_lowercase();
    matches!(
        essence.as_str(),
        "application/json" | "*/*" | "application/*"
    ) || essence.ends_with("+json")
        || essence.ends_with("/json")
}

/// The parts of a list or an object in the order that unexploded styles write them: `a,b` or `k,v,k,v`.
pub(super) fn flat<'a>(parts: &'a Parts<'a>) -> Vec<&'a str> {
    match parts {
        Parts::One(text) => vec![text],
        Parts::List(items) => items.iter().map(AsRef::as_ref).collect(),
        Parts::Members(members) => members
            .iter()
            .flat_map(|(key, text)| [*key, text.as_ref()])
            .collect(),
    }
}
