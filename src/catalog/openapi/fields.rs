//! Forms and multipart bodies: one argument a field, and how each field travels.
//!
//! Owns: the encoding object, the fields of Swagger 2.0, fields whose names meet a parameter's. Must never
//! publish a field that has no wire form.

use serde_json::{Map, Value, json};

use super::body::{self, Offer, argument_name, published};
use super::files::{self, Looks};
use super::media::{self, Written};
use super::parameters::{self, Declared, Place};
use super::{Arguments, Pointer, wire};
use crate::catalog::document::{Target, Version, flag, shown};
use crate::catalog::finding::Finding;
use crate::catalog::schema::{Open, Root, is_empty_object, is_object, merge_root};
use crate::catalog::{DiagnosticCode, Field, Fields, FileUse, Location, Member, Style};
use crate::http::is_token;

/// A part is of at most this many media types; people's list a handful.
const TYPES_MAX: usize = 50;

/// A part has at most this many headers of its own.
const HEADERS_MAX: usize = 50;

/// A field with what is published for it.
struct Draft {
    field: Field,
    schema: Value,
}

/// The body as a whole, as far as its fields do not say it.
struct Whole<'a> {
    at: &'a Pointer,
    description: Option<&'a str>,
    required: bool,
    /// Whether further fields travel, and the schema of their values.
    open: bool,
    further: FileUse,
    additional: Value,
}

/// The fields of a form or multipart body of OpenAPI 3; none where the schema is no object.
pub(super) fn of_body(
    arguments: &mut Arguments<'_>,
    offer: &Offer<'_>,
    written: Written,
) -> Result<Option<Fields>, Finding> {
    let document = arguments.document;
    let Some(schema) = &offer.schema else {
        return free(arguments, offer, json!({"type": "object"})).map(Some);
    };
    if is_empty_object(document, schema.value, &schema.at) {
        let fields = Vec::new();
        return Ok(Some(Fields {
            fields,
            open: false,
            further: FileUse::Never,
            within: None,
        }));
    }
    let Some(root) = merge_root(document, schema.value, &schema.at)? else {
        let target = document.resolve(schema.value, &schema.at)?;
        let may_be_object = match target.value.get("type") {
            None => !target.value.is_boolean() && !target.value["items"].is_object(),
            Some(_) => is_object(document, schema.value, &schema.at),
        };
        if !may_be_object {
            return Ok(None);
        }
        let values = target.value.get("additionalProperties");
        if let (Written::Multipart, Some(values)) = (written, values) {
            // A map of files.
            let at = target.at.join("additionalProperties");
            let (values, using) = files::field(arguments, &mut Looks::new(), (values, &at), &[])?;
            if using != FileUse::Never {
                let mut schema = json!({"type": "object", "additionalProperties": values});
                if let Some(text) = target.value.get("description") {
                    schema["description"] = text.clone();
                }
                let mut fields = free(arguments, offer, schema)?;
                fields.further = using;
                return Ok(Some(fields));
            }
        }
        let published = published(arguments, schema)?;
        return free(arguments, offer, published).map(Some);
    };
    from_root(arguments, root, offer, schema, written).map(Some)
}

