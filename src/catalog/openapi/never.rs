//! Parameters that are never arguments: those of the transport, of credentials, of somebody's session.
//!
//! Owns: the lists of their names. Must never be loosened by a document.

use std::collections::HashSet;

use super::security::Carriers;
use crate::catalog::Location;
use crate::catalog::naming::snake;

/// Headers that belong to the transport, to credentials or to routing, in lower case.
const HEADERS_NEVER: [&str; 21] = [
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
    "http2-settings",
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
const COOKIE_WORDS_NEVER: [&str; 38] = [
    "access",
    "apikey",
    "aspxauth",
    "auth",
    "authentication",
    "authorization",
    "bearer",
    "clearance",
    "credential",
    "credentials",
    "csrf",
    "identity",
    "impersonate",
    "jwt",
    "logged",
    "login",
    "oauth",
    "oidc",
    "password",
    "passwd",
    "phpsessid",
    "pwd",
    "refresh",
    "remember",
    "saml",
    "secret",
    "secure",
    "sess",
    "sessid",
    "session",
    "sid",
    "signature",
    "signin",
    "sso",
    "ticket",
    "token",
    "user",
    "xsrf",
];

/// Ends of such words, where names are written without a separator.
const COOKIE_ENDS_NEVER: [&str; 7] = [
    "auth",
    "csrf",
    "jwt",
    "sessid",
    "session",
    "sessionid",
    "token",
];

/// Beginnings of such words.
const COOKIE_BEGINNINGS_NEVER: [&str; 4] = ["aspsession", "csrf", "sessionid", "xsrf"];

/// Whether a cookie's name says that it carries somebody's identity. It is never set from an argument: an
/// agent could take another's place with it.
pub fn is_identity_cookie(name: &str) -> bool {
    snake(name).split('_').any(|word| {
        COOKIE_WORDS_NEVER.contains(&word)
            || COOKIE_ENDS_NEVER.iter().any(|end| word.ends_with(end))
            || COOKIE_BEGINNINGS_NEVER
                .iter()
                .any(|begin| word.starts_with(begin))
    })
}

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
        Location::Query | Location::QueryString => None,
        Location::Header => is_reserved_header(name).then_some("belongs to the transport"),
        Location::Cookie => is_identity_cookie(name).then_some("carries somebody's identity"),
    }
}

/// What headers are compared by. Case is ignored, and so is the difference between `_` and `-`: gateways of the
/// CGI family (CGI, WSGI, Rack, PHP) read both as the same variable.
pub(super) fn header_key(name: &str) -> String {
    name.to_ascii_lowercase().replace('_', "-")
}

/// Whether a header, in any case, is never set from an argument: it is the message's own framing, routing or
/// identity.
pub fn is_reserved_header(name: &str) -> bool {
    let name = header_key(name);
    HEADERS_NEVER.contains(&name.as_str())
        || HEADER_PREFIXES_NEVER
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_reserved_however_they_are_spelled() {
        for name in [
            "Host",
            "content_length",
            "Transfer_Encoding",
            "X-Forwarded_For",
            "x_forwarded_host",
            "PROXY_AUTHORIZATION",
            "X_HTTP_Method-Override",
            "HTTP2-Settings",
        ] {
            assert!(is_reserved_header(name), "{name}");
        }
        for name in ["X-Host", "Content-Encoding", "If-Match", "x_id", "Proxy"] {
            assert!(!is_reserved_header(name), "{name}");
        }
    }

    #[test]
    fn cookies_of_identity_are_told_by_their_names() {
        for name in [
            "session",
            "JSESSIONID",
            "PHPSESSID",
            "connect.sid",
            "ASP.NET_SessionId",
            ".ASPXAUTH",
            "ASPSESSIONIDQQABCD",
            "__Secure-next-auth.session-token",
            "csrftoken",
            "XSRF-TOKEN",
            "accessToken",
            "remember_me",
            "wordpress_logged_in_ab12",
            "laravel_session",
            "user_id",
            "authToken",
            "id_token",
            "xoauth",
        ] {
            assert!(is_identity_cookie(name), "{name}");
        }
        for name in [
            "theme",
            "lang",
            "debug",
            "primitive",
            "author",
            "possessions",
            "basket",
            "inside",
        ] {
            assert!(!is_identity_cookie(name), "{name}");
        }
    }
}
