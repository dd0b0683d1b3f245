//! Header parameters: style simple, raw bytes, no line break. Never a header that is the gateway's to set.

use crate::http::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use super::fault::{about, uncomposable};
use super::value::{self, Parts};
use crate::catalog::{CollectionSeparator, Parameter, Style, is_reserved_header};
use crate::invoke::{ArgumentError, ArgumentFault};

/// Adds a header parameter that has a value.
pub(super) fn add(
    headers: &mut HeaderMap,
    parameter: &Parameter,
    value: &Value,
) -> Result<(), ArgumentError> {
    let name = HeaderName::from_bytes(parameter.name.as_bytes()).map_err(|_| {
        uncomposable(&format!(
            "its header parameter `{}` has a name that HTTP cannot carry",
            parameter.argument
        ))
    })?;
    // Reading documents leaves these out already; this is the second look before one would go out.
    if is_reserved_header(name.as_str()) {
        return Err(uncomposable(&format!(
            "its header parameter `{}` is a header that arguments never set",
            parameter.argument
        )));
    }
    let text = text(parameter, value)?;
    if text.contains(['\r', '\n', '\0']) {
        return Err(about(
            ArgumentFault::HeaderInjection,
            &parameter.argument,
            "cannot hold a line break or NUL: it is sent as a header",
        ));
    }
    if text.starts_with([' ', '\t']) || text.ends_with([' ', '\t']) {
        return Err(fault(
            parameter,
            "cannot start or end with a space: it is sent as a header, where those are lost",
        ));
    }
    let value = HeaderValue::from_bytes(text.as_bytes()).map_err(|_| {
        fault(
            parameter,
            "cannot hold control characters: it is sent as a header",
        )
    })?;
    headers.insert(name, value);
    Ok(())
}

fn text(parameter: &Parameter, value: &Value) -> Result<String, ArgumentError> {
    let parts = value::parts(parameter.content_type.as_deref(), value)
        .ok_or_else(|| fault(parameter, value::NESTED))?;
    let separator = match parameter.style {
        Style::Simple => ',',
        Style::Collection(CollectionSeparator::Space) => ' ',
        Style::Collection(CollectionSeparator::Tab) => '\t',
        Style::Collection(CollectionSeparator::Pipe) => '|',
        _ => {
            return Err(uncomposable(&format!(
                "its header parameter `{}` has a style that headers do not have",
                parameter.argument
            )));
        }
    };
    let flat = value::flat(&parts);
    let (separator_in_item, pair_sign) = match &parts {
        Parts::One(text) => return Ok(text.to_string()),
        Parts::List(_) => (flat.iter().any(|item| item.contains(separator)), ','),
        Parts::Members(members) if parameter.explode => (
            flat.iter().any(|item| item.contains(separator))
                || members.iter().any(|(key, _)| key.contains('=')),
            '=',
        ),
        Parts::Members(_) => (flat.iter().any(|item| item.contains(separator)), ','),
    };
    if flat.is_empty() {
        return Err(fault(
            parameter,
            "cannot be empty: an empty list or object has no form here; leave it out",
        ));
    }
    if separator_in_item {
        return Err(fault(
            parameter,
            "holds the separator of its list inside an item; headers have no way to write that",
        ));
    }
    let separator = separator.to_string();
    match &parts {
        Parts::Members(members) if pair_sign == '=' => Ok(members
            .iter()
            .map(|(key, text)| format!("{key}={text}"))
            .collect::<Vec<_>>()
            .join(&separator)),
        _ => Ok(flat.join(&separator)),
    }
}

fn fault(parameter: &Parameter, problem: &str) -> ArgumentError {
    about(ArgumentFault::InvalidType, &parameter.argument, problem)
}
