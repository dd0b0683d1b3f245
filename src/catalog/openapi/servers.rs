//! The base URL of an operation: operation, path, then document servers; Swagger's host and base path.
//!
//! Owns: server variables, relative servers. Must never decide whether an address may be connected to.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use url::Url;

use crate::catalog::document::{Document, Version, shown, text};
use crate::catalog::finding::Finding;
use crate::catalog::{DiagnosticCode, ReadOptions};
use crate::json::Pointer;

/// A part of the document and where it stands.
type Level<'d> = (&'d Map<String, Value>, &'d Pointer);

/// The absolute URL routes are appended to, without a trailing slash; none when nothing usable is known. And
/// what was odd about it.
///
/// A relative one resolves against the file it stands in: a path item may come from another host than the
/// document.
pub(super) fn base_url(
    document: &Document,
    item: Level<'_>,
    operation: Level<'_>,
    options: &ReadOptions,
) -> (Option<String>, Option<Finding>) {
    let own = &document.settings;
    if let Some(url) = options.base_url.as_ref().or(own.base_url.as_ref()) {
        return (usable(url.clone()), None);
    }
    let Value::Object(root) = &document.value else {
        return (None, None);
    };
    let nowhere = Pointer::root();
    if document.version == Version::V20 {
        let url = document.url.as_ref();
        let declared = swagger(root, operation.0, url);
        return (declared.and_then(|text| absolute(&text, url)), None);
    }
    let found = [operation, item, (root, &nowhere)]
        .into_iter()
        .find_map(|(level, at)| Some((level.get("servers")?.as_array()?.first()?, at)));
    // No servers at all mean one whose URL is `/`.
    let Some((server, at)) = found else {
        return (absolute("/", document.url.as_ref()), None);
    };
    let mut doubt = None;
    let filled = filled(server, at, (&own.server_variables, options), &mut doubt);
    let url = filled.and_then(|text| absolute(&text, document.url_at(at)));
    (url, doubt)
}

fn absolute(text: &str, base: Option<&Url>) -> Option<String> {
    let url = match (Url::parse(text), base) {
        (Ok(url), _) => url,
        (Err(url::ParseError::RelativeUrlWithoutBase), Some(base)) => base.join(text).ok()?,
        _ => return None,
    };
    usable(url)
}

/// The URL of a server with its variables filled: the operator's value, else the default.
fn filled(
    server: &Value,
    at: &Pointer,
    (own, options): (&BTreeMap<String, String>, &ReadOptions),
    doubt: &mut Option<Finding>,
) -> Option<String> {
    let url = server.get("url")?.as_str()?;
    let variables = server.get("variables").and_then(Value::as_object);
    let mut out = String::with_capacity(url.len());
    let mut rest = url;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        out.push_str(before);
        let variable = variables.and_then(|all| all.get(name)?.as_object());
        let given = own.get(name).or_else(|| options.server_variables.get(name));
        match given {
            Some(value) => out.push_str(value),
            None => out.push_str(&text(variable?, "default")?),
        }
        if let Some(given) = given.filter(|given| !is_possible(variable, given)) {
            // The default would be another server than the one that was meant.
            *doubt = Some(Finding::new(
                DiagnosticCode::Malformed,
                &at.join("servers"),
                format!(
                    "the server variable {} cannot be {} here, so that no server is known; correct the setting",
                    shown(name),
                    shown(given)
                ),
            ));
            return None;
        }
        rest = after;
    }
    out.push_str(rest);
    Some(out)
}

/// Whether a variable may have a value: one of those it lists, where it lists any.
fn is_possible(variable: Option<&Map<String, Value>>, value: &str) -> bool {
    let listed = variable.and_then(|variable| variable.get("enum")?.as_array());
    listed.is_none_or(|listed| {
        listed.is_empty()
            || listed.iter().any(|one| match one {
                Value::String(text) => text == value,
                // YAML reads 8443 and true as what they look like.
                Value::Number(number) => number.to_string() == value,
                Value::Bool(flag) => flag.to_string() == value,
                _ => false,
            })
    })
}

/// Swagger 2.0: scheme, host and base path; what is missing is that of the document's own URL.
fn swagger(
    root: &Map<String, Value>,
    operation: &Map<String, Value>,
    url: Option<&Url>,
) -> Option<String> {
    let base_path = root.get("basePath").and_then(Value::as_str).unwrap_or("/");
    let Some(host) = root.get("host").and_then(Value::as_str) else {
        return Some(base_path.to_owned());
    };
    let schemes: Vec<&str> = [operation, root]
        .into_iter()
        .find_map(|level| level.get("schemes")?.as_array())
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    // TLS where it is offered; without a word, the way the document came, and for files TLS.
    let scheme = match (schemes.as_slice(), url) {
        (offered, _) if offered.contains(&"https") => "https",
        (offered, _) if offered.contains(&"http") => "http",
        ([], Some(url)) => url.scheme(),
        ([], None) => "https",
        _ => return None,
    };
    let slash = if base_path.starts_with('/') { "" } else { "/" };
    Some(format!("{scheme}://{host}{slash}{base_path}"))
}

