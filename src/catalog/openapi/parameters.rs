//! Parameters outside the body: which there are, which become arguments, how they travel.
//!
//! Owns: path-level and operation-level lists, styles, names that are never arguments, names shared by two
//! locations. Must never publish a parameter that cannot be written to the wire.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::Arguments;
use super::never::never;
use super::security::Carriers;
use super::wire::{Wire, has_wire_form, is_alone, wire};
use crate::catalog::document::{Document, Version, flag, shown};
use crate::catalog::finding::Finding;
use crate::catalog::route::{placeholders, query_pairs, without_pairs};
use crate::catalog::{DiagnosticCode, Location, Parameter, RoutePart, Style, route_parts};
use crate::json::Pointer;

/// An operation has at most this many parameters; people's have a few dozen.
const PARAMETERS_MAX: usize = 2_000;

/// A parameter as it is declared.
pub(super) struct Declared<'d> {
    pub(super) name: &'d str,
    pub(super) location: Place,
    pub(super) map: &'d Map<String, Value>,
    pub(super) at: Pointer,
}

/// Where a declared parameter stands, the two body forms of Swagger 2.0 included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Place {
    Outside(Location),
    Body,
    Form,
}

/// The effective parameters of an operation: the path's, each replaced by the operation's own of the same
/// name and place, then the operation's others.
pub(super) fn declared<'d>(
    document: &'d Document,
    item: (&'d Map<String, Value>, &Pointer),
    operation: (&'d Map<String, Value>, &Pointer),
    warnings: &mut Vec<Finding>,
) -> Result<Vec<Declared<'d>>, Finding> {
    let mut all: Vec<Declared<'d>> = Vec::new();
    let mut places: HashMap<(Place, String), (usize, bool)> = HashMap::new();
    for (map, at, is_own) in [(item.0, item.1, false), (operation.0, operation.1, true)] {
        let Some(list) = map.get("parameters") else {
            continue;
        };
        let at = at.join("parameters");
        let Value::Array(list) = list else {
            let message = "parameters must be a list";
            return Err(Finding::new(DiagnosticCode::Malformed, &at, message));
        };
        if list.len() > PARAMETERS_MAX {
            let message =
                format!("an operation has at most {PARAMETERS_MAX} parameters; use a body");
            return Err(Finding::new(DiagnosticCode::Malformed, &at, message));
        }
        for (index, value) in list.iter().enumerate() {
            let mut at = at.clone();
            at.push_index(index);
            let parameter = one(document, value, &at)?;
            let known = places.get(&key(&parameter)).copied();
            let Some((known, was_own)) = known else {
                places.insert(key(&parameter), (all.len(), is_own));
                all.push(parameter);
                continue;
            };
            if is_own == was_own {
                warnings.push(Finding::new(
                    DiagnosticCode::Malformed,
                    &at,
                    format!(
                        "the parameter {} stands twice and the last one counts",
                        shown(parameter.name)
                    ),
                ));
            }
            places.insert(key(&parameter), (known, is_own));
            all[known] = parameter;
        }
    }
    Ok(all)
}

/// What makes two parameters the same one: place and name, which for headers ignores case.
fn key(parameter: &Declared<'_>) -> (Place, String) {
    let name = match parameter.location {
        Place::Outside(Location::Header) => parameter.name.to_ascii_lowercase(),
        _ => parameter.name.to_owned(),
    };
    (parameter.location, name)
}

fn one<'d>(
    document: &'d Document,
    value: &'d Value,
    at: &Pointer,
) -> Result<Declared<'d>, Finding> {
    let (map, at) = document.resolve_object(value, at, "a parameter")?;
    let member = |name: &str| {
        map.get(name).and_then(Value::as_str).ok_or_else(|| {
            let message = format!("a parameter must have a string `{name}`");
            Finding::new(DiagnosticCode::Malformed, &at, message)
        })
    };
    let (name, place) = (member("name")?, member("in")?);
    let location = match (place, document.version) {
        ("path", _) => Place::Outside(Location::Path),
        ("query", _) => Place::Outside(Location::Query),
        ("header", _) => Place::Outside(Location::Header),
        ("cookie", Version::V30 | Version::V31 | Version::V32) => Place::Outside(Location::Cookie),
        ("querystring", Version::V32) => Place::Outside(Location::QueryString),
        ("body", Version::V20) => Place::Body,
        ("formData", Version::V20) => Place::Form,
        _ => {
            let message = format!("a parameter in {} cannot be written", shown(place));
            return Err(Finding::new(
                DiagnosticCode::UnsupportedParameter,
                &at,
                message,
            ));
        }
    };
    Ok(Declared {
        name,
        location,
        map,
        at,
    })
}

