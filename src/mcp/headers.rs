//! The protocol's own HTTP headers, read once and strictly.
//!
//! Owns: `MCP-Protocol-Version`, `Mcp-Method` and `Mcp-Name`: that each comes once, is readable, and says
//! what the body says. Must never look at any other header.

use axum::http::HeaderMap;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::Refusal;
use super::refusal::cut;

/// The revision a request speaks.
pub(super) const PROTOCOL_VERSION: &str = "MCP-Protocol-Version";
/// The method of the body.
pub(super) const METHOD: &str = "Mcp-Method";
/// The tool the body calls.
pub(super) const NAME: &str = "Mcp-Name";

/// The headers of a request, for a transport that has some.
#[derive(Debug, Clone, Copy)]
pub(super) struct Headers<'a>(pub(super) &'a HeaderMap);

impl<'a> Headers<'a> {
    /// The one value of a header, without the white space around it; `None` when it is not there.
    pub(super) fn one(self, name: &str) -> Result<Option<&'a str>, Refusal> {
        let mut values = self.0.get_all(name).iter();
        let Some(value) = values.next() else {
            return Ok(None);
        };
        if values.next().is_some() {
            return Err(mismatch(format!("{name} header is repeated")));
        }
        let text = value
            .to_str()
            .map_err(|_| mismatch(format!("{name} header holds characters it may not")))?;
        Ok(Some(text.trim_matches([' ', '\t'])))
    }

    /// Holds that a header is there and equals a text of the body.
    pub(super) fn must_equal(self, name: &str, body: &str, what: &str) -> Result<(), Refusal> {
        let header = self
            .one(name)?
            .ok_or_else(|| mismatch(format!("{name} header is missing")))?;
        if header == body {
            return Ok(());
        }
        Err(differs(name, header, what, body))
    }

    /// Holds that `Mcp-Name` is there and, decoded, equals the name in the body.
    pub(super) fn name_must_equal(self, body: &str) -> Result<(), Refusal> {
        let header = self
            .one(NAME)?
            .ok_or_else(|| mismatch(format!("{NAME} header is missing")))?;
        let decoded = decode(header)?;
        if decoded.as_deref().unwrap_or(header) == body {
            return Ok(());
        }
        Err(differs(NAME, header, "name", body))
    }
}

/// The text of a `=?base64?…?=` value; `None` for one that stands for itself. The markers are case-sensitive.
fn decode(value: &str) -> Result<Option<String>, Refusal> {
    let Some(inner) = value
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="))
    else {
        return Ok(None);
    };
    let bytes = STANDARD
        .decode(inner)
        .map_err(|_| mismatch(format!("{NAME} header is not valid base64")))?;
    String::from_utf8(bytes)
        .map(Some)
        .map_err(|_| mismatch(format!("{NAME} header does not hold UTF-8")))
}

fn differs(name: &str, header: &str, what: &str, body: &str) -> Refusal {
    let (header, body) = (cut(header), cut(body));
    mismatch(format!(
        "{name} header `{header}` does not match body {what} `{body}`"
    ))
}

fn mismatch(why: String) -> Refusal {
    Refusal::HeaderMismatch(why)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn holds(values: &[&[u8]], body: &str) -> bool {
        let mut map = HeaderMap::new();
        for value in values {
            map.append("mcp-name", HeaderValue::from_bytes(value).unwrap());
        }
        Headers(&map).name_must_equal(body).is_ok()
    }

    #[test]
    fn names_compare_trimmed_decoded_and_case_sensitively() {
        for (values, body, want) in [
            (&[b"load_tool".as_slice()][..], "load_tool", true),
            (&[b" \tload_tool "], "load_tool", true),
            (&[b"Load_tool"], "load_tool", false),
            (&[b"load_tool", b"load_tool"], "load_tool", false),
            (&[], "load_tool", false),
            (&[b"=?base64?w7xiZXI=?="], "über", true),
            (&[b"=?BASE64?w7xiZXI=?="], "über", false),
            (&[b"=?base64?w7xiZXI?="], "über", false),
            (&[b"=?base64?!?="], "!", false),
            (&[b"=?base64?/w==?="], "\u{ff}", false),
            (&["über".as_bytes()], "über", false),
            (&[b"=?base64?"], "=?base64?", true),
        ] {
            assert_eq!(holds(values, body), want, "{values:?} {body}");
        }
    }
}
