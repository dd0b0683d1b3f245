//! File arguments: which fields of a body hold bytes, and the schema that is published for them.
//!
//! Owns: telling bytes from text by each version's spelling, through references, lists and alternatives. Must
//! never decide how a file is written.

use serde_json::{Map, Value, json};

use super::Arguments;
use super::media::{Written, is_json_media_type, written};
use crate::catalog::FileUse;
use crate::catalog::document::{Document, Target, Version, flag};
use crate::catalog::finding::Finding;
use crate::json::Pointer;

/// At most this many schemas of a body are looked at for files: alternatives may refer to each other without
/// end. What lies beyond is no file.
const LOOKS_MAX: usize = 10_000;

/// A list of alternatives of lists and so on is followed this deep.
const LEVELS_MAX: usize = 6;

/// At most this many media types are listed in a published schema.
const TYPES_MAX: usize = 20;

/// What is still looked at of one body.
pub(super) struct Looks(usize);

impl Looks {
    pub(super) fn new() -> Self {
        Self(LOOKS_MAX)
    }
}

/// The published schema of a multipart field, with whether its objects are files.
pub(super) fn field(
    arguments: &mut Arguments<'_>,
    looks: &mut Looks,
    schema: (&Value, &Pointer),
    types: &[String],
) -> Result<(Value, FileUse), Finding> {
    publish(arguments, looks, schema, types, LEVELS_MAX)
}

fn publish(
    arguments: &mut Arguments<'_>,
    looks: &mut Looks,
    (value, at): (&Value, &Pointer),
    types: &[String],
    levels: usize,
) -> Result<(Value, FileUse), Finding> {
    let document = arguments.document;
    let holds = holds(document, value, at, levels, looks);
    let (Some(inner), Ok(target)) = (levels.checked_sub(1), document.resolve(value, at)) else {
        return Ok((arguments.publisher.property(value, at)?, FileUse::Never));
    };
    let Value::Object(map) = target.value else {
        return Ok((arguments.publisher.property(value, at)?, FileUse::Never));
    };
    let said = value.get("description").or_else(|| map.get("description"));
    let said = said.and_then(Value::as_str);
    let mut out = Map::new();
    match holds {
        Holds::Nothing => Ok((arguments.publisher.property(value, at)?, FileUse::Never)),
        Holds::File => {
            let file = schema(said, types, Named::Yes);
            Ok((or_null(file, map, document.version), FileUse::Only))
        }
        // Older documents write it for "anything".
        Holds::Anything => {
            out.insert(
                "anyOf".into(),
                json!([schema(None, types, Named::Yes), {"type": "string"}]),
            );
            describe(&mut out, said);
            Ok((Value::Object(out), FileUse::Beside))
        }
        Holds::List => {
            let Some(items) = map.get("items") else {
                return Ok((arguments.publisher.property(value, at)?, FileUse::Never));
            };
            let at = target.at.join("items");
            let (items, using) = publish(arguments, looks, (items, &at), types, inner)?;
            out.insert("type".into(), json!("array"));
            out.insert("items".into(), items);
            for name in ["minItems", "maxItems"] {
                if let Some(count) = map.get(name).filter(|count| count.is_u64()) {
                    out.insert(name.into(), count.clone());
                }
            }
            describe(&mut out, said);
            Ok((or_null(Value::Object(out), map, document.version), using))
        }
        Holds::Alternatives(name) => {
            let mut list = Vec::new();
            let mut only = true;
            let at = target.at.join(name);
            let all = map.get(name).and_then(Value::as_array);
            for (index, one) in all.into_iter().flatten().enumerate() {
                let mut at = at.clone();
                at.push_index(index);
                // Beside other alternatives the one that says nothing is the file.
                let is_file = self::holds(document, one, &at, inner, looks) == Holds::Anything;
                let (one, using) = if is_file {
                    (schema(None, types, Named::Yes), FileUse::Only)
                } else {
                    publish(arguments, looks, (one, &at), types, inner)?
                };
                only &= using == FileUse::Only || one == json!({"type": "null"});
                list.push(one);
            }
            out.insert("anyOf".into(), Value::Array(list));
            describe(&mut out, said);
            let using = if only { FileUse::Only } else { FileUse::Beside };
            Ok((or_null(Value::Object(out), map, document.version), using))
        }
    }
}

fn describe(out: &mut Map<String, Value>, said: Option<&str>) {
    if let Some(said) = said {
        out.insert("description".into(), json!(said));
    }
}

/// What of a schema is a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    Nothing,
    File,
    /// A schema that says nothing, in a version where that is not how bytes are written.
    Anything,
    List,
    /// Some of the alternatives under this keyword.
    Alternatives(&'static str),
}

