//! Answers below 400: JSON parsed, text forwarded, bytes described, too much refused.

use super::{Head, JSON_DEPTH_MAX};
use crate::http::header::LOCATION;
use crate::invoke::media::{Kind, Media};
use crate::invoke::meter::Measured;
use crate::invoke::{Answer, AnswerBody, Outcome, Oversize, leak};
use crate::json;

const UNNAMED_BYTES: &str = "application/octet-stream";

/// An answer that has no body by its status or method.
pub(in crate::invoke) fn without_body(head: &Head) -> Outcome {
    answer(head, None, None)
}

/// An answer whose body was measured.
pub(in crate::invoke) fn success(head: &Head, body: Measured) -> Outcome {
    match body {
        Measured::Whole(bytes) if bytes.is_empty() => without_body(head),
        Measured::Whole(bytes) => whole(head, &bytes),
        Measured::Digest { bytes: 0, .. } => without_body(head),
        Measured::Digest { bytes, sha256 } => {
            answer(head, Some(binary(&head.media, bytes, sha256)), None)
        }
        Measured::Over { bytes, cut, shape } => Outcome::Oversize(Oversize {
            bytes,
            over: cut,
            shape,
        }),
    }
}

fn whole(head: &Head, bytes: &[u8]) -> Outcome {
    let media = &head.media;
    let Some(text) = media.text(bytes) else {
        let sha256 = json::sha256_hex(bytes);
        let described = binary(media, bytes.len() as u64, sha256);
        return answer(head, Some(described), None);
    };
    let tried = media.kind == Kind::Json || media.essence.is_none();
    if tried && let Ok(parsed) = json::parse(text.as_bytes(), JSON_DEPTH_MAX) {
        return answer(head, Some(AnswerBody::Json(parsed.value)), None);
    }
    let body = AnswerBody::Text(text.to_owned());
    answer(head, Some(body), media.essence.clone())
}

fn binary(media: &Media, bytes: u64, sha256: String) -> AnswerBody {
    AnswerBody::Binary {
        bytes,
        media_type: media
            .essence
            .clone()
            .unwrap_or_else(|| UNNAMED_BYTES.to_owned()),
        sha256,
    }
}

fn answer(head: &Head, body: Option<AnswerBody>, content_type: Option<String>) -> Outcome {
    let location = head
        .headers
        .get(LOCATION)
        .and_then(|value| std::str::from_utf8(value.as_bytes()).ok())
        .and_then(leak::filter);
    Outcome::Answer(Answer {
        status: head.status,
        body,
        content_type,
        location,
    })
}
