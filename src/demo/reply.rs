//! What the shop answers: successes, and refusals in the seven dialects in which real APIs spell them.
//!
//! Owns: the shape of every error body. Must never know which rule was broken: the desks say it in words.

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// How long an answer is held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// Not at all.
    None,
    /// As long as a report takes.
    Report,
    /// Longer than a caller with a deadline waits.
    Audit,
}

/// A success.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) wait: Wait,
    pub(super) response: Written,
}

/// A response before it is handed to the server.
#[derive(Debug, Clone)]
pub(super) struct Written {
    pub(super) status: StatusCode,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) body: Vec<u8>,
}

impl Written {
    fn new(status: StatusCode, media_type: &'static str, body: Vec<u8>) -> Self {
        Self {
            status,
            headers: vec![(header::CONTENT_TYPE, HeaderValue::from_static(media_type))],
            body,
        }
    }

    fn json(status: StatusCode, media_type: &'static str, body: &Value) -> Self {
        Self::new(status, media_type, body.to_string().into_bytes())
    }
}

impl From<Written> for Response {
    fn from(written: Written) -> Self {
        let mut response = Self::new(Body::from(written.body));
        *response.status_mut() = written.status;
        response.headers_mut().extend(written.headers);
        response
    }
}

impl Reply {
    fn of(response: Written) -> Self {
        Self {
            wait: Wait::None,
            response,
        }
    }

    /// A JSON body.
    pub(super) fn json(status: StatusCode, body: &impl Serialize) -> Result<Self, Refusal> {
        let body = serde_json::to_vec(body).map_err(|_| {
            Refusal::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the row cannot be written",
            )
        })?;
        Ok(Self::of(Written::new(status, "application/json", body)))
    }

    /// 200 with a JSON body.
    pub(super) fn ok(body: &impl Serialize) -> Result<Self, Refusal> {
        Self::json(StatusCode::OK, body)
    }

    /// 201 with a JSON body.
    pub(super) fn created(body: &impl Serialize) -> Result<Self, Refusal> {
        Self::json(StatusCode::CREATED, body)
    }

    /// 200 with a body of another media type.
    pub(super) fn media(media_type: &'static str, body: Vec<u8>) -> Self {
        Self::of(Written::new(StatusCode::OK, media_type, body))
    }

    /// 204.
    pub(super) fn nothing() -> Self {
        Self::of(Written {
            status: StatusCode::NO_CONTENT,
            headers: Vec::new(),
            body: Vec::new(),
        })
    }

    /// 303 to another route of the shop.
    pub(super) fn elsewhere(route: &str) -> Result<Self, Refusal> {
        let location = HeaderValue::from_str(route).map_err(|_| {
            Refusal::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the route cannot be written",
            )
        })?;
        Ok(Self::of(Written {
            status: StatusCode::SEE_OTHER,
            headers: vec![(header::LOCATION, location)],
            body: Vec::new(),
        }))
    }

    /// The same answer, held back.
    pub(super) fn after(self, wait: Wait) -> Self {
        Self { wait, ..self }
    }
}

/// Where a faulty value stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In the query string.
    Query,
    /// In a header.
    Header,
    /// In the body.
    Body,
}

/// One value the shop does not take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) place: Place,
    /// The name as the caller wrote it; members of members are joined by dots.
    pub(super) field: String,
    /// What must hold of it, to be read after the name.
    pub(super) message: String,
}

/// Why the shop does not do what was asked.
#[derive(Debug, Clone)]
pub(super) struct Refusal {
    status: StatusCode,
    message: String,
    faults: Vec<Fault>,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// A body that no dialect writes.
    page: Option<(&'static str, String)>,
}

impl Refusal {
    /// A refusal in one sentence.
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            faults: Vec::new(),
            headers: Vec::new(),
            page: None,
        }
    }

    /// 404.
    pub(super) fn missing(what: &str, id: impl std::fmt::Display) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("there is no {what} {id}"))
    }

    /// 409.
    pub(super) fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, message)
    }

    /// Values that are not taken; the dialect chooses between 400 and 422.
    pub(super) fn invalid(faults: Vec<Fault>) -> Self {
        Self {
            faults,
            ..Self::new(
                StatusCode::BAD_REQUEST,
                "the request holds values that are not taken",
            )
        }
    }

    /// The same refusal with a header; a value no header can carry is left out.
    pub(super) fn with(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.push((name, value));
        }
        self
    }

    /// The same refusal with a body of its own.
    pub(super) fn with_page(mut self, media_type: &'static str, page: impl Into<String>) -> Self {
        self.page = Some((media_type, page.into()));
        self
    }
}

