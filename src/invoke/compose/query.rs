//! The query string: every style of OpenAPI 3 and Swagger 2. No value sets a parameter that is not its own.

use std::collections::HashSet;

use serde_json::Value;

use super::encode::{encoded, push_encoded};
use super::fault::{about, uncomposable};
use super::path::{self, Values};
use super::route::Route;
use super::value::{self, Parts};
use crate::catalog::{CollectionSeparator, Location, Parameter, RequestTemplate, Style};
use crate::invoke::{ArgumentError, ArgumentFault};

/// What `allowReserved` keeps: RFC 3986's reserved characters without those that end or split a pair
/// (`#`, `&`, `=`, `+`, and `;` for backends that split there) and without the apostrophe, which URL types
/// encode.
const RESERVED_KEPT: &[u8] = b":/?[]@!$()*,";

/// The same where a comma separates items.
const RESERVED_KEPT_IN_LIST: &[u8] = b":/?[]@!$()*";

const EMPTY: &str = "cannot be empty: an empty list or object has no form here; leave it out";

/// How deep a deepObject may be nested: what nested-query readers accept by default.
const DEEP_LEVELS_MAX: usize = 5;

/// The pairs of a query, encoded, in the order of the template.
#[derive(Debug)]
pub(super) struct Query {
    pairs: Vec<String>,
    /// Names that belong to a parameter or to the route, in lower case: some backends ignore case.
    taken: Vec<String>,
    /// Keys that came out of values, in lower case.
    generated: HashSet<String>,
}

impl Query {
    pub(super) fn new(template: &RequestTemplate, route: &Route) -> Self {
        let declared = template
            .parameters
            .iter()
            .filter(|parameter| parameter.location == Location::Query)
            .map(|parameter| parameter.name.to_lowercase());
        let fixed = route.query_text();
        let fixed = url::form_urlencoded::parse(fixed.as_bytes());
        let taken = declared
            .chain(fixed.map(|(key, _)| key.to_lowercase()))
            .collect();
        Self {
            pairs: Vec::new(),
            taken,
            generated: HashSet::new(),
        }
    }

    /// The whole query: the route's own part first.
    pub(super) fn compose(&self, route: &Route, values: &Values) -> String {
        let fixed = values.fill(&route.query);
        let own = (!fixed.is_empty()).then_some(fixed);
        let all: Vec<&str> = own.iter().chain(&self.pairs).map(String::as_str).collect();
        all.join("&")
    }

    /// Adds a parameter that has a value.
    pub(super) fn add(
        &mut self,
        parameter: &Parameter,
        value: &Value,
    ) -> Result<(), ArgumentError> {
        if parameter.style == Style::DeepObject
            && parameter.content_type.is_none()
            && matches!(value, Value::Array(_) | Value::Object(_))
        {
            return self.add_deep(parameter, &parameter.name, value, DEEP_LEVELS_MAX);
        }
        let parts =
            value::parts(parameter, value).ok_or_else(|| fault(parameter, value::NESTED))?;
        match (&parts, parameter.explode) {
            (Parts::One(text), _) => self.push(parameter, &parameter.name, text),
            (Parts::List(items), true) if items.is_empty() => return Err(fault(parameter, EMPTY)),
            (Parts::Members(members), true) if members.is_empty() => {
                return Err(fault(parameter, EMPTY));
            }
            (Parts::List(items), true) => {
                for item in items {
                    self.push(parameter, &parameter.name, item);
                }
            }
            (Parts::Members(members), true) => {
                for (key, text) in members {
                    self.claim_exploded(parameter, key)?;
                    self.push(parameter, key, text);
                }
            }
            (_, false) => {
                let joined = join(parameter, &parts)?;
                self.pairs
                    .push(format!("{}={joined}", encoded(&parameter.name)));
            }
        }
        Ok(())
    }

    fn push(&mut self, parameter: &Parameter, key: &str, text: &str) {
        let mut pair = encoded(key);
        pair.push('=');
        push_encoded(&mut pair, text, kept(parameter, RESERVED_KEPT));
        self.pairs.push(pair);
    }

