//! A configuration file becomes its typed form: TOML, YAML or JSON by the end of its name.
//!
//! Owns: the three languages as one value, and turning what a reader says into a fault with its place.

use std::fs;
use std::path::Path;

use serde_json::{Map, Number, Value};
use serde_path_to_error::Segment;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys;
use super::places::Places;
use super::{ConfigError, ConfigFault, ConfigFile};
use crate::catalog;
use crate::json::Pointer;

/// A configuration file is at most this many bytes (4 MiB): ten thousand operations, curated one by one.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// A file nests at most this deep; constants of arguments are the only deep part of one.
const LEVELS_MAX: usize = 128;

/// A file that was read, with the means to say where something stands.
pub(super) struct Read {
    pub(super) file: ConfigFile,
    pub(super) places: Places,
}

/// Reads a file and checks everything that needs no look beyond it.
pub(super) fn read(path: &Path) -> Result<Read, ConfigError> {
    let unreadable = |source| ConfigError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let extension = path.extension().map(|end| end.to_string_lossy());
    let language = extension.unwrap_or_default().to_ascii_lowercase();
    if !["toml", "yaml", "yml", "json"].contains(&language.as_str()) {
        return Err(ConfigError::UnknownLanguage {
            path: path.to_owned(),
        });
    }
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() || metadata.len() > FILE_BYTES_MAX {
        return Err(unreadable(std::io::Error::other(format!(
            "it is no file of at most {FILE_BYTES_MAX} bytes"
        ))));
    }
    let text = fs::read_to_string(path).map_err(unreadable)?;
    let name = path.display().to_string();
    let (value, places) = parse(&text, &language, &name).map_err(|fault| ConfigError::Faults {
        faults: vec![fault],
    })?;
    typed(value, places)
}

fn parse(text: &str, language: &str, name: &str) -> Result<(Value, Places), ConfigFault> {
    if language == "toml" {
        return toml_value(text, name);
    }
    if text.trim().is_empty() {
        return Ok((Value::Object(Map::new()), Places::new(name)));
    }
    let value = catalog::parse_settings(name, text.as_bytes().to_vec(), language == "json")
        .map_err(|fault| ConfigFault {
            place: fault.place(),
            message: fault.message,
        })?;
    // A file of comments only.
    let value = match value {
        Value::Null => Value::Object(Map::new()),
        value => value,
    };
    Ok((value, Places::of_events(name, text)))
}

fn toml_value(text: &str, name: &str) -> Result<(Value, Places), ConfigFault> {
    let mut places = Places::new(name);
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        ConfigFault {
            place: places.spelled(text, at),
            message: format!("{}; correct the TOML there", error.message().trim_end()),
        }
    })?;
    let value = table_value(table.get_ref(), text, &Pointer::root(), &mut places);
    Ok((value, places))
}

fn table_value(table: &DeTable<'_>, text: &str, at: &Pointer, places: &mut Places) -> Value {
    let members = table.iter().map(|(key, value)| {
        let at = at.join(key.get_ref());
        places.note(&at, text, key.span().start);
        (
            key.get_ref().to_string(),
            spanned_value(value, text, &at, places),
        )
    });
    // The table is sorted by name; a file is read in the order it was written.
    let mut members: Vec<(String, Value)> = members.collect();
    members.sort_by_key(|(name, _)| places.offset_of(&at.join(name)));
    Value::Object(members.into_iter().collect())
}

fn spanned_value(
    value: &Spanned<DeValue<'_>>,
    text: &str,
    at: &Pointer,
    places: &mut Places,
) -> Value {
    match value.get_ref() {
        DeValue::String(text) => Value::String(text.to_string()),
        // Digits stay as they are written where JSON has the form, as in the other languages.
        DeValue::Integer(integer) if integer.radix() == 10 => number(integer.as_str()),
        DeValue::Integer(integer) => i128::from_str_radix(integer.as_str(), integer.radix())
            .map_or(Value::Null, Value::from_number),
        DeValue::Float(float) => number(float.as_str()),
        DeValue::Boolean(value) => Value::Bool(*value),
        // Other languages have no dates: it is the text.
        DeValue::Datetime(value) => Value::String(value.to_string()),
        DeValue::Array(items) => items
            .iter()
            .enumerate()
            .map(|(index, item)| {
                let mut at = at.clone();
                at.push_index(index);
                places.note(&at, text, item.span().start);
                spanned_value(item, text, &at, places)
            })
            .collect(),
        DeValue::Table(table) => table_value(table, text, at, places),
    }
}

/// A 128-bit number as JSON.
trait FromNumber {
    fn from_number(number: i128) -> Self;
}

impl FromNumber for Value {
    fn from_number(number: i128) -> Self {
        Number::from_i128(number).map_or(Self::Null, Self::Number)
    }
}

/// A number by its digits; what JSON has no form for (`inf`, `nan`) is the text.
fn number(digits: &str) -> Value {
    let digits = digits.strip_prefix('+').unwrap_or(digits);
    match crate::json::parse(digits.as_bytes(), 0) {
        Ok(parsed) => parsed.value,
        Err(_) => Value::String(digits.to_owned()),
    }
}

fn typed(value: Value, places: Places) -> Result<Read, ConfigError> {
    let fault = |at: &Pointer, message: String| ConfigFault {
        place: places.place(at),
        message,
    };
    if levels(&value) > LEVELS_MAX {
        let message = format!("it nests over {LEVELS_MAX} levels");
        return Err(ConfigError::Faults {
            faults: vec![fault(&Pointer::root(), message)],
        });
    }
    let unknown = keys::unknown(&value);
    if !unknown.is_empty() {
        let faults = unknown
            .into_iter()
            .map(|unknown| fault(&unknown.at, unknown.message))
            .collect();
        return Err(ConfigError::Faults { faults });
    }
    let file: ConfigFile = serde_path_to_error::deserialize(value).map_err(|error| {
        let mut at = Pointer::root();
        for segment in error.path() {
            match segment {
                Segment::Seq { index } => at.push_index(*index),
                Segment::Map { key } => at.push(key),
                Segment::Enum { .. } | Segment::Unknown => {}
            }
        }
        let key = at.as_str().trim_start_matches('/').replace('/', ".");
        let message = if key.is_empty() {
            error.inner().to_string()
        } else {
            format!("`{key}`: {}", error.inner())
        };
        ConfigError::Faults {
            faults: vec![fault(&at, message)],
        }
    })?;
    Ok(Read { file, places })
}

fn levels(value: &Value) -> usize {
    1 + match value {
        Value::Object(map) => map.values().map(levels).max().unwrap_or(0),
        Value::Array(items) => items.iter().map(levels).max().unwrap_or(0),
        _ => 0,
    }
}
