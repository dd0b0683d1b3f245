//! The request body: JSON bodies become arguments, one a member or one for the whole.
//!
//! Owns: choosing the media type, flattening, names that meet a parameter's. Must never publish a body it
//! cannot say how to write.

use serde_json::{Map, Value, json};

use super::parameters::{Declared, Place};
use super::{Arguments, media};
use crate::catalog::document::{Document, Target, Version, flag, shown};
use crate::catalog::finding::Finding;
use crate::catalog::schema::{Open, Root, is_empty_object, merge_root};
use crate::catalog::{Body, BodyShape, DiagnosticCode, Member};
use crate::json::Pointer;

/// A body as it is declared.
struct Offer<'d> {
    /// The JSON media type it is sent as.
    media_type: String,
    schema: Option<Target<'d>>,
    required: bool,
    description: Option<&'d str>,
}

/// Adds the arguments of the body, when the operation takes one.
pub(super) fn add<'d>(
    arguments: &mut Arguments<'d>,
    operation: (&'d Map<String, Value>, &Pointer),
    declared: &[Declared<'d>],
    method: &str,
) -> Result<Option<Body>, Finding> {
    let offer = if arguments.document.version == Version::V20 {
        swagger(arguments.document, operation.0, declared)?
    } else {
        request_body(arguments, operation, method)?
    };
    let Some(offer) = offer else { return Ok(None) };
    let root = match &offer.schema {
        Some(schema) => merge_root(arguments.document, schema.value, &schema.at)?,
        None => None,
    };
    let taken = root.as_ref().and_then(|root| {
        let mut names = root.members.iter().map(|(name, _)| name);
        names.find(|&name| arguments.properties.contains_key(name))
    });
    if let Some(taken) = taken {
        let at = offer
            .schema
            .as_ref()
            .map_or(operation.1, |schema| &schema.at);
        arguments.warn(
            DiagnosticCode::ArgumentCollision,
            &at.clone(),
            format!(
                "the body member {} is named like a parameter; the body is one argument",
                shown(taken)
            ),
        );
    }
    let mut withheld = Vec::new();
    let shape = match root {
        Some(mut root) if taken_is_none(arguments, &root) => {
            withheld = std::mem::take(&mut root.hidden);
            let shape = members(arguments, root, &offer)?;
            withhold(arguments, &shape, &mut withheld);
            shape
        }
        _ => whole(arguments, &offer)?,
    };
    Ok(Some(Body {
        media_type: offer.media_type,
        shape,
        required: offer.required,
        withheld,
    }))
}

/// Keeps the names of members that are the backend's to set out of an open body; another one takes no
/// further members anyway.
fn withhold(arguments: &mut Arguments<'_>, shape: &BodyShape, names: &mut Vec<String>) {
    let BodyShape::Members { open: true, .. } = shape else {
        names.clear();
        return;
    };
    let refused: Vec<&String> = names
        .iter()
        .filter(|&name| !arguments.properties.contains_key(name))
        .collect();
    if !refused.is_empty() {
        let refused = json!({"not": {"enum": refused}});
        arguments.further.insert("propertyNames".into(), refused);
    }
}

fn taken_is_none(arguments: &Arguments<'_>, root: &Root<'_>) -> bool {
    root.members
        .iter()
        .all(|(name, _)| !arguments.properties.contains_key(name))
}

fn request_body<'d>(
    arguments: &mut Arguments<'d>,
    operation: (&'d Map<String, Value>, &Pointer),
    method: &str,
) -> Result<Option<Offer<'d>>, Finding> {
    let document = arguments.document;
    let Some(value) = operation.0.get("requestBody") else {
        return Ok(None);
    };
    let at = operation.1.join("requestBody");
    let (map, at) = document.resolve_object(value, &at, "a request body")?;
    let at = at.join("content");
    let Some(Value::Object(content)) = map.get("content") else {
        arguments.warn(
            DiagnosticCode::Malformed,
            &at,
            "a request body without content is none",
        );
        return Ok(None);
    };
    let required = flag(map, "required");
    let entry = |media_type: &str| {
        let schema = content.get(media_type)?.get("schema")?;
        let at = at.join(media_type).join("schema");
        Some(Target { value: schema, at })
    };
    let types = content.keys().map(String::as_str);
    let is_nothing = |media_type: &str| {
        entry(media_type).is_some_and(|schema| is_empty_object(document, schema.value, &schema.at))
    };
    // Generators write an empty form on every operation; there is nothing in it to send.
    if !required && types.clone().all(is_nothing) {
        return Ok(None);
    }
    let Some(media_type) = media::json_of(types.clone()) else {
        let finding = unsupported(types, &at);
        if document.version == Version::V30 && matches!(method, "GET" | "HEAD") {
            // OpenAPI 3.0: a body here shall be ignored.
            arguments.warnings.push(finding);
            return Ok(None);
        }
        return Err(finding);
    };
    Ok(Some(Offer {
        media_type: media::sent_as(media_type),
        schema: entry(media_type),
        required,
        description: map.get("description").and_then(Value::as_str),
    }))
}