/// How a part of the shop spells its refusals: each is the habit of a well-known kind of framework, and
/// together they are what a gateway in front of many APIs meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `{"errors": {"name": ["…"]}}`, otherwise `{"message": "…"}`.
    FieldMap,
    /// `{"message": ["name must …"]}`, otherwise `{"message": "…", "error": "Conflict"}`.
    Messages,
    /// RFC 9457, with `errors` of `{"pointer", "detail"}`.
    Problem,
    /// `{"detail": [{"loc": ["body", "name"], "msg": "…"}]}`, otherwise `{"detail": "…"}`.
    Detail,
    /// `{"errors": [{"detail": "…", "source": {…}}]}`.
    JsonApi,
    /// `{"errors": {"name": "…"}}`, otherwise a bare JSON string.
    Bare,
    /// Plain text, without saying which field.
    Plain,
}

impl Dialect {
    /// Writes a refusal.
    pub(super) fn write(self, refusal: Refusal) -> Written {
        let mut written = match &refusal.page {
            Some((media_type, page)) => {
                Written::new(refusal.status, media_type, page.clone().into_bytes())
            }
            None if refusal.faults.is_empty() => self.sentence(refusal.status, &refusal.message),
            None => self.faults(&refusal.faults),
        };
        written.headers.extend(refusal.headers);
        written
    }

    fn sentence(self, status: StatusCode, message: &str) -> Written {
        let reason = status.canonical_reason().unwrap_or("Error");
        let (media_type, body) = match self {
            Self::FieldMap => ("application/json", json!({"message": message})),
            Self::Messages => (
                "application/json",
                json!({"statusCode": status.as_u16(), "message": message, "error": reason}),
            ),
            Self::Problem => (
                "application/problem+json",
                json!({"type": "about:blank", "title": reason, "status": status.as_u16(), "detail": message}),
            ),
            Self::Detail => ("application/json", json!({"detail": message})),
            Self::JsonApi => (
                "application/vnd.api+json",
                json!({"errors": [{"status": status.as_str(), "title": reason, "detail": message}]}),
            ),
            Self::Bare => ("application/json", json!(message)),
            Self::Plain => return plain(status, message),
        };
        Written::json(status, media_type, &body)
    }

    fn faults(self, faults: &[Fault]) -> Written {
        let named = |fault: &Fault| format!("{} {}", fault.field, fault.message);
        let (status, media_type, body) = match self {
            Self::FieldMap => {
                let mut fields = Map::new();
                for fault in faults {
                    let list = fields.entry(&fault.field).or_insert_with(|| json!([]));
                    if let Value::Array(list) = list {
                        list.push(json!(fault.message));
                    }
                }
                (400, "application/json", json!({"errors": fields}))
            }
            Self::Messages => {
                let messages: Vec<_> = faults.iter().map(named).collect();
                let body = json!({"statusCode": 400, "message": messages, "error": "Bad Request"});
                (400, "application/json", body)
            }
            Self::Problem => {
                let errors: Vec<_> = faults
                    .iter()
                    .map(|fault| {
                        let pointer = format!("#/{}", fault.field.replace('.', "/"));
                        json!({"pointer": pointer, "detail": fault.message})
                    })
                    .collect();
                let body = json!({
                    "type": "about:blank", "title": "Your request is not valid.", "status": 422,
                    "errors": errors,
                });
                (422, "application/problem+json", body)
            }
            Self::Detail => {
                let details: Vec<_> = faults
                    .iter()
                    .map(|fault| json!({"loc": location(fault), "msg": fault.message, "type": "value_error"}))
                    .collect();
                (422, "application/json", json!({"detail": details}))
            }
            Self::JsonApi => {
                let errors: Vec<_> = faults
                    .iter()
                    .map(|fault| {
                        let source = match fault.place {
                            Place::Query => json!({"parameter": fault.field}),
                            Place::Header => json!({"header": fault.field}),
                            Place::Body => {
                                json!({"pointer": format!("/data/attributes/{}", fault.field.replace('.', "/"))})
                            }
                        };
                        json!({"status": "422", "title": "Invalid value", "detail": named(fault), "source": source})
                    })
                    .collect();
                (422, "application/vnd.api+json", json!({"errors": errors}))
            }
            Self::Bare => {
                let fields: Map<_, _> = faults
                    .iter()
                    .map(|fault| (fault.field.clone(), json!(fault.message)))
                    .collect();
                (422, "application/json", json!({"errors": fields}))
            }
            Self::Plain => {
                let text = faults.first().map(named).unwrap_or_default();
                return plain(StatusCode::BAD_REQUEST, &text);
            }
        };
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
        Written::json(status, media_type, &body)
    }
}

