//! The leak filter: the only way backend text becomes something an agent may read.
//!
//! Owns: recognising what gives away a backend's inside or a credential. Every recogniser is written by hand
//! and reads the text once, so that no text can make it slow. A text that is recognised is dropped whole,
//! never cleaned: cleaning leaves what it did not know. Must never have a switch.

mod connections;
mod frames;
mod paths;
mod scan;
mod secrets;
mod types;

use super::{FailureKind, Filtered};

/// The longest text that is forwarded, in characters (invoke.md, "Leak filter").
const TEXT_CHARS_MAX: usize = 1000;

/// Backend text that may be shown, or nothing when it holds what must not leave.
pub fn filter(text: &str) -> Option<Filtered> {
    find(text).is_none().then(|| Filtered(text.to_owned()))
}

/// What a text gives away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::invoke) enum Leak {
    TooLong,
    Html,
    Frame,
    ExceptionType,
    FilePath,
    Connection,
    Secret,
}

/// The first thing found that must not leave.
pub(in crate::invoke) fn find(text: &str) -> Option<Leak> {
    // Bytes first: counting the characters of a megabyte is not needed to know.
    let bytes_max = TEXT_CHARS_MAX * char::MAX.len_utf8();
    if text.len() > bytes_max || text.chars().count() > TEXT_CHARS_MAX {
        return Some(Leak::TooLong);
    }
    // ASCII folding keeps every offset.
    let lower = text.to_ascii_lowercase();
    if is_html(&lower) {
        Some(Leak::Html)
    } else if secrets::found(text, &lower) {
        Some(Leak::Secret)
    } else if connections::found(&lower) {
        Some(Leak::Connection)
    } else if frames::found(text, &lower) {
        Some(Leak::Frame)
    } else if types::found(text, &lower) {
        Some(Leak::ExceptionType)
    } else if paths::found(text, &lower) {
        Some(Leak::FilePath)
    } else {
        None
    }
}

/// Whether a text is, or holds, a piece of an HTML page.
pub(in crate::invoke) fn is_html(lower: &str) -> bool {
    const TAGS: [&str; 9] = [
        "<!doctype",
        "<html",
        "<head>",
        "<body",
        "<script",
        "<title>",
        "<pre>",
        "<h1>",
        "</p>",
    ];
    TAGS.iter().any(|tag| lower.contains(tag))
}

/// A part of one of the gateway's own sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'a> {
    /// Text written in this project.
    Text(&'static str),
    /// A number.
    Number(u64),
    /// The name of an argument, as the tool publishes it.
    Argument(&'a str),
}

impl Filtered {
    /// One of the gateway's own sentences: nothing in it comes from a backend.
    pub fn own(parts: &[Part<'_>]) -> Self {
        let text = parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => (*text).to_owned(),
                Part::Number(number) => number.to_string(),
                Part::Argument(name) => format!("`{name}`"),
            })
            .collect();
        Self(text)
    }

    /// What stands for a backend's own words of this kind of failure.
    pub fn standard(kind: FailureKind) -> Self {
        let sentence = match kind {
            FailureKind::ValidationFailed => {
                "the backend did not accept the arguments; correct those named in `fields`"
            }
            FailureKind::BadRequest => {
                "the backend did not accept the request; check the arguments against the tool's schema"
            }
            FailureKind::Unauthenticated => {
                "the backend asks for a valid credential; the operator or the caller must sign in again"
            }
            FailureKind::Forbidden => "the backend does not allow this caller to do this",
            FailureKind::NotFound => "the backend has no such resource; check the identifiers",
            FailureKind::Conflict => {
                "the resource's present state does not allow this; read it again before another try"
            }
            FailureKind::RateLimited => "the backend asks for fewer calls; wait before the next",
            FailureKind::BackendError => "the backend failed while handling the call",
            FailureKind::BackendUnavailable => {
                "the backend cannot be reached or is not ready; the same call may succeed later"
            }
            FailureKind::Timeout => "the backend did not answer in time",
        };
        Self(sentence.to_owned())
    }
}

#[cfg(test)]
mod tests;
