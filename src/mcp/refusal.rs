//! The table of protocol errors: condition, JSON-RPC code, HTTP status.
//!
//! Owns: every code this server puts into a JSON-RPC `error` and the status it travels with. Must never
//! hold text of a tool result: what a tool says is a result, not a protocol error.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::era::{Era, SUPPORTED_VERSIONS};

/// Text of a client that is repeated in a message is cut to this many characters.
const ECHO_CHARS_MAX: usize = 100;

/// The code of [`Refusal::Busy`]: one of our own, outside the range that JSON-RPC reserves.
const BUSY: i32 = -31_001;

/// Why a message gets an `error` instead of a `result`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The bytes are not JSON, or nested too deeply.
    #[error("the message is not JSON: {0}")]
    NotJson(String),
    /// JSON, but no JSON-RPC 2.0 request, notification or response this server can take.
    #[error("invalid request: {0}")]
    InvalidRequest(String),
    /// The body is larger than the limit, in bytes.
    #[error("invalid request: the message is larger than {0} bytes")]
    TooLarge(usize),
    /// The body did not arrive in time.
    #[error("invalid request: the body did not arrive in time")]
    TooSlow,
    /// The body is not announced as plain JSON.
    #[error("invalid request: {0}")]
    MediaType(&'static str),
    /// The modern era's `_meta` lacks a key or holds something else under it.
    #[error("invalid params: `_meta` needs `{key}`, {wanted}")]
    MissingMeta {
        /// The whole key.
        key: &'static str,
        /// What it must hold.
        wanted: &'static str,
    },
    /// A header is missing, repeated, unreadable, or contradicts the body.
    #[error("{0}")]
    HeaderMismatch(String),
    /// The revision is not one this server speaks.
    #[error("Unsupported protocol version")]
    UnsupportedVersion {
        /// What was asked for, cut.
        requested: String,
    },
    /// No such method in the era of the request.
    #[error("Method not found: {0}")]
    MethodNotFound(String),
    /// The parameters do not fit the method.
    #[error("{0}")]
    InvalidParams(String),
    /// A fault of this server. What happened is in the log, not here.
    #[error("Internal error")]
    Internal,
    /// A limit of this server is reached; later it may not be.
    #[error("too busy: {0}")]
    Busy(&'static str),
}

impl Refusal {
    /// A revision that is not spoken here.
    pub(super) fn version(requested: &str) -> Self {
        Self::UnsupportedVersion {
            requested: cut(requested),
        }
    }

    /// A method that is not there.
    pub(super) fn method(method: &str) -> Self {
        Self::MethodNotFound(cut(method))
    }

    /// The JSON-RPC code.
    pub fn code(&self) -> i32 {
        match self {
            Self::NotJson(_) => -32_700,
            Self::InvalidRequest(_) | Self::TooLarge(_) | Self::TooSlow | Self::MediaType(_) => {
                -32_600
            }
            Self::MethodNotFound(_) => -32_601,
            Self::MissingMeta { .. } | Self::InvalidParams(_) => -32_602,
            Self::Internal => -32_603,
            Self::HeaderMismatch(_) => -32_020,
            Self::UnsupportedVersion { .. } => -32_022,
            Self::Busy(_) => BUSY,
        }
    }

    /// The HTTP status. Only an unknown method has one that depends on the era.
    pub(super) fn status(&self, era: Era) -> StatusCode {
        match (self, era) {
            (Self::MethodNotFound(_), Era::Modern) => StatusCode::NOT_FOUND,
            (Self::TooLarge(_), _) => StatusCode::PAYLOAD_TOO_LARGE,
            (Self::TooSlow, _) => StatusCode::REQUEST_TIMEOUT,
            (Self::MediaType(_), _) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            (Self::Busy(_), _) => StatusCode::SERVICE_UNAVAILABLE,
            (
                Self::NotJson(_)
                | Self::InvalidRequest(_)
                | Self::MissingMeta { .. }
                | Self::HeaderMismatch(_)
                | Self::UnsupportedVersion { .. },
                _,
            ) => StatusCode::BAD_REQUEST,
            (Self::MethodNotFound(_), Era::Legacy)
            | (Self::InvalidParams(_) | Self::Internal, _) => StatusCode::OK,
        }
    }

    /// The `data` of the error, for the one error that has some.
    pub(super) fn data(&self) -> Option<Value> {
        match self {
            Self::UnsupportedVersion { requested } => {
                Some(json!({"requested": requested, "supported": SUPPORTED_VERSIONS}))
            }
            _ => None,
        }
    }
}

/// A client's text as far as it may be repeated in a message.
pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(ECHO_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_code_is_one_the_protocol_keeps_for_itself() {
        let all = [
            Refusal::NotJson(String::new()),
            Refusal::InvalidRequest(String::new()),
            Refusal::TooLarge(1),
            Refusal::TooSlow,
            Refusal::MediaType(""),
            Refusal::MissingMeta {
                key: "",
                wanted: "",
            },
            Refusal::HeaderMismatch(String::new()),
            Refusal::version(""),
            Refusal::method(""),
            Refusal::InvalidParams(String::new()),
            Refusal::Internal,
            Refusal::Busy(""),
        ];
        for refusal in all {
            let code = refusal.code();
            let of_json_rpc = (-32_768..=-32_000).contains(&code);
            let known = [
                -32_700, -32_600, -32_601, -32_602, -32_603, -32_020, -32_022,
            ];
            assert!(!of_json_rpc || known.contains(&code), "{refusal:?}");
        }
    }

    #[test]
    fn a_long_text_of_a_client_is_repeated_in_part() {
        let Refusal::MethodNotFound(method) = Refusal::method(&"é".repeat(5000)) else {
            panic!()
        };
        assert_eq!(method.chars().count(), ECHO_CHARS_MAX + 1);
        assert_eq!(cut("short"), "short");
    }
}
