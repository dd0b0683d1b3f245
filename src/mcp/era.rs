//! Which revision of the protocol one request speaks.
//!
//! Owns: the supported revisions, the choice between the stateless era (2026-07-28) and the handshake era
//! (2025-11-25, 2025-06-18), and what the stateless era asks of every request. Must never remember
//! anything between requests: both eras are served without sessions.

use serde_json::Value;

use super::headers::{self, Headers};
use super::{Refusal, Request};

/// The stateless revision.
pub const MODERN_VERSION: &str = "2026-07-28";

/// The revisions that begin with `initialize`, newest first.
pub const LEGACY_VERSIONS: [&str; 2] = ["2025-11-25", "2025-06-18"];

/// Every revision served, newest first.
pub const SUPPORTED_VERSIONS: [&str; 3] = [MODERN_VERSION, LEGACY_VERSIONS[0], LEGACY_VERSIONS[1]];

const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The era of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    /// 2026-07-28: every request says who and what it is.
    Modern,
    /// 2025-11-25 and 2025-06-18: `initialize` first, though nothing of it is kept.
    Legacy,
}

/// A refused request, with the era whose status the refusal travels under.
type Refused = (Era, Refusal);

/// Chooses the era of a request and holds it to that era's rules. `headers` is `None` on stdio.
pub(super) fn select(request: &Request, headers: Option<Headers<'_>>) -> Result<Era, Refused> {
    let modern = |refusal| (Era::Modern, refusal);
    let header = match headers {
        Some(headers) => headers.one(headers::PROTOCOL_VERSION).map_err(modern)?,
        None => None,
    };
    let named = request.params.meta(META_VERSION);
    let is_modern = match request.method.as_str() {
        // The handshake of a client that does not know the stateless era, whatever its header says.
        "initialize" => named.is_some(),
        "server/discover" => true,
        _ => named.is_some() || header.is_some_and(|version| !LEGACY_VERSIONS.contains(&version)),
    };
    if !is_modern {
        return Ok(Era::Legacy);
    }
    check(request, named, header, headers).map_err(modern)?;
    Ok(Era::Modern)
}

/// What the stateless era asks of every request, in the order in which a client can mend it.
fn check(
    request: &Request,
    named: Option<&Value>,
    header: Option<&str>,
    headers: Option<Headers<'_>>,
) -> Result<(), Refusal> {
    let missing_version = Refusal::MissingMeta {
        key: META_VERSION,
        wanted: "a string",
    };
    let named = match (named, header) {
        (Some(named), _) => named.as_str().ok_or(missing_version)?,
        // The header alone says enough to tell the client what it may speak here.
        (None, Some(header)) if !SUPPORTED_VERSIONS.contains(&header) => {
            return Err(Refusal::version(header));
        }
        (None, _) => return Err(missing_version),
    };
    if let Some(headers) = headers {
        headers.must_equal(headers::PROTOCOL_VERSION, named, "protocolVersion")?;
    }
    if named != MODERN_VERSION {
        return Err(Refusal::version(named));
    }
    if !request
        .params
        .meta(META_CAPABILITIES)
        .is_some_and(Value::is_object)
    {
        return Err(Refusal::MissingMeta {
            key: META_CAPABILITIES,
            wanted: "an object",
        });
    }
    match headers {
        Some(headers) => headers.must_equal(headers::METHOD, &request.method, "method"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderName, HeaderValue};
    use serde_json::json;

    use super::*;
    use crate::mcp::Message;

    /// The era, or the code of the refusal.
    fn era(method: &str, meta: Option<&str>, header: Option<&str>) -> Result<Era, i32> {
        let params = match meta {
            Some(version) => json!({"_meta": {META_VERSION: version, META_CAPABILITIES: {}}}),
            None => json!({"_meta": {"progressToken": 1}}),
        };
        let text = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let Ok(Message::Request(request)) = Message::read(text.to_string().as_bytes()) else {
            panic!("{text}")
        };
        let mut map = HeaderMap::new();
        let mut add = |name: &str, value: &str| {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            map.insert(name, HeaderValue::from_str(value).unwrap());
        };
        if let Some(version) = header {
            add(headers::PROTOCOL_VERSION, version);
        }
        add(headers::METHOD, method);
        select(&request, Some(Headers(&map))).map_err(|(_, refusal)| refusal.code())
    }

    #[test]
    fn eras_follow_the_table() {
        let (new, old) = (Some("2026-07-28"), Some("2025-11-25"));
        for (method, meta, header, want) in [
            ("tools/list", new, new, Ok(Era::Modern)),
            ("initialize", new, new, Ok(Era::Modern)),
            ("server/discover", new, new, Ok(Era::Modern)),
            ("initialize", None, None, Ok(Era::Legacy)),
            ("initialize", None, new, Ok(Era::Legacy)),
            ("tools/list", None, None, Ok(Era::Legacy)),
            ("tools/list", None, old, Ok(Era::Legacy)),
            ("tools/list", None, Some("2025-06-18"), Ok(Era::Legacy)),
            ("tools/list", None, new, Err(-32_602)),
            ("server/discover", None, None, Err(-32_602)),
            ("server/discover", None, old, Err(-32_602)),
            ("tools/list", None, Some("2025-03-26"), Err(-32_022)),
            ("tools/list", None, Some("1900-01-01"), Err(-32_022)),
            (
                "tools/list",
                Some("1900-01-01"),
                Some("1900-01-01"),
                Err(-32_022),
            ),
            ("tools/list", Some("1900-01-01"), new, Err(-32_020)),
            ("tools/list", new, None, Err(-32_020)),
            ("tools/list", new, old, Err(-32_020)),
            // A handshake revision is spoken by beginning with the handshake.
            ("tools/list", old, old, Err(-32_022)),
        ] {
            assert_eq!(
                era(method, meta, header),
                want,
                "{method} {meta:?} {header:?}"
            );
        }
    }

    #[test]
    fn stdio_has_no_headers_to_miss() {
        let text = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta":
            {META_VERSION: MODERN_VERSION, META_CAPABILITIES: {}}}});
        let Ok(Message::Request(request)) = Message::read(text.to_string().as_bytes()) else {
            panic!()
        };
        assert_eq!(select(&request, None), Ok(Era::Modern));
    }
}
