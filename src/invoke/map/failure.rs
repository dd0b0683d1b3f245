//! Answers of 400 and more: which kind of failure, and what of the body may be said.

use std::time::SystemTime;

use super::fields::Names;
use super::headers::{reference, retry_after_seconds};
use super::shapes::{self, Said};
use super::{Head, JSON_DEPTH_MAX};
use crate::catalog::RequestTemplate;
use crate::invoke::media::Kind;
use crate::invoke::{Failure, FailureKind, FieldError, Filtered, Outcome, Part, leak};
use crate::json;

/// An error answer; `body` is there when it was read and short enough.
pub(in crate::invoke) fn failure(
    template: &RequestTemplate,
    head: &Head,
    body: Option<&[u8]>,
    now: SystemTime,
) -> Outcome {
    let said = body.map(|body| said(head, body)).unwrap_or_default();
    let listed = !said.faults.is_empty();
    let kind = kind(head.status, listed);
    let (message, fields) = if is_forwarded(head.status) {
        (
            said.message.as_deref().and_then(leak::filter),
            fields(template, &said),
        )
    } else {
        (None, Vec::new())
    };
    Outcome::Failed(Failure {
        kind,
        message: message.unwrap_or_else(|| Filtered::standard(kind)),
        status: Some(head.status),
        fields,
        retry_after_seconds: retry_after_seconds(&head.headers, now),
        reference: reference(&head.headers, said.trace_id.as_deref()),
    })
}

/// Whether a body's text may be forwarded at all (invoke.md, "Leak filter").
fn is_forwarded(status: u16) -> bool {
    (400..500).contains(&status) && status != 401
}

/// The kind of a status (invoke.md, "Map").
fn kind(status: u16, listed: bool) -> FailureKind {
    match status {
        400 | 422 if listed => FailureKind::ValidationFailed,
        401 => FailureKind::Unauthenticated,
        403 => FailureKind::Forbidden,
        404 | 410 => FailureKind::NotFound,
        409 | 412 | 428 => FailureKind::Conflict,
        429 => FailureKind::RateLimited,
        408 | 502 | 503 | 504 => FailureKind::BackendUnavailable,
        400..500 => FailureKind::BadRequest,
        _ => FailureKind::BackendError,
    }
}

/// What the body says, unfiltered. HTML says nothing.
fn said(head: &Head, body: &[u8]) -> Said {
    let Some(text) = head.media.text(body) else {
        return Said::default();
    };
    let text = text.trim();
    // Markup is for browsers, whatever type it was sent as.
    if head.media.is_html() || text.starts_with('<') {
        return Said::default();
    }
    if let Ok(parsed) = json::parse(text.as_bytes(), JSON_DEPTH_MAX) {
        return shapes::read(&parsed.value);
    }
    let plain = match head.media.kind {
        Kind::Unknown => head.media.essence.is_none(),
        Kind::Text => head.media.essence.as_deref() == Some("text/plain"),
        // Said to be JSON and is not: cut off, or a proxy's own words under the backend's header.
        Kind::Json => !text.starts_with(['{', '[']),
        Kind::Binary => false,
    };
    Said {
        message: (plain && !text.is_empty()).then(|| text.to_owned()),
        ..Said::default()
    }
}

fn fields(template: &RequestTemplate, said: &Said) -> Vec<FieldError> {
    const STANDARD: &str = "was not accepted by the backend";
    let names = Names::of(template);
    said.faults
        .iter()
        .map(|fault| FieldError {
            name: names.resolve(&fault.field, &fault.message),
            message: leak::filter(&fault.message)
                .unwrap_or_else(|| Filtered::own(&[Part::Text(STANDARD)])),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::catalog::{Body, BodyShape, Member};
    use crate::http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
    use crate::invoke::media::Media;

    fn template() -> RequestTemplate {
        RequestTemplate {
            document: "shop".to_owned(),
            method: "POST".to_owned(),
            base_url: None,
            route: "/".to_owned(),
            parameters: vec![],
            body: Some(Body {
                media_type: "application/json".to_owned(),
                shape: BodyShape::Members {
                    members: vec![Member {
                        argument: "quantity".to_owned(),
                        name: "qty".to_owned(),
                        nullable: false,
                        required: false,
                    }],
                    open: false,
                },
                required: true,
                withheld: Vec::new(),
            }),
            accepts: vec![],
            carriers: Vec::new(),
            hidden: Vec::new(),
        }
    }

    fn any_text() -> impl Strategy<Value = String> {
        prop_oneof![
            "[a-z ]{0,12}",
            Just("qty must be positive".to_owned()),
            Just("NullPointerException at Foo.java:12".to_owned()),
            Just("postgres://u:p@db/x".to_owned()),
            Just("<html>".to_owned()),
            any::<String>(),
        ]
    }

    fn any_key() -> impl Strategy<Value = String> {
        prop_oneof![
            Just("errors"),
            Just("error"),
            Just("message"),
            Just("detail"),
            Just("details"),
            Just("title"),
            Just("loc"),
            Just("msg"),
            Just("path"),
            Just("field"),
            Just("source"),
            Just("pointer"),
            Just("traceId"),
            Just("qty"),
            Just("C:\\secret"),
        ]
        .prop_map(str::to_owned)
    }

    fn any_body() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            any_text().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec((any_key(), inner), 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn nothing_of_any_body_gets_out_unfiltered(status in prop_oneof![Just(400_u16), Just(401), Just(422), 400_u16..700], body in any_body()) {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            let head = Head { status, media: Media::of(&headers), headers };
            let body = body.to_string();
            let outcome = failure(&template(), &head, Some(body.as_bytes()), SystemTime::UNIX_EPOCH);
            let Outcome::Failed(failed) = outcome else {
                panic!("an error became {outcome:?}")
            };
            let mut told = vec![failed.message.as_str()];
            told.extend(failed.reference.as_deref());
            for field in &failed.fields {
                told.push(field.message.as_str());
                told.extend(field.name.as_deref());
            }
            for text in told {
                prop_assert_eq!(leak::find(text), None, "{}", text);
            }
            if status == 401 || status >= 500 {
                prop_assert_eq!(failed.message, Filtered::standard(failed.kind));
                prop_assert!(failed.fields.is_empty());
            }
        }
    }
}
