//! Media types of bodies: what each is written as, and which of those offered is used.
//!
//! Owns: telling JSON, forms, multipart, text and bytes apart, for documents and for composing alike. Must
//! never look at a schema.

use crate::http::is_token;

/// How a body of some media type is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Written {
    // In the order of preference (ingestion.md, "Arguments").
    Json,
    Form,
    Multipart,
    Text,
    /// Any other type: bytes that are sent as they are.
    Bytes,
}

/// The type without its parameters, in lower case.
pub(super) fn essence(media_type: &str) -> String {
    let end = media_type.find(';').unwrap_or(media_type.len());
    media_type[..end].trim().to_ascii_lowercase()
}

/// Whether a media type is JSON, or a range that JSON is in (`*/*` and `application/*`; ingestion.md,
/// "Arguments").
pub fn is_json_media_type(media_type: &str) -> bool {
    let essence = essence(media_type);
    matches!(essence.as_str(), "*/*" | "application/*")
        || essence.ends_with("/json")
        || essence.ends_with("+json")
}

/// Whether a media type is XML data, which has no form that a JSON value could be written in. Images and the
/// like that happen to be XML are files.
pub(super) fn is_xml(media_type: &str) -> bool {
    let essence = essence(media_type);
    let is_data = essence.starts_with("application/") || essence.starts_with("text/");
    is_data && (essence.ends_with("/xml") || essence.ends_with("+xml"))
}

/// Whether a media type can stand in a header: ASCII without controls, and a type and subtype that are tokens.
pub(super) fn is_sendable(media_type: &str) -> bool {
    let is_plain = |byte: u8| byte == b'\t' || byte == b' ' || byte.is_ascii_graphic();
    media_type.trim().bytes().all(is_plain)
        && essence(media_type)
            .split_once('/')
            .is_some_and(|(main, sub)| is_token(main) && is_token(sub))
}

/// How a body of a media type is written; none when it cannot be.
pub(super) fn written(media_type: &str) -> Option<Written> {
    if !is_sendable(media_type) {
        return None;
    }
    let name = essence(media_type);
    let main = name.split_once('/')?.0;
    if is_json_media_type(media_type) {
        return Some(Written::Json);
    }
    match name.as_str() {
        "application/x-www-form-urlencoded" => Some(Written::Form),
        "multipart/form-data" | "multipart/*" => Some(Written::Multipart),
        _ if main == "multipart" || is_xml(media_type) => None,
        _ if main == "text" => Some(Written::Text),
        _ => Some(Written::Bytes),
    }
}

/// Whether a media type is a patch written as JSON (RFC 6902, RFC 7396, and those of other makers).
pub(super) fn is_patch(media_type: &str) -> bool {
    essence(media_type).ends_with("-patch+json")
}

/// Whether a media type is JSON Patch: a list of steps (RFC 6902), which an object never is.
pub(super) fn is_json_patch(media_type: &str) -> bool {
    essence(media_type) == "application/json-patch+json"
}

/// The type to use of those offered: by how it is written, then `application/json` itself before its
/// relatives, then the first. JSON Patch is the last of the relatives: where a merge patch is taken as well, that
/// is an object of the resource's own members, which its schema describes.
pub(super) fn choose<'a>(offered: impl Iterator<Item = &'a str>) -> Option<(&'a str, Written)> {
    offered
        .filter_map(|one| Some((one, written(one)?)))
        .min_by_key(|(one, written)| {
            let relation = match *written {
                Written::Json if is_json_patch(one) => 2,
                Written::Json if essence(one) != "application/json" => 1,
                _ => 0,
            };
            (*written, relation)
        })
}

/// What a body is sent as: the type as declared with its parameters, a range as the plainest type in it.
///
/// A multipart type loses its parameters: its boundary is chosen by whoever writes it.
pub(super) fn sent_as(declared: &str, written: Written) -> String {
    match written {
        Written::Multipart => "multipart/form-data".to_owned(),
        Written::Json if declared.contains('*') => "application/json".to_owned(),
        Written::Text if declared.contains('*') => "text/plain; charset=utf-8".to_owned(),
        Written::Bytes if declared.contains('*') => "application/octet-stream".to_owned(),
        _ => declared.trim().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_chosen_by_how_they_are_written() {
        use Written::{Bytes, Form, Json, Multipart, Text};
        for (offered, want) in [
            (
                &["application/xml", "application/json"][..],
                Some(("application/json", Json)),
            ),
            (
                &[
                    "application/merge-patch+json",
                    "application/JSON; charset=utf-8",
                ],
                Some(("application/JSON; charset=utf-8", Json)),
            ),
            (
                &["application/vnd.a+json", "*/*"],
                Some(("application/vnd.a+json", Json)),
            ),
            (&["*/*"], Some(("*/*", Json))),
            (
                &[
                    "application/json-patch+json",
                    "application/merge-patch+json",
                    "application/strategic-merge-patch+json",
                ],
                Some(("application/merge-patch+json", Json)),
            ),
            (
                &["application/json-patch+json; charset=utf-8"],
                Some(("application/json-patch+json; charset=utf-8", Json)),
            ),
            (
                &[
                    "text/plain",
                    "multipart/form-data; boundary=x",
                    "application/x-www-form-urlencoded;charset=utf-8",
                ],
                Some(("application/x-www-form-urlencoded;charset=utf-8", Form)),
            ),
            (
                &["text/plain", "multipart/form-data"],
                Some(("multipart/form-data", Multipart)),
            ),
            (
                &["application/octet-stream", "text/x-markdown", "text/plain"],
                Some(("text/x-markdown", Text)),
            ),
            (
                &["text/xml", "multipart/mixed", "image/png", "image/gif"],
                Some(("image/png", Bytes)),
            ),
            (
                &["application/jsonlines"],
                Some(("application/jsonlines", Bytes)),
            ),
            (
                &[
                    "application/xml",
                    "text/xml",
                    "application/a+xml",
                    "multipart/mixed",
                ],
                None,
            ),
            (&["image/svg+xml"], Some(("image/svg+xml", Bytes))),
            (&["", "nothing", "/", "a/"], None),
            (
                &[
                    "application/json; a=\r\nX-B: c",
                    "text/plain\nX-B: c",
                    "a/b\0",
                    "application/\u{fc}+json",
                    "a b/c",
                    "a/b, c/d",
                ],
                None,
            ),
            (
                &["a/\u{fc}", "a/b; c=\"d e\""],
                Some(("a/b; c=\"d e\"", Bytes)),
            ),
            (&[], None),
        ] {
            assert_eq!(choose(offered.iter().copied()), want, "{offered:?}");
        }
        for (declared, written, want) in [
            ("application/*", Json, "application/json"),
            ("image/*", Bytes, "application/octet-stream"),
            ("text/*", Text, "text/plain; charset=utf-8"),
            (
                " text/csv; header=present ",
                Text,
                "text/csv; header=present",
            ),
            (
                "multipart/form-data; boundary=a",
                Multipart,
                "multipart/form-data",
            ),
        ] {
            assert_eq!(sent_as(declared, written), want);
        }
    }
}
