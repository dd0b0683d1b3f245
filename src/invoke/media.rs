//! What a Content-Type says of a body: JSON, text, bytes, or nothing. Never looks at the body itself, except
//! to tell text from bytes where the header does not.

use crate::http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};

/// The longest media type that is repeated, in bytes: RFC 6838 allows 127 for each half.
const ESSENCE_BYTES_MAX: usize = 255;

/// A body's declared type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Media {
    /// Type and subtype in lower case, without parameters; none when there is none to read.
    pub(super) essence: Option<String>,
    /// How the body is read.
    pub(super) kind: Kind,
    /// Whether bytes beyond ASCII are something other than UTF-8.
    pub(super) ascii_only: bool,
}

/// How a body is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// JSON.
    Json,
    /// Text of another type.
    Text,
    /// Described, never forwarded.
    Binary,
    /// The header tells neither: the body decides.
    Unknown,
}

impl Media {
    /// Reads the headers of an answer.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let header = headers
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let mut parts = header.split(';');
        let essence = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let essence = is_essence(&essence).then_some(essence);
        let charset = parts
            .filter_map(|parameter| parameter.split_once('='))
            .find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))
            .map(|(_, value)| value.trim().trim_matches(['"', '\'']).to_ascii_lowercase());
        let mut kind = essence.as_deref().map_or(Kind::Unknown, kind);
        let ascii_only = match charset.as_deref() {
            None | Some("utf-8" | "utf8" | "utf8mb4" | "") => false,
            // Every ASCII byte means something else there.
            Some(other)
                if other.starts_with("utf-")
                    || other.starts_with("ucs-")
                    || other.starts_with("utf1") =>
            {
                kind = Kind::Binary;
                false
            }
            Some(_) => true,
        };
        // An encoding that was not asked for and cannot be undone.
        if headers
            .get(CONTENT_ENCODING)
            .is_some_and(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity"))
        {
            kind = Kind::Binary;
        }
        Self {
            essence,
            kind,
            ascii_only,
        }
    }

    /// Whether the type is HTML, whose errors are never forwarded.
    pub(super) fn is_html(&self) -> bool {
        matches!(
            self.essence.as_deref(),
            Some("text/html" | "application/xhtml+xml")
        )
    }

    /// The text of a whole body, or nothing when it is not text of a kind that can be forwarded.
    pub(super) fn text<'a>(&self, bytes: &'a [u8]) -> Option<&'a str> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if self.kind == Kind::Binary || (self.ascii_only && !bytes.is_ascii()) {
            return None;
        }
        let text = std::str::from_utf8(bytes).ok()?;
        (self.kind != Kind::Unknown || !has_controls(text)).then_some(text)
    }

    /// Whether the start of a body that goes on may be text.
    pub(super) fn may_be_text(&self, start: &[u8]) -> bool {
        let start = match std::str::from_utf8(start) {
            Ok(start) => start,
            // A character that is cut at the end is no fault of the body.
            Err(error) if error.error_len().is_none() => {
                std::str::from_utf8(&start[..error.valid_up_to()]).unwrap_or_default()
            }
            Err(_) => return false,
        };
        self.kind != Kind::Unknown || !has_controls(start)
    }
}

/// Whether a text holds control characters that no text file does.
fn has_controls(text: &str) -> bool {
    text.bytes()
        .any(|byte| byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c))
}

fn is_essence(text: &str) -> bool {
    let is_token = |half: &str| {
        !half.is_empty()
            && half
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte))
    };
    text.len() <= ESSENCE_BYTES_MAX
        && text
            .split_once('/')
            .is_some_and(|(main, sub)| is_token(main) && is_token(sub))
}

fn kind(essence: &str) -> Kind {
    const TEXTS: [&str; 15] = [
        "xml",
        "yaml",
        "x-yaml",
        "javascript",
        "x-javascript",
        "ecmascript",
        "x-www-form-urlencoded",
        "graphql",
        "sql",
        "toml",
        "x-ndjson",
        "ndjson",
        "jsonl",
        "json-seq",
        "csv",
    ];
    const BINARIES: [&str; 12] = [
        "octet-stream",
        "pdf",
        "zip",
        "gzip",
        "x-gzip",
        "x-tar",
        "x-7z-compressed",
        "msword",
        "wasm",
        "cbor",
        "x-protobuf",
        "protobuf",
    ];
    let (main, sub) = essence.split_once('/').unwrap_or((essence, ""));
    if sub == "json" || sub.ends_with("+json") {
        return Kind::Json;
    }
    if main == "text"
        || sub.ends_with("+xml")
        || sub.ends_with("+yaml")
        || sub.ends_with("+json-seq")
    {
        return Kind::Text;
    }
    match main {
        "image" | "audio" | "video" | "font" | "model" => Kind::Binary,
        "application" if TEXTS.contains(&sub) => Kind::Text,
        "application"
            if BINARIES.contains(&sub) || sub.ends_with("+zip") || sub.ends_with("+cbor") =>
        {
            Kind::Binary
        }
        _ => Kind::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::header::HeaderValue;

    fn media(content_type: &str) -> Media {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_str(content_type).unwrap());
        Media::of(&headers)
    }

    #[test]
    fn types_are_told_apart() {
        for (content_type, want) in [
            ("application/json", Kind::Json),
            ("Application/Problem+JSON; charset=utf-8", Kind::Json),
            ("text/json", Kind::Json),
            ("text/csv;charset=\"UTF-8\"", Kind::Text),
            ("image/svg+xml", Kind::Text),
            ("application/xml", Kind::Text),
            ("image/png", Kind::Binary),
            ("application/octet-stream", Kind::Binary),
            ("text/plain; charset=utf-16", Kind::Binary),
            ("application/vnd.orchard", Kind::Unknown),
            ("nonsense", Kind::Unknown),
            ("", Kind::Unknown),
        ] {
            assert_eq!(media(content_type).kind, want, "{content_type}");
        }
        assert_eq!(media("<script>/x").essence, None);
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("deflate"));
        assert_eq!(Media::of(&headers).kind, Kind::Binary);
    }

    #[test]
    fn text_is_utf8_or_plain_ascii() {
        assert_eq!(media("text/plain").text("é".as_bytes()), Some("é"));
        assert_eq!(media("text/plain").text(b"\xef\xbb\xbfa"), Some("a"));
        assert_eq!(media("text/plain").text(b"\xe9"), None);
        let latin = media("text/plain; charset=iso-8859-1");
        assert_eq!(latin.text(b"abc"), Some("abc"));
        assert_eq!(latin.text("é".as_bytes()), None);
        assert_eq!(media("a/b").text(b"a\0"), None);
        assert_eq!(media("text/plain").text(b"a\0"), Some("a\0"));
    }

    #[test]
    fn a_cut_character_is_no_sign_of_bytes() {
        let unknown = media("a/b");
        assert!(unknown.may_be_text("aé".as_bytes()));
        assert!(unknown.may_be_text(&"aé".as_bytes()[..2]));
        assert!(!unknown.may_be_text(b"\xff\xd8"));
        assert!(!unknown.may_be_text(b"a\0b"));
    }
}
