//! File arguments: exactly one of `text` and `base64`, with a name and a media type. Writes nothing.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use mime::Mime;
use serde_json::{Map, Value};

use super::fault::about;
use crate::invoke::{ArgumentError, ArgumentFault};

/// The longest file name in bytes: what file systems take.
const NAME_BYTES_MAX: usize = 255;

/// The longest media type in bytes: RFC 6838 allows 127 for each half, and parameters follow.
const TYPE_BYTES_MAX: usize = 512;

/// Base64 with and without its padding, which models forget.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

const MEMBERS: &str = "must be an object with exactly one of `text` and `base64`, and optionally `name` and `mediaType`";

/// A file that was given inline.
#[derive(Debug)]
pub(super) struct File {
    pub(super) bytes: Vec<u8>,
    pub(super) name: Option<String>,
    /// The media type, where it was given or the document names one.
    pub(super) media_type: Option<String>,
    /// Whether it was given as text.
    pub(super) is_text: bool,
}

/// How many inline bytes the call may still have.
#[derive(Debug)]
pub(super) struct Inline {
    left: usize,
    max: usize,
}

impl Inline {
    pub(super) fn new(max: usize) -> Self {
        Self { left: max, max }
    }

    fn take(&mut self, argument: &str, bytes: usize) -> Result<(), ArgumentError> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(about(
                ArgumentFault::FileTooLarge,
                argument,
                &format!(
                    "makes the files of this call larger than {} bytes",
                    self.max
                ),
            )),
        }
    }
}

/// Whether an object can only be meant as a file.
pub(super) fn looks_like_one(object: &Map<String, Value>) -> bool {
    let known = ["text", "base64", "ref", "name", "mediaType"];
    ["text", "base64", "ref"]
        .iter()
        .any(|name| object.contains_key(*name))
        && object.keys().all(|key| known.contains(&key.as_str()))
}

/// Reads a file argument; `accepted` are the media types it may have, any when there are none.
pub(super) fn read(
    argument: &str,
    value: &Value,
    accepted: &[String],
    inline: &mut Inline,
) -> Result<File, ArgumentError> {
    let fault = |problem: &str| about(ArgumentFault::InvalidFileArgument, argument, problem);
    let Value::Object(object) = value else {
        return Err(fault(MEMBERS));
    };
    for (name, member) in object {
        match name.as_str() {
            "text" | "base64" | "name" | "mediaType" if member.is_string() => {}
            "text" | "base64" | "name" | "mediaType" => {
                return Err(fault(&format!("must have a string as its `{name}`")));
            }
            "ref" => {
                return Err(fault(
                    "cannot be given as `ref`: no files are stored here; give `text` or `base64`",
                ));
            }
            _ => return Err(fault(&format!("has an unknown member; it {MEMBERS}"))),
        }
    }
    let member = |name: &str| object.get(name).and_then(Value::as_str);
    let (bytes, is_text) = match (member("text"), member("base64")) {
        (Some(text), None) => {
            inline.take(argument, text.len())?;
            (text.as_bytes().to_vec(), true)
        }
        (None, Some(text)) => {
            // Line breaks are how tools print it.
            let digits: Vec<u8> = text
                .bytes()
                .filter(|byte| !byte.is_ascii_whitespace())
                .collect();
            let bare = digits
                .iter()
                .rev()
                .skip_while(|&&byte| byte == b'=')
                .count();
            // Four digits are three bytes; measured before anything is decoded.
            inline.take(argument, bare / 4 * 3 + bare % 4 * 3 / 4)?;
            let bytes = BASE64
                .decode(&digits)
                .map_err(|_| fault("has a `base64` that is not base64 of the standard alphabet"))?;
            (bytes, false)
        }
        _ => return Err(fault(MEMBERS)),
    };
    Ok(File {
        bytes,
        name: member("name")
            .map(|name| file_name(argument, name))
            .transpose()?,
        media_type: media_type(argument, member("mediaType"), accepted)?,
        is_text,
    })
}

fn file_name(argument: &str, name: &str) -> Result<String, ArgumentError> {
    if name.contains(['\r', '\n', '\0']) {
        return Err(about(
            ArgumentFault::HeaderInjection,
            argument,
            "cannot have a line break or NUL in its `name`: it is sent as a header",
        ));
    }
    if name.is_empty() || name.len() > NAME_BYTES_MAX || name.chars().any(char::is_control) {
        return Err(about(
            ArgumentFault::InvalidFileArgument,
            argument,
            &format!(
                "must have a `name` of 1 to {NAME_BYTES_MAX} bytes without control characters"
            ),
        ));
    }
    Ok(name.to_owned())
}

fn media_type(
    argument: &str,
    given: Option<&str>,
    accepted: &[String],
) -> Result<Option<String>, ArgumentError> {
    let Some(given) = given else {
        return Ok(accepted.iter().find(|one| !one.contains('*')).cloned());
    };
    let fault = |problem: &str| about(ArgumentFault::InvalidFileArgument, argument, problem);
    let is_sane =
        given.len() <= TYPE_BYTES_MAX && given.bytes().all(|byte| (b' '..0x7f).contains(&byte));
    let essence = given
        .parse::<Mime>()
        .ok()
        .filter(|mime| is_sane && !mime.essence_str().contains('*'))
        .map(|mime| mime.essence_str().to_owned())
        .ok_or_else(|| fault("must have a media type such as `image/png` as its `mediaType`"))?;
    if accepted.is_empty() || accepted.iter().any(|range| is_in(&essence, range)) {
        return Ok(Some(given.to_owned()));
    }
    Err(fault(&format!(
        "cannot have this `mediaType`; the backend takes {}",
        accepted.join(", ")
    )))
}

