//! A JSON value as the parts that parameter styles write. Numbers keep their digits.

use std::borrow::Cow;

use serde_json::Value;

use crate::catalog::is_json_media_type;

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
///
/// A value of a `content` parameter is one text: JSON, or plain text, which only plain values have.
pub(super) fn parts<'a>(content_type: Option<&str>, value: &'a Value) -> Option<Parts<'a>> {
    match content_type {
        Some(json) if is_json_media_type(json) => {
            return Some(Parts::One(value.to_string().into()));
        }
        Some(_) => return plain(value).map(Parts::One),
        None => {}
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
