//! JSON bodies: members in the schema's order, or one whole argument. Digits and nested values untouched.

use crate::http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use bytes::Bytes;
use serde_json::{Map, Value};

use super::fault::{null_not_allowed, uncomposable};
use super::names;
use super::value::is_json;
use crate::catalog::{Body, BodyShape, Member, RequestTemplate};
use crate::invoke::ArgumentError;

/// Composes the body and its Content-Type, when there is one to send.
pub(super) fn compose(
    template: &RequestTemplate,
    arguments: &Map<String, Value>,
    headers: &mut HeaderMap,
) -> Result<Option<Bytes>, ArgumentError> {
    let Some(body) = &template.body else {
        return Ok(None);
    };
    if !is_json(&body.media_type) {
        return Err(uncomposable(
            "its body is of a media type that is not written yet; only JSON is",
        ));
    }
    let Some(value) = value(template, body, arguments)? else {
        return Ok(None);
    };
    headers.insert(CONTENT_TYPE, content_type(body)?);
    Ok(Some(value.to_string().into()))
}

fn content_type(body: &Body) -> Result<HeaderValue, ArgumentError> {
    if body.media_type.contains('*') {
        return Ok(HeaderValue::from_static("application/json"));
    }
    HeaderValue::from_str(&body.media_type)
        .map_err(|_| uncomposable("its body's media type cannot be sent"))
}

fn value(
    template: &RequestTemplate,
    body: &Body,
    arguments: &Map<String, Value>,
) -> Result<Option<Value>, ArgumentError> {
    let (members, open) = match &body.shape {
        BodyShape::Whole(member) => return given(member, arguments).map(Option::<&Value>::cloned),
        BodyShape::Members { members, open } => (members, *open),
    };
    let mut object = Map::new();
    for member in members {
        if let Some(value) = given(member, arguments)? {
            object.insert(member.name.clone(), value.clone());
        }
    }
    if open {
        let known = names::names(template);
        for (name, value) in arguments {
            if !known.contains(&name.as_str()) {
                object.insert(name.clone(), value.clone());
            }
        }
    }
    let sent = body.required || !object.is_empty();
    Ok(sent.then_some(Value::Object(object)))
}

fn given<'a>(
    member: &Member,
    arguments: &'a Map<String, Value>,
) -> Result<Option<&'a Value>, ArgumentError> {
    match arguments.get(&member.argument) {
        Some(Value::Null) if !member.nullable => Err(null_not_allowed(&member.argument)),
        given => Ok(given),
    }
}