    /// `name[key]=value`, nested objects as `name[key][key]=value`, list items under `name[key][]`: the
    /// form that readers of nested queries share. OpenAPI defines only the first.
    fn add_deep(
        &mut self,
        parameter: &Parameter,
        prefix: &str,
        value: &Value,
        levels_left: usize,
    ) -> Result<(), ArgumentError> {
        let Some(levels_left) = levels_left.checked_sub(1) else {
            return Err(fault(parameter, "is nested too deeply for a query"));
        };
        match value {
            Value::Object(members) if members.is_empty() => Err(fault(parameter, EMPTY)),
            Value::Array(items) if items.is_empty() => Err(fault(parameter, EMPTY)),
            Value::Object(members) => {
                for (key, member) in members {
                    if key.is_empty() || key.contains(['[', ']']) {
                        return Err(fault(
                            parameter,
                            "has a key that is empty or holds a bracket; the backend would read another key",
                        ));
                    }
                    let name = format!("{prefix}[{key}]");
                    self.claim_deep(parameter, &name)?;
                    match value::plain(member) {
                        Some(text) => self.push(parameter, &name, &text),
                        None if member.is_null() => return Err(fault(parameter, value::NESTED)),
                        None => self.add_deep(parameter, &name, member, levels_left)?,
                    }
                }
                Ok(())
            }
            Value::Array(items) => {
                let name = format!("{prefix}[]");
                for item in items {
                    let text = value::plain(item).ok_or_else(|| fault(parameter, value::NESTED))?;
                    self.push(parameter, &name, &text);
                }
                Ok(())
            }
            _ => Err(fault(parameter, value::NESTED)),
        }
    }

    /// Takes a key of an exploded object, which stands beside the parameters as if it were one.
    fn claim_exploded(&mut self, parameter: &Parameter, key: &str) -> Result<(), ArgumentError> {
        let own = parameter.name.to_lowercase();
        let folded = key.to_lowercase();
        let met = self
            .taken
            .iter()
            .filter(|name| **name != own)
            .any(|name| stem(name) == stem(&folded));
        if met {
            return Err(fault(
                parameter,
                "has a key that is another parameter's name; give that value in its own argument",
            ));
        }
        self.claim(parameter, folded)
    }

    /// Takes a bracketed key: a parameter may be declared under the very name.
    fn claim_deep(&mut self, parameter: &Parameter, name: &str) -> Result<(), ArgumentError> {
        let folded = name.to_lowercase();
        let met = self.taken.iter().any(|taken| {
            folded
                .strip_prefix(taken.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
                && *taken != parameter.name.to_lowercase()
        });
        if met {
            return Err(fault(
                parameter,
                "has a key that is another parameter's name; give that value in its own argument",
            ));
        }
        self.claim(parameter, folded)
    }

    fn claim(&mut self, parameter: &Parameter, folded: String) -> Result<(), ArgumentError> {
        if folded.is_empty() {
            return Err(fault(parameter, "has an empty key"));
        }
        if self.generated.insert(folded) {
            Ok(())
        } else {
            Err(fault(
                parameter,
                "has a key that differs from another only in case, or that another argument sets too",
            ))
        }
    }
}

/// The part of a key before its brackets: `a[b]` and `a` are one parameter to readers of nested queries.
fn stem(key: &str) -> &str {
    match key.find('[') {
        Some(at) if at > 0 => &key[..at],
        _ => key,
    }
}

/// The parts of a list or object in one value, by the style's separator.
fn join(parameter: &Parameter, parts: &Parts<'_>) -> Result<String, ArgumentError> {
    let flat = value::flat(parts);
    let separator = match parameter.style {
        Style::Form => {
            let keep = kept(parameter, RESERVED_KEPT_IN_LIST);
            let items = flat.into_iter().map(|item| {
                let mut out = String::new();
                push_encoded(&mut out, item, keep);
                out
            });
            return Ok(items.collect::<Vec<_>>().join(","));
        }
        Style::SpaceDelimited | Style::Collection(CollectionSeparator::Space) => {
            CollectionSeparator::Space
        }
        Style::PipeDelimited | Style::Collection(CollectionSeparator::Pipe) => {
            CollectionSeparator::Pipe
        }
        Style::Collection(CollectionSeparator::Tab) => CollectionSeparator::Tab,
        Style::Simple | Style::Label | Style::Matrix | Style::DeepObject => {
            return Err(uncomposable(&format!(
                "its query parameter `{}` has a style that queries do not have",
                parameter.argument
            )));
        }
    };
    path::separated(&flat, separator)
        .ok_or_else(|| fault(parameter, "holds the separator of its list inside an item"))
}

fn kept(parameter: &Parameter, reserved: &'static [u8]) -> &'static [u8] {
    if parameter.allow_reserved {
        reserved
    } else {
        b""
    }
}

fn fault(parameter: &Parameter, problem: &str) -> ArgumentError {
    about(ArgumentFault::InvalidType, &parameter.argument, problem)
}