/// Only http and https with a host; no query, fragment or user info, no slash at the end.
fn usable(mut url: Url) -> Option<String> {
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return None;
    }
    url.set_query(None);
    url.set_fragment(None);
    // A document's credentials are nobody's to use.
    url.set_username("").ok()?;
    url.set_password(None).ok()?;
    Some(url.as_str().trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn base(root: Value, item: Value, operation: Value, url: Option<&str>) -> Option<String> {
        let options = ReadOptions {
            server_variables: [("region".to_owned(), "eu".to_owned())].into(),
            ..ReadOptions::default()
        };
        let url = url.map(|url| Url::parse(url).unwrap());
        let document = Document::new(root, "d".into(), "d".into(), url).unwrap();
        let (Value::Object(item), Value::Object(operation)) = (item, operation) else {
            panic!("objects");
        };
        let root = Pointer::root();
        base_url(&document, (&item, &root), (&operation, &root), &options).0
    }

    fn servers(url: &str) -> Value {
        json!({"openapi": "3.0.0", "servers": [{"url": url}, {"url": "https://second"}]})
    }

    #[test]
    fn the_nearest_server_wins_and_the_first_of_several() {
        let doc = servers("https://doc.test/v1/");
        let level = |url: &str| json!({"servers": [{"url": url}]});
        let all = [
            (json!({}), json!({}), "https://doc.test/v1"),
            (level("https://path.test"), json!({}), "https://path.test"),
            (
                level("https://path.test"),
                level("http://op.test/x"),
                "http://op.test/x",
            ),
        ];
        for (item, operation, want) in all {
            assert_eq!(
                base(doc.clone(), item, operation, None).as_deref(),
                Some(want)
            );
        }
    }

    #[test]
    fn relative_servers_and_variables_are_resolved() {
        let here = Some("https://host.test/docs/openapi.json");
        let none = || json!({});
        for (root, url, want) in [
            (servers("/v2"), here, Some("https://host.test/v2")),
            (servers("v2/"), here, Some("https://host.test/docs/v2")),
            (servers("/v2"), None, None),
            (servers("ftp://x/y"), None, None),
            (
                servers("https://u:p@x.test/y?a=b#c"),
                None,
                Some("https://x.test/y"),
            ),
            (servers("https://{region}.test/{unknown}"), None, None),
            (json!({"openapi": "3.0.0"}), here, Some("https://host.test")),
            (json!({"openapi": "3.0.0", "servers": []}), None, None),
            (
                json!({"openapi": "3.0.0", "servers": [{"url": "https://{region}.{zone}.test/{v}",
                    "variables": {"region": {"default": "us"}, "zone": {"default": "a"}, "v": {"default": 1}}}]}),
                None,
                Some("https://eu.a.test/1"),
            ),
            (
                json!({"openapi": "3.0.0", "servers": [{"url": "https://{region}.test",
                    "variables": {"region": {"default": "us", "enum": ["us", "eu"]}}}]}),
                None,
                Some("https://eu.test"),
            ),
            (
                json!({"openapi": "3.0.0", "servers": [{"url": "https://{region}.test",
                    "variables": {"region": {"default": "us", "enum": ["us", "ap"]}}}]}),
                None,
                None,
            ),
            (
                json!({"swagger": "2.0", "host": "h.test", "basePath": "/v1"}),
                None,
                Some("https://h.test/v1"),
            ),
            (
                json!({"swagger": "2.0", "host": "h.test:8080", "basePath": "v1/", "schemes": ["http", "https"]}),
                None,
                Some("https://h.test:8080/v1"),
            ),
            (
                json!({"swagger": "2.0", "host": "h.test", "schemes": ["http"]}),
                None,
                Some("http://h.test"),
            ),
            (
                json!({"swagger": "2.0", "host": "h.test", "schemes": ["wss"]}),
                None,
                None,
            ),
            (
                json!({"swagger": "2.0", "basePath": "/v1"}),
                here,
                Some("https://host.test/v1"),
            ),
            (json!({"swagger": "2.0", "basePath": "/v1"}), None, None),
        ] {
            assert_eq!(
                base(root.clone(), none(), none(), url).as_deref(),
                want,
                "{root}"
            );
        }
    }
}