fn from_root(
    arguments: &mut Arguments<'_>,
    root: Root<'_>,
    offer: &Offer<'_>,
    schema: &Target<'_>,
    written: Written,
) -> Result<Fields, Finding> {
    body::left_out(arguments, &root, offer);
    arguments.withheld.clone_from(&root.hidden);
    let mut looks = Looks::new();
    let required: std::collections::HashSet<&str> =
        root.required.iter().map(String::as_str).collect();
    let mut drafts = Vec::with_capacity(root.members.len());
    for (name, schemas) in &root.members {
        let mut field = encoding(arguments, offer, name, written)?;
        field.member.required = required.contains(name.as_str());
        let mut parts = Vec::with_capacity(schemas.len());
        for schema in schemas {
            if written == Written::Multipart {
                let types = &field.content_types;
                let (part, using) =
                    files::field(arguments, &mut looks, (schema.value, &schema.at), types)?;
                if using != FileUse::Never {
                    // What the other descriptions of a file say is of no use to whoever sends one.
                    field.file = using;
                    parts = vec![part];
                    break;
                }
                parts.push(part);
            } else {
                parts.push(arguments.publisher.property(schema.value, &schema.at)?);
            }
        }
        check_written(&field, &parts, &schema.at)?;
        let schema = match parts.pop() {
            Some(only) if parts.is_empty() => only,
            last => {
                parts.extend(last);
                json!({"allOf": parts})
            }
        };
        drafts.push(Draft { field, schema });
    }
    let mut further = FileUse::Never;
    let (open, additional) = match root.open {
        Open::Closed => (false, json!(false)),
        Open::Any => (true, json!(true)),
        // An empty schema is how generators write "no statement".
        Open::Such(such) if written == Written::Multipart && such.value != &json!({}) => {
            let such = (such.value, &such.at);
            let (such, using) = files::field(arguments, &mut looks, such, &[])?;
            further = using;
            (true, such)
        }
        Open::Such(such) => {
            let such = arguments.publisher.property(such.value, &such.at)?;
            (true, such)
        }
    };
    let whole = Whole {
        at: &schema.at,
        description: offer.description,
        required: offer.required,
        open,
        further,
        additional,
    };
    Ok(settle(arguments, drafts, whole))
}

