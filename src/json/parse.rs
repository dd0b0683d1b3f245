//! Strict reading: one pass, a depth limit of the caller's, repeated keys reported, digits kept.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::Pointer;

/// The key under which `serde_json` hands an arbitrary-precision number to a foreign visitor.
const NUMBER_TOKEN: &str = "$serde_json::private::Number";

/// At most this many repeated keys are reported; more say nothing new and a hostile text has millions.
const DUPLICATES_MAX: usize = 100;

/// Why a text is not JSON, with the place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} at line {line} column {column}")]
pub struct JsonError {
    /// What is wrong, without the place.
    pub message: String,
    /// 1-based line.
    pub line: usize,
    /// 1-based column, in bytes.
    pub column: usize,
}

/// A value that was read, with what was odd about its text.
#[derive(Debug, Clone)]
pub struct Parsed {
    /// The value; of a repeated key the last member, at the place of the first.
    pub value: Value,
    /// Where keys were repeated (the pointer of the member), the first hundred of them.
    pub duplicates: Vec<Pointer>,
}

/// Reads one JSON text of UTF-8 bytes, nested at most `depth_max` levels (a scalar is level 0, `[]` level 1).
///
/// A leading byte order mark is skipped. Numbers keep their digits exactly as written.
pub fn parse(bytes: &[u8], depth_max: usize) -> Result<Parsed, JsonError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut duplicates = Vec::new();
    let mut path = Pointer::root();
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    // The visitor below counts levels itself: the limit is the caller's, not the library's fixed 128.
    reader.disable_recursion_limit();
    let seed = Node {
        levels_left: depth_max,
        duplicates: &mut duplicates,
        path: &mut path,
    };
    let value = seed
        .deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value))
        .map_err(|error| {
            let text = error.to_string();
            let message = text.split(" at line ").next().unwrap_or(&text).to_owned();
            JsonError {
                message,
                line: error.line(),
                column: error.column(),
            }
        })?;
    Ok(Parsed { value, duplicates })
}

/// Reads one value; recursion happens only through [`Node::inner`], one level less each.
struct Node<'a> {
    levels_left: usize,
    duplicates: &'a mut Vec<Pointer>,
    path: &'a mut Pointer,
}

impl Node<'_> {
    /// The levels left inside this value, which is an array or an object.
    fn levels_inside<E: serde::de::Error>(&self) -> Result<usize, E> {
        self.levels_left
            .checked_sub(1)
            .ok_or_else(|| E::custom("nested too deeply"))
    }

    fn inner(&mut self, levels_left: usize) -> Node<'_> {
        Node {
            levels_left,
            duplicates: self.duplicates,
            path: self.path,
        }
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Value, A::Error> {
        let levels_left = self.levels_inside()?;
        let mut list = Vec::new();
        loop {
            self.path.push_index(list.len());
            let item = items.next_element_seed(self.inner(levels_left))?;
            self.path.pop();
            match item {
                Some(item) => list.push(item),
                None => return Ok(Value::Array(list)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        let Some(mut key) = members.next_key::<String>()? else {
            self.levels_inside()?;
            return Ok(Value::Object(map));
        };
        if key == NUMBER_TOKEN {
            let digits: String = members.next_value()?;
            return digits
                .parse::<Number>()
                .map(Value::Number)
                .map_err(|_| A::Error::custom("a number is malformed"));
        }
        let levels_left = self.levels_inside()?;
        loop {
            self.path.push(&key);
            if map.contains_key(&key) && self.duplicates.len() < DUPLICATES_MAX {
                self.duplicates.push(self.path.clone());
            }
            let value = members.next_value_seed(self.inner(levels_left))?;
            self.path.pop();
            map.insert(key, value);
            match members.next_key()? {
                Some(next) => key = next,
                None => return Ok(Value::Object(map)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, depth: usize) -> Result<Parsed, JsonError> {
        parse(text.as_bytes(), depth)
    }

    #[test]
    fn numbers_keep_their_digits() {
        for text in [
            "1.0",
            "1e+400",
            "-0",
            "0.10",
            "12345678901234567890123",
            "9007199254740993",
        ] {
            let value = read(text, 1).unwrap().value;
            assert_eq!(value.to_string(), text);
        }
        // Only the spelling of an exponent is made uniform.
        assert_eq!(read("1E5", 1).unwrap().value.to_string(), "1e+5");
    }

    #[test]
    fn repeated_keys_are_reported_and_the_last_wins() {
        let parsed = read(r#"{"a":{"b":1,"b":[{"c":1,"c":2}]},"d":0}"#, 9).unwrap();
        assert_eq!(parsed.value.to_string(), r#"{"a":{"b":[{"c":2}]},"d":0}"#);
        let places: Vec<_> = parsed.duplicates.iter().map(Pointer::as_str).collect();
        assert_eq!(places, ["/a/b", "/a/b/0/c"]);
    }

    #[test]
    fn depth_is_counted_in_levels() {
        assert!(read("1", 0).is_ok());
        assert!(read("[]", 0).is_err());
        assert!(read("{}", 0).is_err());
        assert!(read("[[1]]", 2).is_ok());
        assert!(read("[[[]]]", 2).is_err());
        let deep = "[".repeat(1_000_000);
        assert_eq!(read(&deep, 100).unwrap_err().message, "nested too deeply");
    }

    #[test]
    fn an_error_names_the_place_once() {
        let error = read("{\n \"a\": x}", 9).unwrap_err();
        assert_eq!((error.line, error.column), (2, 7));
        assert_eq!(error.to_string(), "expected value at line 2 column 7");
    }

    #[test]
    fn trailing_text_is_an_error() {
        assert!(read("1 2", 9).is_err());
        assert!(read("", 9).is_err());
        assert!(read("\u{feff}[1]", 9).is_ok());
    }
}
