//! Bodies of every kind: JSON, forms, multipart, text, files. Digits and nested values untouched.

use std::collections::HashSet;

use crate::http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use bytes::Bytes;
use serde_json::{Map, Value};

use super::fault::{about, null_not_allowed, uncomposable};
use super::fields::{Entries, fault};
use super::file::{self, Inline};
use super::{form, multipart, names, value};
use crate::catalog::{Body, BodyShape, Fields, Member, RequestTemplate, is_json_media_type};
use crate::invoke::{ArgumentError, ArgumentFault};

/// Composes the body and its Content-Type, when there is one to send.
pub(super) fn compose(
    template: &RequestTemplate,
    arguments: &Map<String, Value>,
    inline: Inline,
    headers: &mut HeaderMap,
) -> Result<Option<Bytes>, ArgumentError> {
    let Some(body) = &template.body else {
        return Ok(None);
    };
    let composed = match &body.shape {
        BodyShape::Members { members, open } => {
            members_text(template, body, (members, *open), arguments)?
        }
        BodyShape::Whole(member) => {
            check_json(body)?;
            given(member, arguments)?.map(|value| (value.to_string().into(), sent_type(body)))
        }
        BodyShape::Form(fields) => gathered(template, body, fields, arguments, inline)?
            .map(|entries| {
                let text = form::write(&entries.list)?;
                Ok((text.into(), body.media_type.clone()))
            })
            .transpose()?,
        BodyShape::Multipart(fields) => gathered(template, body, fields, arguments, inline)?
            .map(|entries| {
                let written = multipart::write(&entries.list)?;
                let media_type = format!("multipart/form-data; boundary={}", written.boundary);
                Ok((written.bytes.into(), media_type))
            })
            .transpose()?,
        BodyShape::File {
            member,
            content_types,
        } => file_bytes(body, member, content_types, arguments, inline)?,
        BodyShape::Text(member) => text(body, member, arguments)?,
    };
    let Some((bytes, media_type)) = composed else {
        return Ok(None);
    };
    let media_type = HeaderValue::from_str(&media_type)
        .map_err(|_| uncomposable("its body's media type cannot be sent"))?;
    headers.insert(CONTENT_TYPE, media_type);
    Ok(Some(bytes))
}

/// A body with what its Content-Type says.
type Composed = Option<(Bytes, String)>;

fn check_json(body: &Body) -> Result<(), ArgumentError> {
    if is_json_media_type(&body.media_type) {
        return Ok(());
    }
    Err(uncomposable(
        "its body is a JSON value of a media type that is not JSON",
    ))
}

fn sent_type(body: &Body) -> String {
    if body.media_type.contains('*') {
        "application/json".to_owned()
    } else {
        body.media_type.clone()
    }
}

fn members_text(
    template: &RequestTemplate,
    body: &Body,
    (members, open): (&[Member], bool),
    arguments: &Map<String, Value>,
) -> Result<Composed, ArgumentError> {
    check_json(body)?;
    let mut object = Map::new();
    for member in members {
        if let Some(value) = given(member, arguments)? {
            object.insert(member.name.clone(), value.clone());
        }
    }
    if open {
        for (name, value) in undeclared(template, arguments) {
            object.insert(name.clone(), value.clone());
        }
    }
    let sent = body.required || !object.is_empty();
    Ok(sent.then(|| (Value::Object(object).to_string().into(), sent_type(body))))
}

/// The arguments that the tool does not declare.
fn undeclared<'a>(
    template: &'a RequestTemplate,
    arguments: &'a Map<String, Value>,
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    let known: HashSet<&str> = names::names(template).into_iter().collect();
    arguments
        .iter()
        .filter(move |(name, _)| !known.contains(name.as_str()))
}

/// The entries of a form or multipart body; none when no body is sent.
fn gathered<'a>(
    template: &'a RequestTemplate,
    body: &'a Body,
    fields: &'a Fields,
    arguments: &'a Map<String, Value>,
    inline: Inline,
) -> Result<Option<Entries<'a>>, ArgumentError> {
    let withheld = body.withheld.iter().map(String::as_str);
    let reserved = withheld.chain(template.hidden_names());
    let mut entries = Entries::new(&fields.fields, reserved, inline);
    let Some(whole) = &fields.within else {
        for field in &fields.fields {
            let argument = &field.member.argument;
            // A null that is allowed is RFC 6570's undefined value: the field is left out.
            if let Some(value) = given(&field.member, arguments)?.filter(|one| !one.is_null()) {
                entries.add(field, argument, value)?;
            }
        }
        if fields.open {
            for (name, value) in undeclared(template, arguments) {
                if !value.is_null() {
                    entries.add_undeclared(name, fields.further, value)?;
                }
            }
        }
        let sent = body.required || !entries.list.is_empty();
        return Ok(sent.then_some(entries));
    };
    let object = match given(whole, arguments)? {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Object(object)) => object,
        Some(_) => return Err(fault(&whole.argument, "must be an object")),
    };
    for field in &fields.fields {
        let argument = format!("{}.{}", whole.argument, field.member.argument);
        match object.get(&field.member.argument) {
            None => {}
            Some(Value::Null) if field.member.nullable => {}
            Some(Value::Null) => return Err(null_not_allowed(&argument)),
            Some(value) => entries.add(field, &argument, value)?,
        }
    }
    let declared: HashSet<&str> = fields
        .fields
        .iter()
        .map(|field| field.member.argument.as_str())
        .collect();
    for (name, value) in object {
        if declared.contains(name.as_str()) {
            continue;
        }
        if !fields.open {
            return Err(about(
                ArgumentFault::UnknownArgument,
                &format!("{}.{name}", whole.argument),
                "is no field of this body; leave it out",
            ));
        }
        if !value.is_null() {
            entries.add_undeclared(name, fields.further, value)?;
        }
    }
    Ok(Some(entries))
}

fn file_bytes(
    body: &Body,
    member: &Member,
    content_types: &[String],
    arguments: &Map<String, Value>,
    mut inline: Inline,
) -> Result<Composed, ArgumentError> {
    let Some(value) = given(member, arguments)?.filter(|value| !value.is_null()) else {
        return Ok(None);
    };
    let file = file::read(&member.argument, value, content_types, &mut inline)?;
    let media_type = file.media_type.unwrap_or_else(|| body.media_type.clone());
    Ok(Some((file.bytes.into(), media_type)))
}

fn text(
    body: &Body,
    member: &Member,
    arguments: &Map<String, Value>,
) -> Result<Composed, ArgumentError> {
    let Some(value) = given(member, arguments)?.filter(|value| !value.is_null()) else {
        return Ok(None);
    };
    let text = value::plain(value).ok_or_else(|| {
        about(
            ArgumentFault::InvalidType,
            &member.argument,
            "must be a string: the body is plain text",
        )
    })?;
    // Text goes out as UTF-8; another character set has the same bytes for ASCII only.
    let charset = body.media_type.parse::<mime::Mime>();
    let charset = charset
        .as_ref()
        .ok()
        .and_then(|one| one.get_param(mime::CHARSET));
    if !text.is_ascii() && charset.is_some_and(|charset| charset != mime::UTF_8) {
        return Err(about(
            ArgumentFault::InvalidType,
            &member.argument,
            "holds characters beyond ASCII, which the character set of the body is not written in",
        ));
    }
    Ok(Some((
        text.into_owned().into_bytes().into(),
        body.media_type.clone(),
    )))
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
