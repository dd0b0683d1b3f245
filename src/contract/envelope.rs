//! The envelopes: one JSON object per answer, success or error, and the refusal of one that is too large.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::Code;
use super::narrowing::{FIXED_SENTENCE, narrowing_arguments};
use super::page::{SearchPage, definition_object};
use crate::access::Visible;
use crate::catalog::Definition;
use crate::invoke::{Answer, AnswerBody, ArgumentError, Failure, Oversize, Shape};

/// What an answer holds before the door.
#[derive(Debug)]
pub enum Envelope<'a> {
    /// A page of search results.
    Page(SearchPage<'a>),
    /// One definition with its version.
    Definition(&'a Visible<(Definition, String)>),
    /// What the backend answered, with the input schema that tells which arguments would narrow it.
    Answer {
        /// The backend's answer.
        answer: &'a Answer,
        /// The definition's input schema.
        input_schema: &'a Value,
    },
    /// The backend's body alone passed the budget.
    Oversize {
        /// Its size and shape.
        oversize: &'a Oversize,
        /// The definition's input schema.
        input_schema: &'a Value,
        /// The budget it passed.
        limit: usize,
    },
    /// A failure.
    Error(ErrorEnvelope),
}

/// A failure as an agent reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorEnvelope {
    code: Code,
    message: String,
    status: Option<u16>,
    fields: Vec<(Option<String>, String)>,
    retry_after_seconds: Option<u64>,
    reference: Option<String>,
}

impl ErrorEnvelope {
    /// A failure in the project's own words. `message` says what to change.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            status: None,
            fields: Vec::new(),
            retry_after_seconds: None,
            reference: None,
        }
    }

    /// No tool of this name is there for the caller. Hidden and absent names give the same bytes.
    pub fn unknown_tool() -> Self {
        Self::new(
            Code::UnknownTool,
            "no tool of this name is available; find its exact name with search_tools",
        )
    }

    /// More searches are running than there are cores for, and this one has waited for its turn in vain.
    pub fn searches_busy(retry_after_seconds: u64) -> Self {
        Self {
            retry_after_seconds: Some(retry_after_seconds),
            ..Self::new(
                Code::SearchRankerUnavailable,
                "too many searches are running; search again shortly",
            )
        }
    }

    /// A fault of the gateway itself; what happened is in its log, not here.
    pub fn internal() -> Self {
        Self::new(
            Code::InternalError,
            "the gateway failed to answer; its operator finds the cause in its log",
        )
    }
}

impl From<&ArgumentError> for ErrorEnvelope {
    fn from(error: &ArgumentError) -> Self {
        let fields = error.fields.iter();
        Self {
            fields: fields
                .map(|(name, message)| (Some(name.clone()), message.clone()))
                .collect(),
            ..Self::new(error.fault.into(), error.message.clone())
        }
    }
}

impl From<&Failure> for ErrorEnvelope {
    fn from(failure: &Failure) -> Self {
        Self {
            code: failure.kind.into(),
            message: failure.message.as_str().to_owned(),
            status: failure.status,
            fields: failure
                .fields
                .iter()
                .map(|field| (field.name.clone(), field.message.as_str().to_owned()))
                .collect(),
            retry_after_seconds: failure.retry_after_seconds,
            reference: failure.reference.clone(),
        }
    }
}

impl Envelope<'_> {
    pub(super) fn is_error(&self) -> bool {
        matches!(self, Self::Error(_) | Self::Oversize { .. })
    }

    pub(super) fn to_json(&self) -> String {
        match self {
            Self::Page(page) => page.to_json(),
            Self::Definition(definition) => {
                Value::Object(definition_object(definition)).to_string()
            }
            Self::Answer { answer, .. } => answer_json(answer),
            Self::Oversize {
                oversize, limit, ..
            } => refusal(self, oversize.bytes, *limit),
            Self::Error(error) => error_json(error),
        }
    }

    /// The shape a refusal describes.
    fn shape(&self) -> Shape {
        match self {
            Self::Page(page) => Shape::Array(page.results.len() as u64),
            Self::Definition(definition) => {
                Shape::Object(definition_object(definition).len() as u64)
            }
            Self::Answer { answer, .. } => match &answer.body {
                Some(AnswerBody::Json(Value::Array(items))) => Shape::Array(items.len() as u64),
                Some(AnswerBody::Json(Value::Object(members))) => {
                    Shape::Object(members.len() as u64)
                }
                _ => Shape::Text,
            },
            Self::Oversize { oversize, .. } => oversize.shape,
            Self::Error(_) => Shape::Text,
        }
    }

    /// The arguments a refusal names: what the next call could narrow.
    fn narrowing(&self) -> Vec<(String, Option<String>)> {
        match self {
            Self::Page(_) => [
                ("query", "Search for something more particular."),
                ("limit", "Ask for fewer results."),
                ("detail", "Ask for cards instead of schemas."),
                (
                    "tags",
                    "Require a tag; the answer of a smaller search lists them.",
                ),
            ]
            .map(|(name, message)| (name.to_owned(), Some(message.to_owned())))
            .into(),
            Self::Answer { input_schema, .. } | Self::Oversize { input_schema, .. } => {
                narrowing_arguments(input_schema)
            }
            Self::Definition(_) | Self::Error(_) => Vec::new(),
        }
    }
}