fn holds(
    document: &Document,
    value: &Value,
    at: &Pointer,
    levels: usize,
    looks: &mut Looks,
) -> Holds {
    let (Some(inner), Some(left)) = (levels.checked_sub(1), looks.0.checked_sub(1)) else {
        return Holds::Nothing;
    };
    looks.0 = left;
    let Ok(Target { value, at }) = document.resolve(value, at) else {
        return Holds::Nothing;
    };
    let Value::Object(map) = value else {
        return Holds::Nothing;
    };
    if is_bytes(map, document.version) {
        return Holds::File;
    }
    if says_nothing(map) {
        return if document.version >= Version::V31 {
            Holds::File
        } else {
            Holds::Anything
        };
    }
    let is_list = has_type(map, "array") || map.get("type").is_none();
    if let (true, Some(items)) = (is_list, map.get("items")) {
        let items_at = at.join("items");
        let is_anything = document
            .resolve(items, &items_at)
            .is_ok_and(|items| items.value.as_object().is_some_and(says_nothing));
        // A list of anything is a list of plain values: that is how generators write one.
        if is_anything || holds(document, items, &items_at, inner, looks) == Holds::Nothing {
            return Holds::Nothing;
        }
        return Holds::List;
    }
    for name in ["anyOf", "oneOf"] {
        let all = map.get(name).and_then(Value::as_array);
        for one in all.into_iter().flatten() {
            if holds(document, one, &at, inner, looks) != Holds::Nothing {
                return Holds::Alternatives(name);
            }
        }
    }
    // A reference with a description beside it is often written as an `allOf` of one.
    let all = map.get("allOf").and_then(Value::as_array);
    for one in all.into_iter().flatten() {
        if holds(document, one, &at, inner, looks) == Holds::File
            && !document
                .resolve(one, &at)
                .is_ok_and(|one| one.value.as_object().is_some_and(says_nothing))
        {
            return Holds::File;
        }
    }
    Holds::Nothing
}

fn has_type(map: &Map<String, Value>, wanted: &str) -> bool {
    match map.get("type") {
        Some(Value::String(name)) => name == wanted,
        Some(Value::Array(names)) => names.iter().any(|name| name == wanted),
        _ => false,
    }
}

/// Whether a schema describes bytes: `type: file` of 2.0, `format: binary` of 3.0, and since 3.1 a media type
/// without an encoding.
fn is_bytes(map: &Map<String, Value>, version: Version) -> bool {
    let text = |name: &str| map.get(name).and_then(Value::as_str);
    if has_type(map, "file") {
        return true;
    }
    let (is_string, is_untyped) = (has_type(map, "string"), !map.contains_key("type"));
    if (is_string || is_untyped) && text("format") == Some("binary") {
        return true;
    }
    let Some(media_type) = text("contentMediaType").filter(|_| version >= Version::V31) else {
        return false;
    };
    let is_text = is_json_media_type(media_type) || written(media_type) == Some(Written::Text);
    !map.contains_key("contentEncoding") && (is_untyped || (is_string && !is_text))
}

/// Whether a schema says nothing of its values.
fn says_nothing(map: &Map<String, Value>) -> bool {
    const ANNOTATIONS: [&str; 9] = [
        "title",
        "description",
        "example",
        "examples",
        "deprecated",
        "writeOnly",
        "nullable",
        "externalDocs",
        "$comment",
    ];
    map.keys()
        .all(|name| ANNOTATIONS.contains(&name.as_str()) || name.starts_with("x-"))
}

fn or_null(schema: Value, map: &Map<String, Value>, version: Version) -> Value {
    let may_be_null = has_type(map, "null") || (version == Version::V30 && flag(map, "nullable"));
    if !may_be_null {
        return schema;
    }
    let mut out = Map::new();
    describe(&mut out, schema.get("description").and_then(Value::as_str));
    out.insert("anyOf".into(), json!([schema, {"type": "null"}]));
    Value::Object(out)
}

/// Whether a file's name has a place on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    Yes,
    No,
}

/// The published schema of a file argument.
pub(super) fn schema(said: Option<&str>, types: &[String], named: Named) -> Value {
    const HOW: &str = "give its content in exactly one of `text` and `base64`";
    let description = match said.map(str::trim_end) {
        Some(said) if !said.is_empty() => format!("{said}\n\nA file: {HOW}."),
        _ => format!("A file: {HOW}."),
    };
    let mut properties = Map::new();
    properties.insert(
        "text".into(),
        json!({"type": "string", "description": "The content of a text file; it is sent as UTF-8."}),
    );
    properties.insert(
        "base64".into(),
        json!({
            "type": "string",
            "contentEncoding": "base64",
            "description": "The content of any other file, as base64."
        }),
    );
    if named == Named::Yes {
        properties.insert(
            "name".into(),
            json!({
                "type": "string",
                "description": "The file's name with its extension, by which many backends tell its format."
            }),
        );
    }
    let mut media_type = Map::new();
    media_type.insert("type".into(), json!("string"));
    let listed: Vec<&String> = types.iter().take(TYPES_MAX).collect();
    let is_closed = !listed.is_empty()
        && listed.len() == types.len()
        && listed.iter().all(|one| !accepts_any(one));
    if is_closed && listed.iter().all(|one| !one.contains('*')) {
        media_type.insert("enum".into(), json!(listed));
    }
    let mut text = "The content's media type, such as `image/png`.".to_owned();
    if is_closed {
        let listed: Vec<&str> = listed.into_iter().map(String::as_str).collect();
        text = format!("The content's media type, of {}.", listed.join(", "));
    }
    media_type.insert("description".into(), json!(text));
    properties.insert("mediaType".into(), Value::Object(media_type));
    json!({
        "type": "object",
        "description": description,
        "properties": properties,
        "oneOf": [{"required": ["text"]}, {"required": ["base64"]}],
        "additionalProperties": false
    })
}

/// Whether a declared media type leaves open what a file is.
fn accepts_any(media_type: &str) -> bool {
    let name = super::media::essence(media_type);
    matches!(
        name.as_str(),
        "*/*" | "application/*" | "application/octet-stream"
    )
}
