//! Values of keywords that are of the wrong kind but can only have meant one thing.
//!
//! Owns: what is read into such a value, and what is lost where nothing can be. Must never guess between two
//! meanings.

use serde_json::{Map, Value};

use super::convert::Converter;
use super::keywords::Keyword;
use crate::catalog::DiagnosticCode;
use crate::json::{Pointer, parse};

/// What a keyword's value of the wrong kind can only have meant: a number or a boolean that stands in quotes,
/// `required` with one name, `$comment` or `description` with a number.
pub(super) fn meant(kind: Keyword, value: &Value) -> Option<Value> {
    match (kind, value) {
        (
            Keyword::Number | Keyword::Positive | Keyword::Count | Keyword::Exclusive,
            Value::String(text),
        ) => {
            let quoted = plain(text)?;
            match (kind, &quoted) {
                (Keyword::Exclusive, Value::Bool(_)) | (_, Value::Number(_)) => Some(quoted),
                _ => None,
            }
        }
        (Keyword::Flag | Keyword::Schema | Keyword::FurtherItems, Value::String(text)) => {
            plain(text).filter(Value::is_boolean)
        }
        _ => None,
    }
}

/// The number or boolean that a text spells.
fn plain(text: &str) -> Option<Value> {
    /// Longer texts spell no limit of a schema.
    const PLAIN_BYTES_MAX: usize = 64;
    let text = text.trim();
    if text.len() > PLAIN_BYTES_MAX {
        return None;
    }
    let value = parse(text.as_bytes(), 1).ok()?.value;
    (value.is_number() || value.is_boolean()).then_some(value)
}

/// Whether leaving a value of the wrong kind out loses nothing: it would have said nothing, or describes only.
pub(super) fn is_idle(kind: Keyword, name: &str, value: &Value) -> bool {
    match kind {
        Keyword::Text => name != "pattern" && name != "format",
        Keyword::Flag => name != "uniqueItems",
        Keyword::Names => value == &Value::Bool(false) || value.is_null(),
        Keyword::NameLists | Keyword::InPlaceList | Keyword::Schemas => {
            value.as_array().is_some_and(Vec::is_empty) || value.is_null()
        }
        Keyword::Example => true,
        Keyword::Values => name == "examples",
        _ => value.is_null(),
    }
}

impl Converter<'_> {
    /// The values of an `enum`, each of the type the schema names.
    ///
    /// YAML reads `enum: [1.0, true]` below `type: string` as a number and a boolean, and people quote the
    /// numbers of a `type: integer`: no value could ever be of the type and in the list.
    pub(super) fn enumeration(
        &mut self,
        values: &[Value],
        map: &Map<String, Value>,
        at: &Pointer,
    ) -> Option<Value> {
        if values.is_empty() {
            let message = "an empty list of values allows none at all and is left out";
            self.lost(DiagnosticCode::KeywordLeftOut, at, message);
            return None;
        }
        let name = map.get("type").and_then(Value::as_str);
        let wanted = |value: &Value| -> Option<Value> {
            match (name?, value) {
                ("string", Value::Number(number)) => Some(number.to_string().into()),
                ("string", Value::Bool(flag)) => Some(flag.to_string().into()),
                ("integer" | "number", Value::String(text)) => plain(text).filter(Value::is_number),
                ("boolean", Value::String(text)) => plain(text).filter(Value::is_boolean),
                _ => None,
            }
        };
        if !values.iter().any(|value| wanted(value).is_some()) {
            return self.shallow(&Value::Array(values.to_vec()), at);
        }
        self.warn(
            at,
            "values of another type than the schema's are read as values of that type",
        );
        let mut read: Vec<Value> = Vec::with_capacity(values.len());
        for value in values {
            read.push(wanted(value).unwrap_or_else(|| value.clone()));
        }
        self.shallow(&Value::Array(read), at)
    }

    /// Tells when the subtypes that a discriminator tells apart are nowhere listed.
    pub(super) fn subtypes(&mut self, map: &Map<String, Value>, at: &Pointer) {
        let has = |names: &[&str]| names.iter().any(|&name| map.contains_key(name));
        if has(&["oneOf", "anyOf", "$ref"]) || !has(&["properties", "allOf"]) {
            return;
        }
        let is_one = match map.get("discriminator") {
            Some(Value::String(_)) => true,
            Some(Value::Object(own)) => own.get("propertyName").is_some_and(Value::is_string),
            _ => false,
        };
        if is_one {
            let message = "the subtypes that the discriminator tells apart are not listed here and not published; list them in a oneOf";
            self.lost(DiagnosticCode::SubtypesLeftOut, at, message);
        }
    }
}
