//! From bytes to a message: the JSON-RPC envelope, before any method is looked at.
//!
//! Owns: what makes bytes a request or a notification. Must never know a method or an era.

use serde_json::{Map, Value};

use super::Refusal;
use crate::json;

/// Levels of nesting in one message, the envelope included.
const DEPTH_MAX: usize = 128;

/// Values in one message, at every level. The limit of bytes lets a million through, each of which costs some
/// hundred bytes of memory; these cost about twice what the largest message does.
const VALUES_MAX: usize = 100_000;

/// Bytes of an id as JSON. An id is held and repeated for as long as a stream is open.
const ID_BYTES_MAX: usize = 1024;

/// The id of a request: a string or an integer, as JSON text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Id(String);

impl Id {
    /// The id as JSON text, digits as the client wrote them.
    pub fn as_json(&self) -> &str {
        &self.0
    }

    /// Reads an id. `null`, fractions and exponents are none.
    pub fn read(value: &Value) -> Option<Self> {
        let text = match value {
            Value::String(_) => value.to_string(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        let integral = value.is_string()
            || text
                .strip_prefix('-')
                .unwrap_or(&text)
                .bytes()
                .all(|byte| byte.is_ascii_digit());
        (integral && text.len() <= ID_BYTES_MAX).then_some(Self(text))
    }
}

/// The `params` member as it came.
#[derive(Debug, Clone, PartialEq)]
pub enum Params {
    /// Not there, or null.
    Absent,
    /// What every method wants.
    Object(Map<String, Value>),
    /// Something else, of this JSON kind.
    Other(&'static str),
}

impl Params {
    fn read(value: Option<Value>) -> Self {
        match value {
            None | Some(Value::Null) => Self::Absent,
            Some(Value::Object(map)) => Self::Object(map),
            Some(other) => Self::Other(json::kind(&other)),
        }
    }

    /// A member of the parameters.
    pub fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Self::Object(map) => map.get(key),
            Self::Absent | Self::Other(_) => None,
        }
    }

    /// A member of the parameters' `_meta`.
    pub fn meta(&self, key: &str) -> Option<&Value> {
        self.get("_meta")?.as_object()?.get(key)
    }
}

/// A message that wants an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// What the answer is recognised by.
    pub id: Id,
    /// The method, as written.
    pub method: String,
    /// The parameters.
    pub params: Params,
}

/// A message that wants none.
#[derive(Debug, Clone, PartialEq)]
pub struct Notification {
    /// The method, as written.
    pub method: String,
    /// The parameters.
    pub params: Params,
}

/// One message of a client.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// Wants an answer.
    Request(Request),
    /// Wants none.
    Notification(Notification),
}

/// Bytes that are no message, with the id to answer under where one can be told.
type Unreadable = (Option<Id>, Refusal);

impl Message {
    /// Reads one message of at most 128 levels and 100,000 values.
    ///
    /// Repeated keys are refused wherever they are: two readers of one text must not see two calls.
    /// The answer to a request that repeats a key only inside `params` still carries its id.
    pub fn read(bytes: &[u8]) -> Result<Self, Unreadable> {
        let parsed = json::parse_at_most(bytes, DEPTH_MAX, VALUES_MAX)
            .map_err(|error| (None, Refusal::NotJson(error.to_string())))?;
        let Value::Object(mut envelope) = parsed.value else {
            let kind = json::kind(&parsed.value);
            let batch = if kind == "array" {
                "; batches are not served"
            } else {
                ""
            };
            return Err(invalid(
                None,
                format!("a message is an object, not {kind}{batch}"),
            ));
        };
        let repeated = parsed.duplicates.first().map(ToString::to_string);
        if let Some(place) = parsed
            .duplicates
            .iter()
            .find(|place| place.tokens().nth(1).is_none())
        {
            return Err(invalid(None, repeated_key(place.as_str())));
        }
        if envelope.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err(invalid(None, "`jsonrpc` must be \"2.0\"".to_owned()));
        }
        let id = match envelope.get("id") {
            None => None,
            Some(value) => Some(Id::read(value).ok_or_else(|| {
                let wanted = "`id` must be a string or an integer of at most 1024 bytes";
                invalid(None, wanted.to_owned())
            })?),
        };
        let method = match envelope.remove("method") {
            Some(Value::String(method)) => method,
            Some(other) => {
                let kind = json::kind(&other);
                return Err(invalid(
                    None,
                    format!("`method` must be a string, not {kind}"),
                ));
            }
            None => {
                let why = if envelope.contains_key("result") || envelope.contains_key("error") {
                    "this server asks nothing of a client, so it takes no responses"
                } else {
                    "`method` is missing"
                };
                return Err(invalid(None, why.to_owned()));
            }
        };
        if let Some(place) = repeated {
            return Err(invalid(id, repeated_key(&place)));
        }
        let params = Params::read(envelope.remove("params"));
        Ok(match id {
            Some(id) => Self::Request(Request { id, method, params }),
            None => Self::Notification(Notification { method, params }),
        })
    }
}