/// Adds the arguments of all parameters outside the body.
pub(super) fn add(
    arguments: &mut Arguments<'_>,
    declared: &[Declared<'_>],
    route: &str,
    carriers: &Carriers,
) -> Result<(), Finding> {
    let placeholders = placeholders(route);
    let in_route: HashSet<&str> = placeholders.iter().copied().collect();
    let mut kept: Vec<(&Declared<'_>, Location, Wire)> = Vec::new();
    for parameter in declared {
        let Place::Outside(location) = parameter.location else {
            continue;
        };
        let is_fixed =
            location == Location::Query && query_pairs(route).any(|(key, _)| key == parameter.name);
        let why = never(parameter.name, location, carriers, &in_route)
            .or(is_fixed.then_some("has its value in the route"));
        if let Some(why) = why {
            arguments.warn(
                DiagnosticCode::ParameterDropped,
                &parameter.at,
                format!(
                    "the parameter {} {why}; it is no argument",
                    shown(parameter.name)
                ),
            );
            continue;
        }
        let wire = wire(arguments.document, parameter, location)
            .and_then(|wire| has_wire_form(arguments.document, parameter, wire))
            .and_then(|wire| is_alone(declared, parameter, route, wire));
        match wire {
            Ok(wire) => kept.push((parameter, location, wire)),
            Err(finding) if flag(parameter.map, "required") || location == Location::Path => {
                return Err(finding);
            }
            Err(finding) => arguments.warn(
                DiagnosticCode::ParameterDropped,
                &finding.at,
                format!("{}; it is optional and no argument", finding.message),
            ),
        }
    }
    let names = argument_names(&kept);
    for ((parameter, location, wire), argument) in kept.into_iter().zip(names) {
        publish(arguments, parameter, location, wire, argument)?;
    }
    undeclared(arguments, &placeholders);
    Ok(())
}

/// What of a route is sent: without a query pair whose place a declared query parameter of that name fills.
pub(super) fn sent_route(route: &str, declared: &[Declared<'_>]) -> String {
    let is_query = |name: &str| {
        let query = Place::Outside(Location::Query);
        declared
            .iter()
            .any(|one| one.location == query && one.name == name)
    };
    without_pairs(route, |key, value| {
        is_query(key) && matches!(route_parts(value)[..], [RoutePart::Place(_)])
    })
}

/// What the agent calls each parameter: its own name, and for the later of two locations that share one
/// the name with its location behind it.
fn argument_names(kept: &[(&Declared<'_>, Location, Wire)]) -> Vec<String> {
    const PRECEDENCE: [(Location, &str); 5] = [
        (Location::Path, "_path"),
        (Location::Query, "_query"),
        (Location::QueryString, "_query"),
        (Location::Header, "_header"),
        (Location::Cookie, "_cookie"),
    ];
    let mut taken: HashSet<String> = HashSet::new();
    let plain: HashSet<&str> = kept.iter().map(|(parameter, ..)| parameter.name).collect();
    let mut names = vec![String::new(); kept.len()];
    for (location, suffix) in PRECEDENCE {
        for (index, (parameter, own, _)) in kept.iter().enumerate() {
            if *own != location {
                continue;
            }
            let mut name = parameter.name.to_owned();
            if taken.contains(&name) {
                name.push_str(suffix);
                while taken.contains(&name) || plain.contains(name.as_str()) {
                    name.push_str(suffix);
                }
            }
            taken.insert(name.clone());
            names[index] = name;
        }
    }
    names
}

fn publish(
    arguments: &mut Arguments<'_>,
    parameter: &Declared<'_>,
    location: Location,
    wire: Wire,
    argument: String,
) -> Result<(), Finding> {
    let mut schema = schema(arguments, parameter, &wire)?;
    describe(arguments.document, parameter, &mut schema);
    let required = location == Location::Path || flag(parameter.map, "required");
    if wire.style == Style::DeepObject {
        arguments.grouped.push(argument.clone());
    }
    arguments.parameters.push(Parameter {
        argument: argument.clone(),
        name: parameter.name.to_owned(),
        location,
        style: wire.style,
        explode: wire.explode,
        allow_reserved: flag(parameter.map, "allowReserved"),
        content_type: wire.content_type,
        required,
        nullable: false,
    });
    arguments.property(argument, schema, required);
    Ok(())
}

/// The published schema of a parameter.
fn schema(
    arguments: &mut Arguments<'_>,
    parameter: &Declared<'_>,
    wire: &Wire,
) -> Result<Value, Finding> {
    let (map, at) = (parameter.map, &parameter.at);
    if arguments.document.version == Version::V20 {
        return arguments.publisher.property(&own_schema(map), at);
    }
    let (value, at) = if wire.content_type.is_some() {
        let content = map.get("content").and_then(Value::as_object);
        let Some((media_type, entry)) = content.and_then(|content| content.iter().next()) else {
            return Ok(json!({}));
        };
        let at = at.join("content").join(media_type).join("schema");
        (entry.get("schema"), at)
    } else {
        (map.get("schema"), at.join("schema"))
    };
    match value {
        Some(value) if wire.style == Style::DeepObject => {
            // Its members are searched and shown one level down, so they stand there.
            arguments.publisher.inline(value, &at)
        }
        Some(value) => arguments.publisher.property(value, &at),
        None => {
            arguments.warn(
                DiagnosticCode::Malformed,
                &parameter.at,
                format!(
                    "the parameter {} has no schema; any value is accepted",
                    shown(parameter.name)
                ),
            );
            Ok(json!({}))
        }
    }
}

/// The schema of a parameter of Swagger 2.0, which is its own.
pub(super) fn own_schema(map: &Map<String, Value>) -> Value {
    let own = ["name", "in", "required", "description", "allowEmptyValue"];
    let schema: Map<String, Value> = map
        .iter()
        .filter(|(name, _)| !own.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    Value::Object(schema)
}

/// What the parameter says of itself goes before what its schema says.
pub(super) fn describe(document: &Document, parameter: &Declared<'_>, schema: &mut Value) {
    if schema == &json!(true) {
        *schema = json!({});
    }
    let Value::Object(out) = schema else { return };
    if let Some(Value::String(text)) = parameter.map.get("description") {
        out.insert("description".into(), json!(text));
    }
    if flag(parameter.map, "deprecated") {
        out.insert("deprecated".into(), json!(true));
    }
    if document.version == Version::V20 || out.contains_key("examples") {
        return;
    }
    let named = parameter.map.get("examples").and_then(Value::as_object);
    let examples: Vec<&Value> = match parameter.map.get("example") {
        Some(example) => vec![example],
        None => named
            .into_iter()
            .flat_map(Map::values)
            .filter_map(|example| example.get("value"))
            .collect(),
    };
    // Examples are scalars nearly always; nested ones are left to the schema's own.
    let plain = examples
        .into_iter()
        .filter(|example| !example.is_object() && !example.is_array());
    let plain: Vec<Value> = plain.cloned().collect();
    if !plain.is_empty() {
        out.insert("examples".into(), Value::Array(plain));
    }
}

/// A placeholder nobody declares still needs a value: it becomes a required string.
fn undeclared(arguments: &mut Arguments<'_>, placeholders: &[&str]) {
    let known: HashSet<String> = arguments
        .parameters
        .iter()
        .filter(|one| one.location == Location::Path)
        .map(|one| one.name.clone())
        .collect();
    for &name in placeholders {
        if known.contains(name) {
            continue;
        }
        let mut argument = name.to_owned();
        while arguments.properties.contains_key(&argument) {
            argument.push_str("_path");
        }
        let at = arguments.at.clone();
        arguments.warn(
            DiagnosticCode::MissingPathParameter,
            &at,
            format!("no parameter is declared for {{{name}}} of the route; a string is assumed"),
        );
        arguments.parameters.push(Parameter {
            argument: argument.clone(),
            name: name.to_owned(),
            location: Location::Path,
            style: Style::Simple,
            explode: false,
            allow_reserved: false,
            content_type: None,
            required: true,
            nullable: false,
        });
        arguments.property(argument, json!({"type": "string"}), true);
    }
}