/// `{"status", "body"?, "contentType"?, "location"?}`.
///
/// The members are written one by one: a body is not copied to be serialized.
fn answer_json(answer: &Answer) -> String {
    let mut json = format!("{{\"status\":{}", answer.status);
    let mut member = |name: &str, value: &Value| {
        // Writing into a String cannot fail.
        let _ = write!(json, ",\"{name}\":{value}");
    };
    match &answer.body {
        None => {}
        Some(AnswerBody::Json(value)) => member("body", value),
        Some(AnswerBody::Text(text)) => member("body", &json!(text)),
        Some(AnswerBody::Binary {
            bytes,
            media_type,
            sha256,
        }) => member(
            "body",
            &json!({"bytes": bytes, "mediaType": media_type, "sha256": sha256}),
        ),
    }
    if let Some(content_type) = &answer.content_type {
        member("contentType", &json!(content_type));
    }
    if let Some(location) = &answer.location {
        member("location", &json!(location.as_str()));
    }
    json.push('}');
    json
}

/// `{"error", "message", "status"?, "retryable", "fields"?, "retryAfterSeconds"?, "reference"?}`.
fn error_json(error: &ErrorEnvelope) -> String {
    let mut object = Map::new();
    object.insert("error".into(), json!(error.code.as_str()));
    object.insert("message".into(), json!(error.message));
    if let Some(status) = error.status {
        object.insert("status".into(), json!(status));
    }
    object.insert("retryable".into(), json!(error.code.retryable()));
    if !error.fields.is_empty() {
        let fields = error.fields.iter().map(|(name, message)| match name {
            Some(name) => json!({"name": name, "message": message}),
            None => json!({"message": message}),
        });
        object.insert("fields".into(), fields.collect());
    }
    if let Some(seconds) = error.retry_after_seconds {
        object.insert("retryAfterSeconds".into(), json!(seconds));
    }
    if let Some(reference) = &error.reference {
        object.insert("reference".into(), json!(reference));
    }
    Value::Object(object).to_string()
}

/// The refusal of an envelope of `bytes` bytes; always within `limit`.
///
/// Where the published descriptions of the narrowing arguments would not fit, fixed sentences stand for
/// them, and where the names do not fit either, they are left out.
pub(super) fn refusal(envelope: &Envelope<'_>, bytes: u64, limit: usize) -> String {
    let narrowing = envelope.narrowing();
    let fixed = narrowing
        .iter()
        .map(|(name, _)| (name.clone(), None))
        .collect();
    let over = matches!(envelope, Envelope::Oversize { oversize, .. } if oversize.over);
    let write = |fields: &[(String, Option<String>)]| {
        let mut shape = Map::new();
        let (kind, count) = match envelope.shape() {
            Shape::Array(count) => ("array", Some(count)),
            Shape::Object(count) => ("object", Some(count)),
            Shape::Text => ("text", None),
        };
        shape.insert("kind".into(), json!(kind));
        if let Some(count) = count {
            shape.insert("count".into(), json!(count));
        }
        let than = if over { "over " } else { "" };
        let advice = if fields.is_empty() {
            "ask for less"
        } else {
            "narrow it with the arguments named in fields"
        };
        let mut object = Map::new();
        object.insert("error".into(), json!(Code::ResponseTooLarge.as_str()));
        object.insert(
            "message".into(),
            json!(format!(
                "the answer is {than}{bytes} bytes and the limit is {limit}; nothing of it was kept: {advice}"
            )),
        );
        object.insert(
            "retryable".into(),
            json!(Code::ResponseTooLarge.retryable()),
        );
        object.insert(
            "payload".into(),
            json!({"bytes": bytes, "limit": limit, "shape": shape}),
        );
        if !fields.is_empty() {
            let fields = fields.iter().map(|(name, message)| {
                json!({"name": name, "message": message.as_deref().unwrap_or(FIXED_SENTENCE)})
            });
            object.insert("fields".into(), fields.collect());
        }
        Value::Object(object).to_string()
    };
    let candidates: [Vec<_>; 3] = [narrowing, fixed, Vec::new()];
    let mut text = String::new();
    for fields in &candidates {
        text = write(fields);
        if text.len() <= limit {
            break;
        }
    }
    text
}
