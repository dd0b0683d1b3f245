//! `multipart/form-data` (RFC 7578): entries as parts, with a boundary that no content holds.
//!
//! The boundary is made of the content's hash, so the same call is the same bytes. Names are escaped as HTML
//! does: a quotation mark and line breaks are percent-encoded, everything else is UTF-8.

use std::fmt::Write as _;

use super::fault::uncomposable;
use super::fields::{Content, Entry};
use crate::catalog::{FileUse, is_json_media_type};
use crate::invoke::ArgumentError;
use crate::json::sha256_hex;

/// Digits of the hash that make a boundary; with its first word 40 of the 70 characters that are allowed.
const BOUNDARY_DIGITS: usize = 32;

/// What a file is called that was given no name: readers tell files from fields by there being one.
const FILE_NAME: &str = "file";

/// A body with the boundary that its Content-Type names.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) boundary: String,
    pub(super) bytes: Vec<u8>,
}

/// Writes the parts.
pub(super) fn write(entries: &[Entry<'_>]) -> Result<Written, ArgumentError> {
    let parts = entries
        .iter()
        .map(part)
        .collect::<Result<Vec<Vec<u8>>, _>>()?;
    let boundary = boundary(&parts);
    let mut bytes = Vec::with_capacity(
        parts.iter().map(Vec::len).sum::<usize>() + (parts.len() + 1) * (boundary.len() + 6),
    );
    for part in &parts {
        bytes.extend_from_slice(b"--");
        bytes.extend_from_slice(boundary.as_bytes());
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(part);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"--");
    bytes.extend_from_slice(boundary.as_bytes());
    bytes.extend_from_slice(b"--\r\n");
    Ok(Written { boundary, bytes })
}

/// A boundary that occurs in no part.
fn boundary(parts: &[Vec<u8>]) -> String {
    let mut hashed = parts.concat();
    loop {
        let mut boundary = sha256_hex(&hashed);
        boundary.truncate(BOUNDARY_DIGITS);
        boundary.insert_str(0, "sezzlee-");
        let occurs = |part: &Vec<u8>| {
            part.windows(boundary.len())
                .any(|window| window == boundary.as_bytes())
        };
        if !parts.iter().any(occurs) {
            return boundary;
        }
        // Nobody can write a text that holds its own hash; another hash costs nothing all the same.
        hashed.push(0);
    }
}

/// The headers and the content of one part.
fn part(entry: &Entry<'_>) -> Result<Vec<u8>, ArgumentError> {
    let mut head = format!(
        "Content-Disposition: form-data; name=\"{}\"",
        escaped(&entry.key)
    );
    // The types of a field that may be a file are those of the file.
    let is_file = matches!(entry.content, Content::File(_));
    let types = entry
        .field
        .filter(|field| field.style.is_none() && (is_file || field.file == FileUse::Never));
    let types = types.map_or(&[][..], |field| &field.content_types);
    let mut concrete = types.iter().filter(|one| !one.contains('*'));
    let (content_type, content) = match &entry.content {
        Content::Text(text) => (concrete.next().cloned(), text.as_bytes().to_vec()),
        Content::Json(text) => {
            let declared = concrete.find(|one| is_json_media_type(one)).cloned();
            let json = declared.unwrap_or_else(|| "application/json".to_owned());
            (Some(json), text.clone().into_bytes())
        }
        Content::Joined(items, separator) => {
            if items.iter().any(|item| item.contains(*separator)) {
                return Err(entry.holds_separator());
            }
            let text = items.join(separator.encode_utf8(&mut [0; 4]));
            (None, text.into_bytes())
        }
        Content::File(file) => {
            let name = file.name.as_deref().unwrap_or(FILE_NAME);
            // Writing to a string cannot fail.
            let _ = write!(head, "; filename=\"{}\"", escaped(name));
            let default = if file.is_text {
                "text/plain; charset=utf-8"
            } else {
                "application/octet-stream"
            };
            let media_type = file.media_type.clone();
            (
                Some(media_type.unwrap_or_else(|| default.to_owned())),
                file.bytes.clone(),
            )
        }
    };
    head.push_str("\r\n");
    let content_type = content_type.as_deref().map(|one| ("Content-Type", one));
    let own = entry.field.iter().flat_map(|field| &field.headers);
    let own = own.map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in content_type.into_iter().chain(own) {
        // Reading documents leaves such values out already; this is the second look before one would go out.
        if name.chars().chain(value.chars()).any(char::is_control) {
            return Err(uncomposable("a header of a part cannot be sent"));
        }
        let _ = write!(head, "{name}: {value}\r\n");
    }
    head.push_str("\r\n");
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(&content);
    Ok(bytes)
}

/// A name between quotation marks, as HTML's multipart encoding writes it.
fn escaped(name: &str) -> String {
    name.replace('\r', "%0D")
        .replace('\n', "%0A")
        .replace('"', "%22")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(texts: &[&str]) -> Vec<Entry<'static>> {
        let entry = |text: &&str| Entry {
            key: "a\"\r\nb".to_owned(),
            content: Content::Text((*text).to_owned().into()),
            field: None,
        };
        texts.iter().map(entry).collect()
    }

    #[test]
    fn a_boundary_is_that_of_its_content_and_never_in_it() {
        let first = write(&texts(&["one", "two"])).unwrap();
        let again = write(&texts(&["one", "two"])).unwrap();
        let other = write(&texts(&["one", "twp"])).unwrap();
        assert_eq!(first.bytes, again.bytes);
        assert_ne!(first.boundary, other.boundary);
        assert_eq!(
            String::from_utf8(write(&texts(&["x"])).unwrap().bytes).unwrap(),
            {
                let boundary = write(&texts(&["x"])).unwrap().boundary;
                format!(
                    "--{boundary}\r\nContent-Disposition: form-data; name=\"a%22%0D%0Ab\"\r\n\r\nx\r\n--{boundary}--\r\n"
                )
            }
        );
        let parts = vec![b"one".to_vec()];
        let taken = boundary(&parts);
        let holding = vec![b"one".to_vec(), taken.clone().into_bytes()];
        assert_ne!(boundary(&holding), taken);
        let empty = write(&[]).unwrap();
        assert_eq!(
            empty.bytes,
            format!("--{}--\r\n", empty.boundary).as_bytes()
        );
    }
}
