//! The base URL of an operation: operation, path, then document servers; Swagger's host and base path.
//!
//! Owns: server variables, relative servers. Must never decide whether an address may be connected to.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use url::Url;

use crate::catalog::ReadOptions;
use crate::catalog::document::{Document, Version, text};

/// The absolute URL routes are appended to, without a trailing slash; none when nothing usable is known.
pub(super) fn base_url(
    document: &Document,
    item: &Map<String, Value>,
    operation: &Map<String, Value>,
    options: &ReadOptions,
) -> Option<String> {
    let own = &document.settings;
    if let Some(url) = options.base_url.as_ref().or(own.base_url.as_ref()) {
        return usable(url.clone());
    }
    let Value::Object(root) = &document.value else {
        return None;
    };
    let declared = match document.version {
        Version::V20 => swagger(root, operation, document.url.as_ref()),
        _ => [operation, item, root]
            .into_iter()
            .find_map(|level| level.get("servers")?.as_array()?.first())
            .map_or_else(
                // No servers at all mean one whose URL is `/`.
                || Some("/".to_owned()),
                |server| filled(server, &own.server_variables, options),
            ),
    }?;
    let url = match (Url::parse(&declared), &document.url) {
        (Ok(url), _) => url,
        (Err(url::ParseError::RelativeUrlWithoutBase), Some(base)) => base.join(&declared).ok()?,
        _ => return None,
    };
    usable(url)
}

/// The URL of a server with its variables filled: the operator's value, else the default.
fn filled(server: &Value, own: &BTreeMap<String, String>, options: &ReadOptions) -> Option<String> {
    let url = server.get("url")?.as_str()?;
    let variables = server.get("variables").and_then(Value::as_object);
    let mut out = String::with_capacity(url.len());
    let mut rest = url;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        out.push_str(before);
        match own.get(name).or_else(|| options.server_variables.get(name)) {
            Some(value) => out.push_str(value),
            None => out.push_str(&text(variables?.get(name)?.as_object()?, "default")?),
        }
        rest = after;
    }
    out.push_str(rest);
    Some(out)
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
        base_url(&document, &item, &operation, &options)
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