fn plain(status: StatusCode, text: &str) -> Written {
    Written::new(
        status,
        "text/plain; charset=utf-8",
        text.as_bytes().to_vec(),
    )
}

/// The `loc` of a fault: where, then each member on the way, list positions as numbers.
fn location(fault: &Fault) -> Vec<Value> {
    let place = match fault.place {
        Place::Query => "query",
        Place::Header => "header",
        Place::Body => "body",
    };
    let members = fault.field.split('.').map(|member| {
        member
            .parse::<u64>()
            .map_or_else(|_| json!(member), Value::from)
    });
    std::iter::once(json!(place)).chain(members).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(place: Place, field: &str, message: &str) -> Fault {
        Fault {
            place,
            field: field.into(),
            message: message.into(),
        }
    }

    fn text(dialect: Dialect, refusal: Refusal) -> (u16, String) {
        let written = dialect.write(refusal);
        (
            written.status.as_u16(),
            String::from_utf8(written.body).unwrap(),
        )
    }

    #[test]
    fn every_dialect_spells_faults_its_own_way() {
        let faults = vec![
            fault(Place::Body, "lines.0.quantity", "must be positive"),
            fault(Place::Query, "limit", "must be from 1 to 200"),
        ];
        let spelled: Vec<_> = [
            Dialect::FieldMap,
            Dialect::Messages,
            Dialect::Problem,
            Dialect::Detail,
            Dialect::JsonApi,
            Dialect::Bare,
            Dialect::Plain,
        ]
        .into_iter()
        .map(|dialect| text(dialect, Refusal::invalid(faults.clone())))
        .collect();
        let expected = [
            (
                400,
                r#"{"errors":{"lines.0.quantity":["must be positive"],"limit":["must be from 1 to 200"]}}"#,
            ),
            (
                400,
                r#"{"statusCode":400,"message":["lines.0.quantity must be positive","limit must be from 1 to 200"],"error":"Bad Request"}"#,
            ),
            (
                422,
                r##"{"type":"about:blank","title":"Your request is not valid.","status":422,"errors":[{"pointer":"#/lines/0/quantity","detail":"must be positive"},{"pointer":"#/limit","detail":"must be from 1 to 200"}]}"##,
            ),
            (
                422,
                r#"{"detail":[{"loc":["body","lines",0,"quantity"],"msg":"must be positive","type":"value_error"},{"loc":["query","limit"],"msg":"must be from 1 to 200","type":"value_error"}]}"#,
            ),
            (
                422,
                r#"{"errors":[{"status":"422","title":"Invalid value","detail":"lines.0.quantity must be positive","source":{"pointer":"/data/attributes/lines/0/quantity"}},{"status":"422","title":"Invalid value","detail":"limit must be from 1 to 200","source":{"parameter":"limit"}}]}"#,
            ),
            (
                422,
                r#"{"errors":{"lines.0.quantity":"must be positive","limit":"must be from 1 to 200"}}"#,
            ),
            (400, "lines.0.quantity must be positive"),
        ];
        assert_eq!(
            spelled,
            expected.map(|(status, body)| (status, body.to_owned()))
        );
    }

    #[test]
    fn sentences_and_headers() {
        let refusal = Refusal::conflict("order 7 is on its way").with(header::RETRY_AFTER, "5");
        let written = Dialect::Bare.write(refusal.clone());
        assert_eq!(written.body, br#""order 7 is on its way""#);
        assert!(
            written
                .headers
                .contains(&(header::RETRY_AFTER, HeaderValue::from_static("5")))
        );
        let messages = text(Dialect::Messages, refusal);
        assert_eq!(
            messages,
            (
                409,
                r#"{"statusCode":409,"message":"order 7 is on its way","error":"Conflict"}"#.into()
            )
        );
    }
}
