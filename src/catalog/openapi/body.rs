//! The request body: it becomes arguments, one a member or one for the whole.
//!
//! Owns: choosing the media type, flattening JSON, bodies of text and of bytes, names that meet a parameter's.
//! Must never publish a body it cannot say how to write.

use serde_json::{Map, Value, json};

use super::media::{self, Written};
use super::parameters::{Declared, Place};
use super::{Arguments, fields, files};
use crate::catalog::document::{Document, Target, Version, flag, shown};
use crate::catalog::finding::Finding;
use crate::catalog::schema::{Open, Root, is_empty_object, merge_root};
use crate::catalog::{Body, BodyShape, DiagnosticCode, Member};
use crate::json::Pointer;

/// A body as it is declared.
pub(super) struct Offer<'d> {
    /// The media type as declared.
    media_type: String,
    /// How it is written.
    pub(super) written: Written,
    /// Every media type that is offered for files.
    file_types: Vec<String>,
    pub(super) schema: Option<Target<'d>>,
    /// The encoding objects by field.
    pub(super) encoding: Option<(&'d Map<String, Value>, Pointer)>,
    pub(super) required: bool,
    pub(super) description: Option<&'d str>,
}

/// Adds the arguments of the body, when the operation takes one.
pub(super) fn add<'d>(
    arguments: &mut Arguments<'d>,
    operation: (&'d Map<String, Value>, &Pointer),
    declared: &[Declared<'d>],
    method: &str,
) -> Result<Option<Body>, Finding> {
    let offer = if arguments.document.version == Version::V20 {
        if let Some(form) = swagger_form(arguments, operation.0, declared)? {
            return Ok(Some(form));
        }
        swagger(arguments.document, operation.0, declared)?
    } else {
        request_body(arguments, operation, method)?
    };
    let Some(offer) = offer else { return Ok(None) };
    let shape = match offer.written {
        Written::Json => json_shape(arguments, &offer, operation.1)?,
        Written::Form | Written::Multipart => {
            match (
                fields::of_body(arguments, &offer, offer.written)?,
                offer.written,
            ) {
                (Some(fields), Written::Form) => BodyShape::Form(fields),
                (Some(fields), _) => BodyShape::Multipart(fields),
                // Whoever declares a form as a string writes it themselves.
                (None, Written::Form) if is_string(arguments.document, &offer) => {
                    text(arguments, &offer)?
                }
                (None, _) => {
                    let at = offer.schema.as_ref().map_or(operation.1, |one| &one.at);
                    let message = format!(
                        "a body of {} must be an object; exclude the operation",
                        shown(&offer.media_type)
                    );
                    return Err(Finding::new(
                        DiagnosticCode::UnsupportedMediaType,
                        at,
                        message,
                    ));
                }
            }
        }
        Written::Text => text(arguments, &offer)?,
        Written::Bytes => file(arguments, &offer),
    };
    let withheld = withhold(arguments, &shape);
    Ok(Some(Body {
        media_type: media::sent_as(&offer.media_type, offer.written),
        shape,
        required: offer.required,
        withheld,
    }))
}

/// A JSON body: one argument a member, or one for the whole.
fn json_shape(
    arguments: &mut Arguments<'_>,
    offer: &Offer<'_>,
    operation_at: &Pointer,
) -> Result<BodyShape, Finding> {
    let root = match &offer.schema {
        Some(schema) => merge_root(arguments.document, schema.value, &schema.at)?,
        None => None,
    };
    let taken = root.as_ref().and_then(|root| {
        let mut names = root.members.iter().map(|(name, _)| name);
        names.find(|&name| arguments.properties.contains_key(name))
    });
    if let Some(taken) = taken {
        let at = offer.schema.as_ref().map_or(operation_at, |one| &one.at);
        arguments.warn(
            DiagnosticCode::ArgumentCollision,
            &at.clone(),
            format!(
                "the body member {} is named like a parameter; the body is one argument",
                shown(taken)
            ),
        );
    }
    match root {
        Some(root) if taken_is_none(arguments, &root) => members(arguments, root, offer),
        _ => whole(arguments, offer),
    }
}

/// Keeps the names of members that are the backend's to set out of an open body; another one takes no
/// further members anyway.
fn withhold(arguments: &mut Arguments<'_>, shape: &BodyShape) -> Vec<String> {
    let names = std::mem::take(&mut arguments.withheld);
    if let BodyShape::Form(fields) | BodyShape::Multipart(fields) = shape
        && fields.within.is_some()
    {
        // The schema of the one argument is the body's own.
        return names;
    }
    if !shape.is_open() {
        return Vec::new();
    }
    let refused: Vec<&String> = names
        .iter()
        .filter(|&name| !arguments.properties.contains_key(name))
        .collect();
    if !refused.is_empty() {
        let refused = json!({"not": {"enum": refused}});
        arguments.further.insert("propertyNames".into(), refused);
    }
    names
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
    let mut entries = Vec::with_capacity(content.len());
    for (media_type, value) in content {
        // Since 3.2 an entry may be a reference.
        let entry = match document.resolve(value, &at.join(media_type)) {
            Ok(Target {
                value: Value::Object(map),
                at,
            }) => Some((map, at)),
            _ => None,
        };
        entries.push((media_type.as_str(), entry));
    }
    let member = |entry: &Option<(&'d Map<String, Value>, Pointer)>, name: &str| {
        let (map, at) = entry.as_ref()?;
        let (value, at) = (map.get(name)?, at.join(name));
        Some(Target { value, at })
    };
    let is_nothing = |entry: &_| {
        member(entry, "schema")
            .is_some_and(|schema| is_empty_object(document, schema.value, &schema.at))
    };
    // Generators write an empty form on every operation; there is nothing in it to send.
    if !required && entries.iter().all(|(_, entry)| is_nothing(entry)) {
        return Ok(None);
    }
    let offered = entries.iter().filter(|(media_type, entry)| {
        // A multipart body that is a sequence of parts has no names to call arguments by.
        media::written(media_type) != Some(Written::Multipart)
            || !entry
                .as_ref()
                .is_some_and(|(map, _)| fields::is_sequence(map, document.version))
    });
    let Some((media_type, written)) = media::choose(offered.map(|(media_type, _)| *media_type))
    else {
        let finding = unsupported(content.keys().map(String::as_str), &at);
        if document.version == Version::V30 && matches!(method, "GET" | "HEAD") {
            // OpenAPI 3.0: a body here shall be ignored.
            arguments.warnings.push(finding);
            return Ok(None);
        }
        return Err(finding);
    };
    let none = None;
    let chosen = entries
        .iter()
        .find(|(name, _)| *name == media_type)
        .map_or(&none, |(_, entry)| entry);
    if let Some((map, at)) = chosen
        && fields::is_sequence(map, document.version)
    {
        arguments.warn(
            DiagnosticCode::BodySchemaLeftOut,
            at,
            format!(
                "the items of a body of {} are not described",
                shown(media_type)
            ),
        );
    }
    Ok(Some(Offer {
        media_type: media_type.to_owned(),
        written,
        file_types: file_types(content.keys().map(String::as_str)),
        schema: member(chosen, "schema"),
        encoding: member(chosen, "encoding")
            .and_then(|encoding| Some((encoding.value.as_object()?, encoding.at))),
        required,
        description: map.get("description").and_then(Value::as_str),
    }))
}

/// The media types that bodies of a Swagger 2.0 operation may have.
fn consumes<'d>(document: &'d Document, operation: &'d Map<String, Value>) -> Vec<&'d str> {
    operation
        .get("consumes")
        .or_else(|| document.value.get("consumes"))
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// A form of Swagger 2.0: a file makes it multipart, else what the operation consumes decides.
fn swagger_form<'d>(
    arguments: &mut Arguments<'d>,
    operation: &'d Map<String, Value>,
    declared: &[Declared<'d>],
) -> Result<Option<Body>, Finding> {
    let Some(form) = declared.iter().find(|one| one.location == Place::Form) else {
        return Ok(None);
    };
    if declared.iter().any(|one| one.location == Place::Body) {
        arguments.warn(
            DiagnosticCode::Malformed,
            &form.at,
            "an operation has a body or a form; the form is left out",
        );
        return Ok(None);
    }
    let types = consumes(arguments.document, operation);
    let of = |wanted: Written| {
        let mut types = types.iter().copied();
        types.find(|one| media::written(one) == Some(wanted))
    };
    let (shape, required) = fields::of_parameters(arguments, declared)?;
    let form = of(Written::Form);
    let (shape, media_type) =
        if fields::has_file(declared) || (form.is_none() && of(Written::Multipart).is_some()) {
            let sent = media::sent_as("multipart/form-data", Written::Multipart);
            (BodyShape::Multipart(shape), sent)
        } else {
            let declared = form.unwrap_or("application/x-www-form-urlencoded");
            (
                BodyShape::Form(shape),
                media::sent_as(declared, Written::Form),
            )
        };
    Ok(Some(Body {
        media_type,
        shape,
        required,
        withheld: Vec::new(),
    }))
}

fn swagger<'d>(
    document: &'d Document,
    operation: &'d Map<String, Value>,
    declared: &[Declared<'d>],
) -> Result<Option<Offer<'d>>, Finding> {
    let Some(body) = declared.iter().find(|one| one.location == Place::Body) else {
        return Ok(None);
    };
    let types = consumes(document, operation);
    let (media_type, written) = match media::choose(types.iter().copied()) {
        Some(chosen) => chosen,
        None if types.is_empty() => ("application/json", Written::Json),
        None => return Err(unsupported(types.into_iter(), &body.at)),
    };
    let schema = body.map.get("schema").map(|value| Target {
        value,
        at: body.at.join("schema"),
    });
    // One schema for every type: of patches, a list is a JSON Patch.
    let mut patches = types
        .iter()
        .copied()
        .filter(|one| media::is_json_patch(one));
    let media_type = match patches.next() {
        Some(patch) if media::is_patch(media_type) && is_list(document, schema.as_ref()) => patch,
        _ => media_type,
    };
    Ok(Some(Offer {
        media_type: media_type.to_owned(),
        written,
        file_types: file_types(types.into_iter()),
        schema,
        encoding: None,
        required: flag(body.map, "required"),
        description: body.map.get("description").and_then(Value::as_str),
    }))
}

/// Whether a schema is one of a list and of nothing else.
fn is_list(document: &Document, schema: Option<&Target<'_>>) -> bool {
    schema
        .and_then(|schema| document.resolve(schema.value, &schema.at).ok())
        .is_some_and(|found| found.value.get("type") == Some(&json!("array")))
}

/// The media types, of those offered, that a file may have.
fn file_types<'a>(offered: impl Iterator<Item = &'a str>) -> Vec<String> {
    /// People's documents offer a handful.
    const TYPES_MAX: usize = 50;
    offered
        .filter(|one| media::written(one) == Some(Written::Bytes))
        .take(TYPES_MAX)
        .map(|one| one.trim().to_owned())
        .collect()
}

