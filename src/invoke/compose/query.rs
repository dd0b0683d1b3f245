//! The query string: every style of OpenAPI 3 and Swagger 2. No value sets a parameter that is not its own.

use serde_json::Value;

use super::deep::{self, EMPTY, Met};
use super::encode::{encoded, push_encoded};
use super::fault::{about, uncomposable};
use super::fields::Entries;
use super::file::Inline;
use super::form;
use super::keys::Keys;
use super::path::{self, Values};
use super::route::Route;
use super::value::{self, Parts};
use crate::catalog::{CollectionSeparator, FileUse, Location, Parameter, RequestTemplate, Style};
use crate::invoke::{ArgumentError, ArgumentFault};

/// What `allowReserved` keeps in a value: RFC 3986's reserved characters without those that end a pair (`#`,
/// `&`), mean a space to readers of forms (`+`), or end a pair for some backends (`;`), and without the
/// apostrophe, which URL types encode. A percent sign is a character of the value like any other.
pub(super) const RESERVED_KEPT: &[u8] = b":/?[]@!$()*,=";

/// The same where a comma separates items.
pub(super) const RESERVED_KEPT_IN_LIST: &[u8] = b":/?[]@!$()*=";

/// The pairs of a query, encoded, in the order of the template.
#[derive(Debug)]
pub(super) struct Query {
    pairs: Vec<String>,
    /// Names that belong to a parameter, to the route or to a credential.
    keys: Keys,
    /// Those of credentials.
    carriers: Vec<String>,
}

impl Query {
    pub(super) fn new(template: &RequestTemplate, route: &Route) -> Self {
        let declared = template
            .parameters
            .iter()
            .filter(|parameter| parameter.location == Location::Query)
            .map(|parameter| parameter.name.as_str());
        let fixed = route.query_text();
        let fixed: Vec<_> = url::form_urlencoded::parse(fixed.as_bytes()).collect();
        let fixed = fixed.iter().map(|(key, _)| key.as_ref());
        Self {
            pairs: Vec::new(),
            keys: Keys::new(
                declared
                    .chain(fixed)
                    .chain(template.carriers_in(Location::Query)),
            ),
            carriers: template
                .carriers_in(Location::Query)
                .map(str::to_owned)
                .collect(),
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
            return self.add_deep(parameter, value);
        }
        let parts = value::parts(parameter.content_type.as_deref(), value)
            .ok_or_else(|| fault(parameter, value::NESTED))?;
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
                    self.keys
                        .claim_exploded(&parameter.name, key)
                        .map_err(|problem| fault(parameter, problem))?;
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
        self.pairs.push(pair(parameter, key, text));
    }

    /// Every value under its bracketed name.
    fn add_deep(&mut self, parameter: &Parameter, value: &Value) -> Result<(), ArgumentError> {
        let Self { pairs, keys, .. } = self;
        deep::walk(&parameter.name, value, &mut |met| {
            match met {
                Met::Key(name) => keys.claim_deep(&parameter.name, name)?,
                Met::Item(name) => keys.check_deep(&parameter.name, name)?,
                Met::Pair(name, text) => pairs.push(pair(parameter, name, &text)),
            }
            Ok(())
        })
        .map_err(|problem| fault(parameter, problem))
    }

    /// Takes the value that is the whole query string.
    pub(super) fn set_whole(
        &mut self,
        parameter: &Parameter,
        value: &Value,
    ) -> Result<(), ArgumentError> {
        let content = parameter.content_type.as_deref().unwrap_or_default();
        let is_form = content
            .to_ascii_lowercase()
            .starts_with("application/x-www-form-urlencoded");
        let text = if is_form {
            let Value::Object(members) = value else {
                return Err(fault(parameter, "must be an object"));
            };
            // Files have no place in a query.
            let carriers = self.carriers.iter().map(String::as_str);
            let mut entries = Entries::new(&[], carriers, Inline::new(0));
            for (key, member) in members {
                if !member.is_null() {
                    entries.add_undeclared(key, FileUse::Never, member)?;
                }
            }
            form::write(&entries.list)?
        } else {
            match value::parts(Some(content), value) {
                Some(Parts::One(text)) => {
                    let mut out = String::new();
                    push_encoded(&mut out, &text, kept(parameter, RESERVED_KEPT));
                    out
                }
                _ => return Err(fault(parameter, value::NESTED)),
            }
        };
        self.pairs.push(text);
        Ok(())
    }
}

/// One pair, encoded.
fn pair(parameter: &Parameter, key: &str, text: &str) -> String {
    let mut pair = encoded(key);
    pair.push('=');
    push_encoded(&mut pair, text, kept(parameter, RESERVED_KEPT));
    pair
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
        Style::Simple | Style::Label | Style::Matrix | Style::DeepObject | Style::Cookie => {
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