/// The fields of a form of Swagger 2.0, which are declared as parameters.
pub(super) fn of_parameters(
    arguments: &mut Arguments<'_>,
    declared: &[Declared<'_>],
) -> Result<(Fields, bool), Finding> {
    let mut drafts = Vec::new();
    let mut whole_at = None;
    for parameter in declared.iter().filter(|one| one.location == Place::Form) {
        let own = parameters::own_schema(parameter.map);
        let is_file = own.get("type") == Some(&json!("file"));
        let schema = if is_file {
            let said = parameter.map.get("description").and_then(Value::as_str);
            files::schema(said, &[], files::Named::Yes)
        } else {
            let mut schema = arguments.publisher.property(&own, &parameter.at)?;
            parameters::describe(arguments.document, parameter, &mut schema);
            schema
        };
        let mut field = plain(parameter.name);
        field.member.required = flag(parameter.map, "required");
        if own.get("type") == Some(&json!("array")) {
            let wire = wire::swagger_wire(parameter.map, Location::Query);
            (field.style, field.explode) = (Some(wire.style), wire.explode);
        }
        if is_file {
            field.file = FileUse::Only;
        }
        whole_at.get_or_insert(&parameter.at);
        drafts.push(Draft { field, schema });
    }
    let is_required = drafts.iter().any(|draft| draft.field.member.required);
    let at = whole_at.cloned().unwrap_or_else(|| arguments.at.clone());
    let whole = Whole {
        at: &at,
        description: None,
        required: is_required,
        open: false,
        further: FileUse::Never,
        additional: json!(false),
    };
    Ok((settle(arguments, drafts, whole), is_required))
}

/// One argument a field, or one for all of them where a name meets a parameter's.
fn settle(arguments: &mut Arguments<'_>, drafts: Vec<Draft>, whole: Whole<'_>) -> Fields {
    let met = drafts
        .iter()
        .map(|draft| &draft.field.member.argument)
        .find(|name| arguments.properties.contains_key(*name));
    let Some(met) = met else {
        let mut fields = Vec::with_capacity(drafts.len());
        for Draft { field, schema } in drafts {
            let member = &field.member;
            arguments.property(member.argument.clone(), schema, member.required);
            fields.push(field);
        }
        if whole.open {
            arguments.additional = whole.additional;
        }
        return Fields {
            fields,
            open: whole.open,
            further: whole.further,
            within: None,
        };
    };
    let message = format!(
        "the body field {} is named like a parameter; the body is one argument",
        shown(met)
    );
    arguments.warn(DiagnosticCode::ArgumentCollision, whole.at, message);
    let required: Vec<&str> = drafts
        .iter()
        .map(|draft| &draft.field.member)
        .filter(|member| member.required)
        .map(|member| member.argument.as_str())
        .collect();
    let mut schema = Map::new();
    schema.insert("type".into(), json!("object"));
    if let Some(text) = whole.description {
        schema.insert("description".into(), json!(text));
    }
    if !required.is_empty() {
        schema.insert("required".into(), json!(required));
    }
    let mut properties = Map::new();
    let mut fields = Vec::with_capacity(drafts.len());
    for Draft { field, schema } in drafts {
        properties.insert(field.member.argument.clone(), schema);
        fields.push(field);
    }
    schema.insert("properties".into(), Value::Object(properties));
    schema.insert("additionalProperties".into(), whole.additional);
    let (further, open) = (whole.further, whole.open);
    Fields {
        open,
        further,
        ..within(arguments, fields, Value::Object(schema), whole.required)
    }
}

/// A body of fields that nobody declares: one object argument.
fn free(
    arguments: &mut Arguments<'_>,
    offer: &Offer<'_>,
    mut schema: Value,
) -> Result<Fields, Finding> {
    if let (Value::Object(map), Some(text)) = (&mut schema, offer.description) {
        map.entry("description").or_insert_with(|| json!(text));
    }
    let names = offer.encoding.iter().flat_map(|(map, _)| map.keys());
    let mut fields = Vec::new();
    for name in names {
        let mut field = encoding(arguments, offer, name, offer.written)?;
        field.member.nullable = true;
        fields.push(field);
    }
    Ok(within(arguments, fields, schema, offer.required))
}

fn within(
    arguments: &mut Arguments<'_>,
    fields: Vec<Field>,
    schema: Value,
    required: bool,
) -> Fields {
    let argument = argument_name(arguments);
    arguments.property(argument.clone(), schema, required);
    Fields {
        fields,
        open: true,
        further: FileUse::Never,
        within: Some(Member {
            name: argument.clone(),
            argument,
            nullable: false,
            required,
        }),
    }
}

fn plain(name: &str) -> Field {
    Field {
        member: Member {
            argument: name.to_owned(),
            name: name.to_owned(),
            nullable: false,
            required: false,
        },
        style: None,
        explode: false,
        allow_reserved: false,
        content_types: Vec::new(),
        file: FileUse::Never,
        headers: Vec::new(),
    }
}

/// A field with its encoding object.
///
/// Where style, explode or allowReserved is given, values are written by the style, as query parameters are,
/// in forms and multipart bodies of every version: OpenAPI 3.0 ignores them in multipart bodies, but the
/// documents of that version which name them there mean them. Otherwise values are written by their kind:
/// objects as JSON, as 3.0.4 and its successors say; the releases before contradict themselves.
fn encoding(
    arguments: &mut Arguments<'_>,
    offer: &Offer<'_>,
    name: &str,
    written: Written,
) -> Result<Field, Finding> {
    let mut field = plain(name);
    let Some((all, at)) = &offer.encoding else {
        return Ok(field);
    };
    let at = at.join(name);
    let Some(Value::Object(map)) = all.get(name) else {
        return Ok(field);
    };
    let styled = ["style", "explode", "allowReserved"];
    if styled.iter().any(|name| map.contains_key(*name)) {
        let style = match map.get("style").and_then(Value::as_str) {
            None | Some("form") => Style::Form,
            Some("spaceDelimited") => Style::SpaceDelimited,
            Some("pipeDelimited") => Style::PipeDelimited,
            Some("deepObject") => Style::DeepObject,
            Some(other) => {
                return Err(Finding::new(
                    DiagnosticCode::UnsupportedParameter,
                    &at.join("style"),
                    format!(
                        "the body field {} has the style {}, which bodies do not have",
                        shown(name),
                        shown(other)
                    ),
                ));
            }
        };
        let explode = map.get("explode").and_then(Value::as_bool);
        field.style = Some(style);
        field.explode = style == Style::DeepObject || explode.unwrap_or(style == Style::Form);
        field.allow_reserved = flag(map, "allowReserved");
    }
    for nested in ["encoding", "prefixEncoding", "itemEncoding"] {
        if map.contains_key(nested) {
            arguments.warn(
                DiagnosticCode::EncodingLeftOut,
                &at.join(nested),
                format!(
                    "{nested} of the body field {} is not carried out",
                    shown(name)
                ),
            );
        }
    }
    let types = map.get("contentType").and_then(Value::as_str);
    let types = types.unwrap_or_default().split(',').map(str::trim);
    let (types, others): (Vec<&str>, Vec<&str>) = types
        .filter(|one| !one.is_empty())
        .partition(|one| one.parse::<mime::Mime>().is_ok() || *one == "*/*");
    if let Some(other) = others.first() {
        arguments.warn(
            DiagnosticCode::EncodingLeftOut,
            &at.join("contentType"),
            format!("{} is no media type and is left out", shown(other)),
        );
    }
    let types = types.into_iter().take(TYPES_MAX);
    field.content_types = types.map(str::to_owned).collect();
    if written == Written::Multipart
        && let Some(Value::Object(headers)) = map.get("headers")
    {
        field.headers = fixed_headers(arguments, headers, &at.join("headers"));
    }
    Ok(field)
}

/// The headers of a part whose one value the document gives. Others cannot be said by an argument.
fn fixed_headers(
    arguments: &mut Arguments<'_>,
    headers: &Map<String, Value>,
    at: &Pointer,
) -> Vec<(String, String)> {
    let mut fixed = Vec::new();
    for (name, header) in headers.iter().take(HEADERS_MAX) {
        // Described by contentType, or written by whoever writes the part.
        let own = [
            "content-type",
            "content-disposition",
            "content-transfer-encoding",
        ];
        if own.iter().any(|own| name.eq_ignore_ascii_case(own)) {
            continue;
        }
        let at = at.join(name);
        match fixed_value(arguments, header, &at) {
            Some(value) if is_token(name) && is_header_value(&value) => {
                fixed.push((name.clone(), value));
            }
            _ => arguments.warn(
                DiagnosticCode::EncodingLeftOut,
                &at,
                format!(
                    "the header {} of a part has no fixed value and is not sent",
                    shown(name)
                ),
            ),
        }
    }
    fixed
}

fn fixed_value(arguments: &Arguments<'_>, header: &Value, at: &Pointer) -> Option<String> {
    let document = arguments.document;
    let header = document.resolve(header, at).ok()?;
    let schema = header.value.get("schema")?;
    let schema = document.resolve(schema, &header.at.join("schema")).ok()?;
    let value = match (schema.value.get("const"), schema.value.get("enum")) {
        (Some(value), _) => value,
        (None, Some(Value::Array(values))) if values.len() == 1 => &values[0],
        _ => return None,
    };
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

fn is_header_value(value: &str) -> bool {
    !value.is_empty() && value.bytes().all(|byte| (b' '..0x7f).contains(&byte))
}

/// Refuses a field whose declared type no value of its schema can be written in.
fn check_written(field: &Field, parts: &[Value], at: &Pointer) -> Result<(), Finding> {
    let types = &field.content_types;
    let only_xml = !types.is_empty() && types.iter().all(|one| media::is_xml(one));
    let is_structured = parts.iter().any(|part| {
        matches!(
            part.get("type").and_then(Value::as_str),
            Some("object" | "array")
        )
    });
    if field.style.is_none() && field.file == FileUse::Never && only_xml && is_structured {
        return Err(Finding::new(
            DiagnosticCode::UnsupportedMediaType,
            at,
            format!(
                "no XML is written, which the body field {} must be; exclude the operation",
                shown(&field.member.name)
            ),
        ));
    }
    Ok(())
}

/// Whether a form of Swagger 2.0 has a file, which only multipart bodies carry.
pub(super) fn has_file(declared: &[Declared<'_>]) -> bool {
    declared.iter().any(|one| {
        one.location == Place::Form && one.map.get("type").and_then(Value::as_str) == Some("file")
    })
}

/// What OpenAPI 3.2 says of bodies that are sequences, which flat arguments cannot say.
pub(super) fn is_sequence(map: &Map<String, Value>, version: Version) -> bool {
    version >= Version::V32
        && ["itemSchema", "prefixEncoding", "itemEncoding"]
            .iter()
            .any(|name| map.contains_key(*name))
}
