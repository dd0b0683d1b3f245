//! Path values: each stays inside its own segment, and the composed path is checked again as a whole.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::encode::{encoded, push_encoded};
use super::fault::{about, uncomposable};
use super::route::{Piece, Route};
use super::value::{self, Parts};
use crate::catalog::{CollectionSeparator, Location, Parameter, RequestTemplate, Style};
use crate::invoke::{ArgumentError, ArgumentFault};

/// Encoded texts by the backend's name of the parameter.
#[derive(Debug)]
pub(super) struct Values(HashMap<String, String>);

impl Values {
    pub(super) fn new() -> Self {
        Self(HashMap::new())
    }

    pub(super) fn insert(&mut self, name: &str, text: String) {
        self.0.insert(name.to_owned(), text);
    }

    fn of<'a>(&'a self, piece: &'a Piece) -> &'a str {
        match piece {
            Piece::Literal(text) => text,
            Piece::Place(name) => self.0.get(name).map_or("", String::as_str),
        }
    }

    /// The text of pieces, filled in.
    pub(super) fn fill(&self, pieces: &[Piece]) -> String {
        pieces.iter().map(|piece| self.of(piece)).collect()
    }
}

fn path_parameters(template: &RequestTemplate) -> impl Iterator<Item = &Parameter> {
    template
        .parameters
        .iter()
        .filter(|parameter| parameter.location == Location::Path)
}

/// Checks that places and path parameters belong to each other.
pub(super) fn check_places(template: &RequestTemplate, route: &Route) -> Result<(), ArgumentError> {
    for place in route.places() {
        if path_parameters(template).all(|parameter| parameter.name != place) {
            return Err(uncomposable(&format!(
                "its route has a place `{{{place}}}` that no path parameter fills"
            )));
        }
    }
    for parameter in path_parameters(template) {
        if route.places().all(|place| place != parameter.name) {
            return Err(uncomposable(&format!(
                "its path parameter `{}` has no place in the route",
                parameter.argument
            )));
        }
    }
    Ok(())
}