fn swagger<'d>(
    document: &'d Document,
    operation: &'d Map<String, Value>,
    declared: &[Declared<'d>],
) -> Result<Option<Offer<'d>>, Finding> {
    if let Some(form) = declared.iter().find(|one| one.location == Place::Form) {
        return Err(Finding::new(
            DiagnosticCode::UnsupportedMediaType,
            &form.at,
            "form bodies are not written; exclude the operation",
        ));
    }
    let Some(body) = declared.iter().find(|one| one.location == Place::Body) else {
        return Ok(None);
    };
    let consumes = operation
        .get("consumes")
        .or_else(|| document.value.get("consumes"));
    let consumes = consumes.and_then(Value::as_array);
    let types: Vec<&str> = consumes
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let media_type = match media::json_of(types.iter().copied()) {
        Some(media_type) => media_type,
        None if types.is_empty() => "application/json",
        None => return Err(unsupported(types.into_iter(), &body.at)),
    };
    Ok(Some(Offer {
        media_type: media::sent_as(media_type),
        schema: body.map.get("schema").map(|value| Target {
            value,
            at: body.at.join("schema"),
        }),
        required: flag(body.map, "required"),
        description: body.map.get("description").and_then(Value::as_str),
    }))
}

fn unsupported<'a>(types: impl Iterator<Item = &'a str>, at: &Pointer) -> Finding {
    /// More types say nothing new.
    const TYPES_SHOWN_MAX: usize = 5;
    let types: Vec<String> = types.take(TYPES_SHOWN_MAX).map(shown).collect();
    let message = if types.is_empty() {
        "the body has no media type; name application/json".to_owned()
    } else {
        format!(
            "no body of {} is written, only JSON; exclude the operation or offer application/json",
            types.join(", ")
        )
    };
    Finding::new(DiagnosticCode::UnsupportedMediaType, at, message)
}

/// One argument for each member.
fn members(
    arguments: &mut Arguments<'_>,
    root: Root<'_>,
    offer: &Offer<'_>,
) -> Result<BodyShape, Finding> {
    if let (false, Some(schema)) = (root.lost.is_empty(), &offer.schema) {
        arguments.warn(
            DiagnosticCode::BodyKeywordLeftOut,
            &schema.at,
            format!(
                "{} of the body cannot be said of flat arguments and is left out",
                root.lost.join(", ")
            ),
        );
    }
    undeclared(arguments, &root, offer);
    let mut members = Vec::with_capacity(root.members.len());
    let required: std::collections::HashSet<&str> =
        root.required.iter().map(String::as_str).collect();
    for (name, schemas) in &root.members {
        let mut published = Vec::with_capacity(schemas.len());
        for schema in schemas {
            published.push(arguments.publisher.property(schema.value, &schema.at)?);
        }
        let schema = match published.pop() {
            Some(only) if published.is_empty() => only,
            last => {
                published.extend(last);
                json!({"allOf": published})
            }
        };
        let required = required.contains(name.as_str());
        members.push(Member {
            argument: name.clone(),
            name: name.clone(),
            nullable: false,
            required,
        });
        arguments.property(name.clone(), schema, required);
    }
    let open = match root.open {
        Open::Closed => false,
        Open::Any => {
            arguments.additional = json!(true);
            true
        }
        Open::Such(schema) => {
            arguments.additional = arguments.publisher.property(schema.value, &schema.at)?;
            true
        }
    };
    Ok(BodyShape::Members { members, open })
}

/// Tells of required members that no schema declares: nothing says what they would be.
fn undeclared(arguments: &mut Arguments<'_>, root: &Root<'_>, offer: &Offer<'_>) {
    let declared: std::collections::HashSet<&str> =
        root.members.iter().map(|(name, _)| name.as_str()).collect();
    let mut missing = root
        .required
        .iter()
        .filter(|name| !declared.contains(name.as_str()));
    if let (Some(name), Some(schema)) = (missing.next(), &offer.schema) {
        arguments.warn(
            DiagnosticCode::KeywordLeftOut,
            &schema.at,
            format!(
                "the member {} is required but not declared; it is no argument",
                shown(name)
            ),
        );
    }
}

/// One argument for the whole body.
fn whole(arguments: &mut Arguments<'_>, offer: &Offer<'_>) -> Result<BodyShape, Finding> {
    let mut argument = "body".to_owned();
    if arguments.properties.contains_key(&argument) {
        "request_body".clone_into(&mut argument);
    }
    while arguments.properties.contains_key(&argument) {
        argument.push_str("_body");
    }
    let mut schema = match &offer.schema {
        Some(schema) => arguments.publisher.property(schema.value, &schema.at)?,
        None => json!({}),
    };
    if schema == json!(true) {
        schema = json!({});
    }
    if let (Value::Object(map), Some(text)) = (&mut schema, offer.description) {
        map.entry("description").or_insert_with(|| json!(text));
    }
    arguments.property(argument.clone(), schema, offer.required);
    Ok(BodyShape::Whole(Member {
        name: argument.clone(),
        argument,
        nullable: false,
        required: offer.required,
    }))
}