/// Whether a media type is in a declared type or range. Bytes of no particular type are of any.
fn is_in(essence: &str, declared: &str) -> bool {
    let declared = declared.split(';').next().unwrap_or_default().trim();
    let declared = declared.to_ascii_lowercase();
    match declared.as_str() {
        // OpenAPI writes `application/*` where any type is meant.
        "*/*" | "application/*" | "application/octet-stream" => true,
        range => match range.strip_suffix("/*") {
            Some(main) => essence.split('/').next() == Some(main),
            None => essence == range,
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(value: &Value, accepted: &[&str]) -> Result<File, ArgumentFault> {
        let accepted: Vec<String> = accepted.iter().map(|&one| one.to_owned()).collect();
        read("f", value, &accepted, &mut Inline::new(10)).map_err(|error| error.fault)
    }

    #[test]
    fn a_file_has_one_content() {
        let file = parse(&json!({"text": "é", "name": "a.txt"}), &[]).unwrap();
        assert_eq!(
            (file.bytes.as_slice(), file.is_text),
            ("é".as_bytes(), true)
        );
        assert_eq!(file.name.as_deref(), Some("a.txt"));
        for text in ["iVBORw0KGgo=", "iVBORw0KGgo", "iVBO\nRw0K\r\nGgo="] {
            let file = parse(&json!({ "base64": text }), &[]).unwrap();
            assert_eq!(file.bytes, b"\x89PNG\r\n\x1a\n");
        }
        assert_eq!(parse(&json!({"text": ""}), &[]).unwrap().bytes, b"");
        for bad in [
            json!({}),
            json!("text"),
            json!(null),
            json!([]),
            json!({"text": "a", "base64": "YQ=="}),
            json!({"name": "a"}),
            json!({"text": 1}),
            json!({"text": "a", "name": null}),
            json!({"ref": "a"}),
            json!({"text": "a", "filename": "a"}),
            json!({"base64": "***"}),
            json!({"base64": "YQ==YQ=="}),
            json!({"base64": "a"}),
            json!({"base64": "_-8="}),
            json!({"text": "a", "name": ""}),
            json!({"text": "a", "name": "a\tb"}),
            json!({"text": "a", "name": "a".repeat(256)}),
            json!({"text": "a", "mediaType": "png"}),
            json!({"text": "a", "mediaType": "image/*"}),
            json!({"text": "a", "mediaType": "a/b\r\nc: d"}),
        ] {
            assert_eq!(
                parse(&bad, &[]).unwrap_err(),
                ArgumentFault::InvalidFileArgument,
                "{bad}"
            );
        }
        let injected = json!({"text": "a", "name": "a\r\nX: 1"});
        assert_eq!(
            parse(&injected, &[]).unwrap_err(),
            ArgumentFault::HeaderInjection
        );
    }

    #[test]
    fn the_bytes_of_a_call_are_limited_to_the_last_one() {
        let mut inline = Inline::new(8);
        let five = json!({"text": "aaaaa"});
        let three = json!({"base64": "YWFh"});
        let nothing = json!({"base64": ""});
        let one = json!({"base64": "YQ=="});
        assert!(read("f", &five, &[], &mut inline).is_ok());
        assert!(read("f", &three, &[], &mut inline).is_ok());
        assert!(read("f", &nothing, &[], &mut inline).is_ok());
        let error = read("f", &one, &[], &mut inline).unwrap_err();
        assert_eq!(error.fault, ArgumentFault::FileTooLarge);
        assert!(error.message.contains("8 bytes"), "{error}");
    }

    #[test]
    fn the_media_type_is_one_that_the_document_names() {
        let of = |given: Option<&str>, accepted: &[&str]| {
            let mut value = json!({"text": "a"});
            if let Some(given) = given {
                value["mediaType"] = json!(given);
            }
            parse(&value, accepted).map(|file| file.media_type)
        };
        assert_eq!(of(None, &[]), Ok(None));
        assert_eq!(of(None, &["image/*"]), Ok(None));
        let jpeg = Some("image/jpeg".to_owned());
        assert_eq!(of(None, &["image/*", "image/jpeg"]), Ok(jpeg.clone()));
        for accepted in [
            "image/jpeg",
            "IMAGE/JPEG",
            "image/*",
            "*/*",
            "application/octet-stream",
        ] {
            assert_eq!(
                of(Some("image/jpeg"), &[accepted]),
                Ok(jpeg.clone()),
                "{accepted}"
            );
        }
        let with = Some("text/csv; header=present".to_owned());
        assert_eq!(of(with.as_deref(), &["text/csv"]), Ok(with.clone()));
        assert_eq!(
            of(Some("text/html"), &["image/png", "image/jpeg"]),
            Err(ArgumentFault::InvalidFileArgument)
        );
    }
}