fn invalid(id: Option<Id>, why: String) -> Unreadable {
    (id, Refusal::InvalidRequest(why))
}

fn repeated_key(place: &str) -> String {
    format!("the key at `{}` is repeated", super::refusal::cut(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> (Option<String>, i32, String) {
        let (id, refusal) = Message::read(text.as_bytes()).unwrap_err();
        (
            id.map(|id| id.as_json().to_owned()),
            refusal.code(),
            refusal.to_string(),
        )
    }

    fn request(text: &str) -> Request {
        match Message::read(text.as_bytes()).unwrap() {
            Message::Request(request) => request,
            other @ Message::Notification(_) => panic!("{other:?}"),
        }
    }

    #[test]
    fn ids_are_strings_and_integers_digit_for_digit() {
        for id in [
            "0",
            "-7",
            "123456789012345678901234567890",
            "\"a\\\"b\"",
            "\"\"",
            "\"listen:0\"",
        ] {
            let read = request(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#));
            assert_eq!(read.id.as_json(), id);
        }
        let long = format!("\"{}\"", "x".repeat(ID_BYTES_MAX));
        for id in ["null", "1.0", "1e3", "true", "[]", "{}", &long] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
            assert_eq!(refused(&text).1, -32_600, "{id}");
        }
    }

    #[test]
    fn what_is_no_message_says_why() {
        for (text, code, part) in [
            ("", -32_700, "EOF"),
            ("{\"a\":", -32_700, "EOF"),
            ("{} {}", -32_700, "trailing"),
            ("\u{1}", -32_700, "expected value"),
            ("[]", -32_600, "batches"),
            ("7", -32_600, "not number"),
            ("{}", -32_600, "jsonrpc"),
            (
                r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
                -32_600,
                "jsonrpc",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1}"#,
                -32_600,
                "`method` is missing",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
                -32_600,
                "not number",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
                -32_600,
                "responses",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{}}"#,
                -32_600,
                "responses",
            ),
        ] {
            let (id, got, message) = refused(text);
            assert_eq!((id, got), (None, code), "{text}");
            assert!(message.contains(part), "{text}: {message}");
        }
        let invalid_utf8 = b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"m\"}";
        assert_eq!(Message::read(invalid_utf8).unwrap_err().1.code(), -32_700);
    }

    #[test]
    fn repeated_keys_are_refused_at_every_depth() {
        let top = r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#;
        assert_eq!(refused(top).0, None);
        let inside = r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[{"b":1,"b":1}]}}"#;
        let (id, code, message) = refused(inside);
        assert_eq!((id.as_deref(), code), (Some("1"), -32_600));
        assert!(message.contains("/params/a/0/b"), "{message}");
    }

    #[test]
    fn the_128th_level_is_read_and_the_next_is_not() {
        let nest = |levels: usize| {
            let (open, close) = ("[".repeat(levels), "]".repeat(levels));
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"a":{open}{close}}}}}"#)
        };
        assert_eq!(request(&nest(126)).method, "m");
        assert_eq!(refused(&nest(127)).1, -32_700);
    }

    #[test]
    fn a_message_of_too_many_values_is_refused_before_it_is_kept() {
        let message = |values: usize| {
            let list = vec!["[]"; values].join(",");
            let head = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"a\":[";
            format!("{head}{list}]}}}}")
        };
        // The message, its four members, and the list are values too.
        assert!(Message::read(message(VALUES_MAX - 6).as_bytes()).is_ok());
        let (_, code, why) = refused(&message(VALUES_MAX - 5));
        assert_eq!(code, -32700);
        assert!(why.contains("too many values"), "{why}");
    }
}
