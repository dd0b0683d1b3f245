//! Parameters that are never arguments: those of the transport, of credentials, of somebody's session.
//!
//! Owns: the lists of their names. Must never be loosened by a document.

use std::collections::HashSet;

use super::security::Carriers;
use crate::catalog::Location;
use crate::catalog::naming::snake;

/// Headers that belong to the transport, to credentials or to routing, in lower case.
const HEADERS_NEVER: [&str; 20] = [
    "accept",
    "accept-encoding",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "forwarded",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
    "x-original-url",
    "x-rewrite-url",
];

/// Families of such headers.
const HEADER_PREFIXES_NEVER: [&str; 2] = ["proxy-", "x-forwarded-"];

/// Words in the names of cookies that carry somebody's identity.
const COOKIE_WORDS_NEVER: [&str; 14] = [
    "session",
    "sess",
    "sid",
    "sessionid",
    "jsessionid",
    "phpsessid",
    "token",
    "auth",
    "jwt",
    "csrf",
    "xsrf",
    "csrftoken",
    "access",
    "refresh",
];

/// Why a parameter is never an argument.
pub(super) fn never(
    name: &str,
    location: Location,
    carriers: &Carriers,
    in_route: &HashSet<&str>,
) -> Option<&'static str> {
    if carriers.has(location, name) {
        return Some("carries a credential of a security scheme");
    }
    match location {
        Location::Path => (!in_route.contains(name)).then_some("has no place in the route"),
        Location::Query => None,
        Location::Header => is_reserved_header(name).then_some("belongs to the transport"),
        Location::Cookie => snake(name)
            .split('_')
            .any(|word| COOKIE_WORDS_NEVER.contains(&word))
            .then_some("carries somebody's identity"),
    }
}

/// Whether a header, in any case, is never set from an argument: it is the message's own framing, routing or
/// identity.
pub fn is_reserved_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    HEADERS_NEVER.contains(&name.as_str())
        || HEADER_PREFIXES_NEVER
            .iter()
            .any(|prefix| name.starts_with(prefix))
}
