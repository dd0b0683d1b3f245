//! How a parameter outside the body travels: styles with their defaults, content, Swagger 2.0's separators.
//!
//! Owns: what has a wire form and what has none. Must never publish anything.

use serde_json::{Map, Value};

use super::media::{self, Written};
use super::parameters::{Declared, Place, own_schema};
use crate::catalog::document::{Document, Version, shown};
use crate::catalog::finding::Finding;
use crate::catalog::route::query_pairs;
use crate::catalog::{CollectionSeparator, DiagnosticCode, Location, Style};
use crate::http::is_token;

/// How a parameter is written.
pub(super) struct Wire {
    pub(super) style: Style,
    pub(super) explode: bool,
    pub(super) content_type: Option<String>,
}

/// How a parameter is written, or why it cannot be.
pub(super) fn wire(
    document: &Document,
    parameter: &Declared<'_>,
    location: Location,
) -> Result<Wire, Finding> {
    let unsupported = |what: String| {
        let message = format!("the parameter {} {what}", shown(parameter.name));
        Finding::new(DiagnosticCode::UnsupportedParameter, &parameter.at, message)
    };
    if location == Location::Header && !is_token(parameter.name) {
        return Err(unsupported("is no header name".to_owned()));
    }
    // The name of a cookie is a token as well.
    if location == Location::Cookie && !is_token(parameter.name) {
        return Err(unsupported("is no cookie name".to_owned()));
    }
    if document.version == Version::V20 {
        return Ok(swagger_wire(parameter.map, location));
    }
    let default = match location {
        Location::Path | Location::Header => "simple",
        Location::Query | Location::Cookie | Location::QueryString => "form",
    };
    if let Some(content) = parameter.map.get("content") {
        let entries = content.as_object().into_iter().flatten();
        let mut types = entries.map(|(name, entry)| (name.as_str(), entry));
        let (Some((one, entry)), None) = (types.next(), types.next()) else {
            return Err(unsupported("has content that is not one type".to_owned()));
        };
        let written = media::written(one).filter(|written| match written {
            Written::Json | Written::Text => true,
            Written::Form => location == Location::QueryString,
            Written::Multipart | Written::Bytes => false,
        });
        let Some(written) = written else {
            return Err(unsupported(format!(
                "has content of {}, which is not written there",
                shown(one)
            )));
        };
        if entry.get("encoding").is_some() {
            return Err(unsupported(
                "has an encoding, which is not carried out".to_owned(),
            ));
        }
        return Ok(Wire {
            style: if default == "form" {
                Style::Form
            } else {
                Style::Simple
            },
            explode: false,
            content_type: Some(media::sent_as(one, written)),
        });
    }
    if location == Location::QueryString {
        return Err(unsupported(
            "is the query string and has no content".to_owned(),
        ));
    }
    let declared = parameter.map.get("style").and_then(Value::as_str);
    let style = match (location, declared.unwrap_or(default)) {
        (Location::Path | Location::Header, "simple") => Style::Simple,
        (Location::Path, "label") => Style::Label,
        (Location::Path, "matrix") => Style::Matrix,
        (Location::Query | Location::Cookie, "form") => Style::Form,
        (Location::Cookie, "cookie") if document.version >= Version::V32 => Style::Cookie,
        (Location::Query, "spaceDelimited") => Style::SpaceDelimited,
        (Location::Query, "pipeDelimited") => Style::PipeDelimited,
        (Location::Query, "deepObject") => Style::DeepObject,
        (_, other) => {
            return Err(unsupported(format!(
                "has the style {}, which its place does not have",
                shown(other)
            )));
        }
    };
    let explode = parameter.map.get("explode").and_then(Value::as_bool);
    Ok(Wire {
        style,
        // deepObject has only the exploded form, whatever the document says.
        explode: style == Style::DeepObject
            || explode.unwrap_or(matches!(style, Style::Form | Style::Cookie)),
        content_type: None,
    })
}

/// Refuses what could be published and never be given: outside bodies, only deepObject says how an object
/// inside a list is written.
pub(super) fn has_wire_form(
    document: &Document,
    parameter: &Declared<'_>,
    wire: Wire,
) -> Result<Wire, Finding> {
    if wire.style == Style::DeepObject || wire.content_type.is_some() {
        return Ok(wire);
    }
    let own;
    let (schema, at) = if document.version == Version::V20 {
        own = own_schema(parameter.map);
        (&own, parameter.at.clone())
    } else {
        let at = parameter.at.join("schema");
        (parameter.map.get("schema").unwrap_or(&Value::Null), at)
    };
    // What cannot be followed is told when the schema is published.
    let Ok(list) = document.resolve(schema, &at) else {
        return Ok(wire);
    };
    let is_list = only_type(list.value) == Some("array");
    let items = list.value.get("items").filter(|_| is_list);
    let items = items.and_then(|items| document.resolve(items, &list.at.join("items")).ok());
    match items.and_then(|items| only_type(items.value)) {
        Some(kind @ ("object" | "array")) => Err(Finding::new(
            DiagnosticCode::UnsupportedParameter,
            &parameter.at,
            format!(
                "the parameter {} is a list of {kind}s, which its style has no form for",
                shown(parameter.name)
            ),
        )),
        _ => Ok(wire),
    }
}

/// The one type of a schema's values, null aside.
fn only_type(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::Array(names) => {
            let mut names = names.iter().filter(|&name| name != "null");
            let only = names.next()?.as_str();
            only.filter(|_| names.next().is_none())
        }
        name => name.as_str(),
    }
}

/// A parameter that is the whole query string leaves no room for others.
pub(super) fn is_alone(
    declared: &[Declared<'_>],
    parameter: &Declared<'_>,
    route: &str,
    wire: Wire,
) -> Result<Wire, Finding> {
    let is_whole = |one: &Declared<'_>| one.location == Place::Outside(Location::QueryString);
    let in_query =
        |one: &Declared<'_>| is_whole(one) || one.location == Place::Outside(Location::Query);
    let others = declared.iter().filter(|one| in_query(one)).count() > 1;
    if is_whole(parameter) && (others || query_pairs(route).next().is_some()) {
        let message = format!(
            "the parameter {} is the whole query string and stands beside other query parameters",
            shown(parameter.name)
        );
        return Err(Finding::new(
            DiagnosticCode::UnsupportedParameter,
            &parameter.at,
            message,
        ));
    }
    Ok(wire)
}

/// Swagger 2.0: `collectionFormat` of arrays; everything else is written as in 3.0.
pub(super) fn swagger_wire(map: &Map<String, Value>, location: Location) -> Wire {
    let member = |name: &str| map.get(name).and_then(Value::as_str);
    let plain = match location {
        Location::Path | Location::Header => Style::Simple,
        Location::Query | Location::Cookie | Location::QueryString => Style::Form,
    };
    let is_array = member("type") == Some("array");
    let (style, explode) = match member("collectionFormat") {
        _ if !is_array => (plain, plain == Style::Form),
        Some("ssv") => (Style::Collection(CollectionSeparator::Space), false),
        Some("tsv") => (Style::Collection(CollectionSeparator::Tab), false),
        Some("pipes") => (Style::Collection(CollectionSeparator::Pipe), false),
        Some("multi") if plain == Style::Form => (plain, true),
        _ => (plain, false),
    };
    Wire {
        style,
        explode,
        content_type: None,
    }
}
