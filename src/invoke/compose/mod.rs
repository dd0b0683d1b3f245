//! Arguments become a request, or an error that says what to change. Pure: sends nothing, reads no clock.
//!
//! Reading order: `route` (the route template as pieces), `names` (unknown arguments), `value` (JSON values
//! as wire text), `keys` and `deep` (keys that come out of values), `path`, `query`, `header`, `cookie`, `file`,
//! `fields` (what a form or multipart body holds) with `form` and `multipart` (how it is written), `body`, then
//! [`compose`] puts them together. Must never convert a unit, a date, a time zone or the case of a value.

mod accept;
mod body;
mod cookie;
mod deep;
mod encode;
mod fault;
mod fields;
mod file;
mod form;
mod header;
mod hidden;
mod keys;
mod multipart;
mod names;
mod path;
mod query;
mod route;
mod types;
mod value;

#[cfg(test)]
mod tests;

use crate::http::Method;
use crate::http::header::{ACCEPT, HeaderMap};
use serde_json::{Map, Value};
use url::{Position, Url};

use super::ArgumentError;
use crate::catalog::{Location, Parameter, RequestTemplate, is_json_media_type};
use crate::http::Request;
pub use hidden::Identity;

use fault::{null_not_allowed, too_long, uncomposable};
use route::Route;

/// The longest URL that is composed, in bytes: the HTTP library's own limit is 65,534, and a backend that
/// takes more than 8 KiB is rare.
const URL_BYTES_MAX: usize = 60_000;

/// What one call may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes of all files that are given inline, in bytes, decoded (invoke.md, "Compose").
    pub inline_bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            inline_bytes_max: 1024 * 1024,
        }
    }
}

/// Composes the request of a call, knowing nothing of the arguments' schemas (invoke.md, "Compose").
///
/// The order of checks: whether the operation can be called at all; unknown names; missing path parameters;
/// every parameter in the template's order (null, then the rules of its place); the body; then the path and
/// the URL again as a whole.
pub fn compose(
    template: &RequestTemplate,
    arguments: &Map<String, Value>,
) -> Result<Request, ArgumentError> {
    compose_checked(template, &Value::Null, arguments, Limits::default())
}

/// Composes the request of a call, and holds path values to the JSON types their input schema names.
///
/// Only lists and objects are told from plain values: a plain value of another type has the same text, and
/// whether it will do is the backend's to judge.
pub fn compose_checked(
    template: &RequestTemplate,
    input_schema: &Value,
    arguments: &Map<String, Value>,
    limits: Limits,
) -> Result<Request, ArgumentError> {
    compose_for(
        template,
        input_schema,
        arguments,
        limits,
        &Identity::default(),
    )
}

/// Composes the request of a call that may use parts of the caller's identity.
///
/// A hidden argument whose source the identity lacks refuses the call, and so does a hidden value that has no
/// form where it travels; neither is named.
pub fn compose_for(
    template: &RequestTemplate,
    input_schema: &Value,
    arguments: &Map<String, Value>,
    limits: Limits,
    identity: &Identity,
) -> Result<Request, ArgumentError> {
    request(template, input_schema, arguments, limits, identity)
        .map_err(|error| hidden::masked(template, error))
}

fn request(
    template: &RequestTemplate,
    input_schema: &Value,
    arguments: &Map<String, Value>,
    limits: Limits,
    identity: &Identity,
) -> Result<Request, ArgumentError> {
    let method = Method::from_bytes(template.method.as_bytes())
        .ok()
        .filter(|method| *method != Method::CONNECT)
        .ok_or_else(|| uncomposable("its HTTP method cannot be sent"))?;
    let base = base_url(template)?;
    let route = Route::parse(&template.route);
    path::check_places(template, &route)?;
    names::check_known(template, arguments)?;
    let arguments = &*hidden::fill(template, arguments, identity)?;
    path::check_present(template, &route, arguments)?;

    let mut values = path::Values::new();
    let mut query = query::Query::new(template, &route);
    let mut cookies = cookie::Cookies::new(template);
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, accept::header(&template.accepts));
    for parameter in &template.parameters {
        let Some(value) = arguments.get(&parameter.argument) else {
            continue;
        };
        match parameter.location {
            Location::Path => {
                types::check(input_schema, parameter, value)?;
                values.insert(&parameter.name, path::text(parameter, value)?);
            }
            Location::Query if has_value(parameter, value)? => query.add(parameter, value)?,
            Location::Header if has_value(parameter, value)? => {
                header::add(&mut headers, parameter, value)?;
            }
            Location::QueryString if has_value(parameter, value)? => {
                query.set_whole(parameter, value)?;
            }
            Location::Cookie if has_value(parameter, value)? => cookies.add(parameter, value)?,
            Location::Query | Location::Header | Location::QueryString | Location::Cookie => {}
        }
    }
    cookies.write(&mut headers)?;
    let inline = file::Inline::new(limits.inline_bytes_max);
    let body = body::compose(template, arguments, inline, &mut headers)?;
    let url = assemble(template, &base, &route, &values, &query)?;
    Ok(Request {
        method,
        url,
        headers,
        body,
    })
}

/// The base URL of the template, checked to be one that routes can be appended to.
fn base_url(template: &RequestTemplate) -> Result<Url, ArgumentError> {
    let text = template.base_url.as_deref().ok_or_else(|| {
        uncomposable("its document names no server; the operator must give a base URL")
    })?;
    let base = Url::parse(text)
        .map_err(|_| uncomposable("its server's URL cannot be read; it must be absolute"))?;
    let plain = matches!(base.scheme(), "http" | "https")
        && base.has_host()
        && base.username().is_empty()
        && base.password().is_none()
        && base.query().is_none()
        && base.fragment().is_none();
    if plain {
        Ok(base)
    } else {
        Err(uncomposable(
            "its server's URL must be http or https, without user info, query or fragment",
        ))
    }
}

/// Whether there is something to send. A null that the schema allows is RFC 6570's undefined value: the
/// parameter is left out.
fn has_value(parameter: &Parameter, value: &Value) -> Result<bool, ArgumentError> {
    // JSON has a text for null.
    let is_json = || {
        parameter
            .content_type
            .as_deref()
            .is_some_and(is_json_media_type)
    };
    if !value.is_null() || (parameter.nullable && is_json()) {
        return Ok(true);
    }
    if parameter.nullable {
        return Ok(false);
    }
    Err(null_not_allowed(&parameter.argument))
}

/// Puts the URL together and checks it again as a whole.
fn assemble(
    template: &RequestTemplate,
    base: &Url,
    route: &Route,
    values: &path::Values,
    query: &query::Query,
) -> Result<Url, ArgumentError> {
    let path = path::compose(template, base.path(), route, values)?;
    let query = query.compose(route, values);
    let mut text = base[..Position::BeforePath].to_owned();
    text.push_str(&path);
    if !query.is_empty() {
        text.push('?');
        text.push_str(&query);
    }
    if text.len() > URL_BYTES_MAX {
        return Err(too_long(URL_BYTES_MAX));
    }
    // The URL type must hold what was composed, byte for byte: what it would change (dot segments, odd
    // characters) would otherwise reach another resource than the one that was checked.
    match Url::parse(&text) {
        Ok(url)
            if url.path() == path
                && url.query().unwrap_or_default() == query
                && Request::can_carry(&url) =>
        {
            Ok(url)
        }
        _ => Err(uncomposable("its route cannot be written as a URL")),
    }
}