fn unsupported<'a>(types: impl Iterator<Item = &'a str>, at: &Pointer) -> Finding {
    /// More types say nothing new.
    const TYPES_SHOWN_MAX: usize = 5;
    let types: Vec<String> = types.take(TYPES_SHOWN_MAX).map(shown).collect();
    let message = if types.is_empty() {
        "the body has no media type; name application/json".to_owned()
    } else {
        format!(
            "no body of {} is written; exclude the operation or offer application/json",
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
    left_out(arguments, &root, offer);
    arguments.withheld.clone_from(&root.hidden);
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

/// Tells what of a body flat arguments cannot say: keywords of its root, and required members that no schema
/// declares, of which nothing says what they would be.
pub(super) fn left_out(arguments: &mut Arguments<'_>, root: &Root<'_>, offer: &Offer<'_>) {
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
    let schema = match &offer.schema {
        Some(schema) => published(arguments, schema)?,
        None => json!({}),
    };
    Ok(BodyShape::Whole(argument(arguments, offer, schema)))
}

/// One string for the whole body.
fn text(arguments: &mut Arguments<'_>, offer: &Offer<'_>) -> Result<BodyShape, Finding> {
    let schema = match &offer.schema {
        Some(schema) if is_string(arguments.document, offer) => published(arguments, schema)?,
        Some(schema) if !says_nothing(arguments.document, schema) => {
            arguments.warn(
                DiagnosticCode::BodySchemaLeftOut,
                &schema.at,
                format!(
                    "a body of {} is one string, whatever its schema says",
                    shown(&offer.media_type)
                ),
            );
            json!({"type": "string"})
        }
        _ => json!({"type": "string"}),
    };
    Ok(BodyShape::Text(argument(arguments, offer, schema)))
}

/// One file for the whole body.
fn file(arguments: &mut Arguments<'_>, offer: &Offer<'_>) -> BodyShape {
    let mut said = offer.description;
    if let Some(schema) = &offer.schema
        && let Ok(target) = arguments.document.resolve(schema.value, &schema.at)
    {
        if says_more_than_bytes(target.value) {
            arguments.warn(
                DiagnosticCode::BodySchemaLeftOut,
                &schema.at,
                format!(
                    "a body of {} is one file, whatever its schema says",
                    shown(&offer.media_type)
                ),
            );
        }
        said = target
            .value
            .get("description")
            .and_then(Value::as_str)
            .or(said);
    }
    let content_types = offer.file_types.clone();
    let schema = files::schema(said, &content_types, files::Named::No);
    BodyShape::File {
        member: argument(arguments, offer, schema),
        content_types,
    }
}

/// The schema of an argument that is the body, open to a description.
pub(super) fn published(
    arguments: &mut Arguments<'_>,
    schema: &Target<'_>,
) -> Result<Value, Finding> {
    let made = arguments.publisher.property(schema.value, &schema.at)?;
    Ok(if made == json!(true) { json!({}) } else { made })
}

/// Adds the one argument that is the body.
fn argument(arguments: &mut Arguments<'_>, offer: &Offer<'_>, mut schema: Value) -> Member {
    // What a patch means stands in its type alone.
    let patch = media::is_patch(&offer.media_type)
        .then(|| format!("Sent as {}.", media::essence(&offer.media_type)));
    let said = offer.description.map(str::to_owned).or(patch);
    if let (Value::Object(map), Some(text)) = (&mut schema, said) {
        map.entry("description").or_insert_with(|| json!(text));
    }
    let argument = argument_name(arguments);
    arguments.property(argument.clone(), schema, offer.required);
    Member {
        name: argument.clone(),
        argument,
        nullable: false,
        required: offer.required,
    }
}

/// What the one argument for a body is called.
pub(super) fn argument_name(arguments: &Arguments<'_>) -> String {
    let mut name = "body".to_owned();
    if arguments.properties.contains_key(&name) {
        "request_body".clone_into(&mut name);
    }
    while arguments.properties.contains_key(&name) {
        name.push_str("_body");
    }
    name
}

fn is_string(document: &Document, offer: &Offer<'_>) -> bool {
    offer.schema.as_ref().is_some_and(|schema| {
        document
            .resolve(schema.value, &schema.at)
            .is_ok_and(|target| match target.value.get("type") {
                Some(Value::Array(names)) => names.iter().any(|name| name == "string"),
                name => name == Some(&json!("string")),
            })
    })
}

fn says_nothing(document: &Document, schema: &Target<'_>) -> bool {
    document
        .resolve(schema.value, &schema.at)
        .is_ok_and(|target| target.value.as_object().is_none_or(Map::is_empty))
}

/// Whether a schema describes members or items, which bytes do not have.
fn says_more_than_bytes(schema: &Value) -> bool {
    ["properties", "items", "allOf", "oneOf", "anyOf"]
        .iter()
        .any(|name| schema.get(name).is_some())
}
