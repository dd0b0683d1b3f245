//! `application/x-www-form-urlencoded`: entries as pairs. A space is `%20`, which every reader takes.

use super::encode::{encoded, push_encoded};
use super::fields::{Content, Entry};
use super::query::{RESERVED_KEPT, RESERVED_KEPT_IN_LIST};
use crate::invoke::ArgumentError;

/// The whole text of a form.
pub(super) fn write(entries: &[Entry<'_>]) -> Result<String, ArgumentError> {
    let mut out = String::new();
    for entry in entries {
        if !out.is_empty() {
            out.push('&');
        }
        out.push_str(&encoded(&entry.key));
        out.push('=');
        let allows_reserved = entry.field.is_some_and(|field| field.allow_reserved);
        let kept: &[u8] = if allows_reserved { RESERVED_KEPT } else { b"" };
        match &entry.content {
            Content::Text(text) => push_encoded(&mut out, text, kept),
            Content::Json(text) => push_encoded(&mut out, text, kept),
            Content::Joined(items, separator) => {
                // A comma of an item's own is encoded and one between items is not; other separators have
                // to be encoded themselves.
                let is_comma = *separator == ',';
                if !is_comma && items.iter().any(|item| item.contains(*separator)) {
                    return Err(entry.holds_separator());
                }
                let kept: &[u8] = if allows_reserved && is_comma {
                    RESERVED_KEPT_IN_LIST
                } else {
                    b""
                };
                for (at, item) in items.iter().enumerate() {
                    if at > 0 && is_comma {
                        out.push(',');
                    } else if at > 0 {
                        out.push_str(&encoded(separator.encode_utf8(&mut [0; 4])));
                    }
                    push_encoded(&mut out, item, kept);
                }
            }
            Content::File(_) => {
                return Err(super::fault::uncomposable(
                    "its form has a file, which only a multipart body carries",
                ));
            }
        }
    }
    Ok(out)
}