/// Checks that every place of the route has a value, naming all that have none.
pub(super) fn check_present(
    template: &RequestTemplate,
    route: &Route,
    arguments: &Map<String, Value>,
) -> Result<(), ArgumentError> {
    let mut missing = Vec::new();
    for place in route.places() {
        let absent = path_parameters(template).find(|parameter| {
            parameter.name == place && !arguments.contains_key(&parameter.argument)
        });
        if let Some(parameter) = absent
            && !missing.contains(&parameter.argument.as_str())
        {
            missing.push(parameter.argument.as_str());
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let named: Vec<_> = missing.iter().map(|name| format!("`{name}`")).collect();
    Err(ArgumentError {
        fault: ArgumentFault::MissingPathParameter,
        message: format!(
            "{} must be given: the call's path needs {}",
            named.join(", "),
            if missing.len() == 1 { "it" } else { "them" }
        ),
        fields: missing
            .iter()
            .map(|name| {
                (
                    (*name).to_owned(),
                    "is part of the path and must be given".to_owned(),
                )
            })
            .collect(),
    })
}

/// A path value as it stands in the route, encoded.
pub(super) fn text(parameter: &Parameter, value: &Value) -> Result<String, ArgumentError> {
    let fault = |problem: &str| about(ArgumentFault::InvalidPathType, &parameter.argument, problem);
    if value.is_null() {
        return Err(fault("cannot be null: it is part of the path"));
    }
    let parts = value::parts(parameter.content_type.as_deref(), value)
        .ok_or_else(|| fault(value::NESTED))?;
    let flat = value::flat(&parts);
    if flat.iter().any(|text| text.chars().any(is_line_break)) {
        return Err(fault("cannot hold a line break: it is part of the path"));
    }
    if flat.iter().all(|text| text.is_empty()) {
        return Err(fault("cannot be empty: it is part of the path"));
    }
    if matches!(&parts, Parts::One(text) if matches!(text.as_ref(), "." | "..")) {
        return Err(fault(
            "cannot be `.` or `..`: it would leave its place in the path",
        ));
    }
    match parameter.style {
        Style::Simple => Ok(joined(&parts, ",", parameter.explode)),
        Style::Label => Ok(label(&parts, parameter.explode)),
        Style::Matrix => Ok(matrix(&parts, parameter)),
        Style::Collection(separator) => separated(&flat, separator)
            .ok_or_else(|| fault("holds the separator of its list inside an item")),
        Style::Form
        | Style::SpaceDelimited
        | Style::PipeDelimited
        | Style::DeepObject
        | Style::Cookie => Err(uncomposable(&format!(
            "its path parameter `{}` has a style that paths do not have",
            parameter.argument
        ))),
    }
}

/// Every character that some reader of a request line takes for the end of the line.
fn is_line_break(character: char) -> bool {
    matches!(
        character,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// `a,b` for lists, `k,v` or exploded `k=v` for objects.
fn joined(parts: &Parts<'_>, separator: &str, explode: bool) -> String {
    match parts {
        Parts::Members(members) if explode => members
            .iter()
            .map(|(key, text)| format!("{}={}", encoded(key), encoded(text)))
            .collect::<Vec<_>>()
            .join(separator),
        other => value::flat(other)
            .into_iter()
            .map(encoded)
            .collect::<Vec<_>>()
            .join(separator),
    }
}

/// `.a`, `.a,b`, exploded `.a.b` and `.k=v.k=v`, where a dot of an item's own is encoded.
fn label(parts: &Parts<'_>, explode: bool) -> String {
    let separator = match parts {
        Parts::List(_) | Parts::Members(_) if explode => ".",
        _ => return format!(".{}", joined(parts, ",", explode)),
    };
    let dotless = |text: &str| encoded(text).replace('.', "%2E");
    let texts: Vec<String> = match parts {
        Parts::Members(members) => members
            .iter()
            .map(|(key, text)| format!("{}={}", dotless(key), dotless(text)))
            .collect(),
        other => value::flat(other).into_iter().map(dotless).collect(),
    };
    format!(".{}", texts.join(separator))
}

/// `;name=a`, `;name=a,b`, exploded `;name=a;name=b` and `;k=v;k=v`.
fn matrix(parts: &Parts<'_>, parameter: &Parameter) -> String {
    let pair = |key: &str, text: &str| format!(";{}={}", encoded(key), encoded(text));
    match parts {
        Parts::List(items) if parameter.explode => items
            .iter()
            .map(|item| pair(&parameter.name, item))
            .collect(),
        Parts::Members(members) if parameter.explode => {
            members.iter().map(|(key, text)| pair(key, text)).collect()
        }
        other => format!(
            ";{}={}",
            encoded(&parameter.name),
            joined(other, ",", false)
        ),
    }
}

/// Items joined by a separator that has to be encoded itself; none when an item holds it.
pub(super) fn separated(items: &[&str], separator: CollectionSeparator) -> Option<String> {
    let (character, triplet) = match separator {
        CollectionSeparator::Space => (' ', "%20"),
        CollectionSeparator::Tab => ('\t', "%09"),
        CollectionSeparator::Pipe => ('|', "%7C"),
    };
    if items.iter().any(|item| item.contains(character)) {
        return None;
    }
    let mut out = String::new();
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push_str(triplet);
        }
        push_encoded(&mut out, item, b"");
    }
    Some(out)
}

/// The whole path, with no segment that a reader would resolve away.
pub(super) fn compose(
    template: &RequestTemplate,
    base_path: &str,
    route: &Route,
    values: &Values,
) -> Result<String, ArgumentError> {
    let path = format!(
        "{}{}",
        base_path.trim_end_matches('/'),
        values.fill(&route.path)
    );
    if path.is_empty() {
        return Ok("/".to_owned());
    }
    if path.split('/').any(is_dot_segment) {
        return Err(dot_segment(template, route, values));
    }
    Ok(path)
}

/// Whether a segment is `.` or `..`, an encoded dot counting as a dot.
fn is_dot_segment(segment: &str) -> bool {
    let decoded = segment.replace("%2e", ".").replace("%2E", ".");
    matches!(decoded.as_str(), "." | "..")
}

/// Blames the arguments of the first segment that resolves away, or the route when it has none.
fn dot_segment(template: &RequestTemplate, route: &Route, values: &Values) -> ArgumentError {
    let mut segment = String::new();
    let mut places: Vec<&str> = Vec::new();
    // A closing separator ends the last segment.
    let end = Piece::Literal("/".to_owned());
    for piece in route.path.iter().chain([&end]) {
        if let Piece::Place(name) = piece {
            places.push(name);
        }
        for (at, text) in values.of(piece).split('/').enumerate() {
            if at > 0 {
                if is_dot_segment(&segment) && !places.is_empty() {
                    return blame(template, &places);
                }
                segment.clear();
                places.clear();
            }
            segment.push_str(text);
        }
    }
    uncomposable("its route has a segment `.` or `..`")
}

fn blame(template: &RequestTemplate, places: &[&str]) -> ArgumentError {
    let problem = "would make a path segment `.` or `..`";
    let fields: Vec<(String, String)> = path_parameters(template)
        .filter(|parameter| places.contains(&parameter.name.as_str()))
        .map(|parameter| (parameter.argument.clone(), problem.to_owned()))
        .collect();
    let named: Vec<_> = fields.iter().map(|(name, _)| format!("`{name}`")).collect();
    ArgumentError {
        fault: ArgumentFault::InvalidPathType,
        message: format!("{} {problem}", named.join(", ")),
        fields,
    }
}
