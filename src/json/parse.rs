//! Strict reading: one pass, a depth limit of the caller's, repeated keys reported, digits kept.

use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor,
};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

use super::Pointer;

/// The key under which `serde_json` hands an arbitrary-precision number to a foreign visitor. A text may
/// hold the same key as a member of an object; see [`AfterToken`].
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
    parse_at_most(bytes, depth_max, usize::MAX)
}

/// Reads the same of at most `values_max` values, counted at every level.
///
/// In memory each value costs some hundred bytes however short its text, so for texts of strangers a limit of
/// bytes alone is none.
pub fn parse_at_most(
    bytes: &[u8],
    depth_max: usize,
    values_max: usize,
) -> Result<Parsed, JsonError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut places = Places {
        values_left: values_max,
        ..Places::default()
    };
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    // The visitor below counts levels itself: the limit is the caller's, not the library's fixed 128.
    reader.disable_recursion_limit();
    let seed = Node {
        levels_left: depth_max,
        places: Some(&mut places),
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
    Ok(Parsed {
        value,
        duplicates: places.duplicates,
    })
}

/// Reads a value that this program wrote itself, for `#[serde(deserialize_with)]`. The library's own reading
/// takes an object with one of its private keys for a number or for raw text.
pub fn stored<'de, D: Deserializer<'de>>(reader: D) -> Result<Value, D::Error> {
    let node = Node {
        levels_left: usize::MAX,
        places: None,
    };
    node.deserialize(reader)
}

/// The same for a value that may be absent or null.
pub fn stored_option<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<Value>, D::Error> {
    let stored: Option<Stored> = Option::deserialize(reader)?;
    Ok(stored.map(|stored| stored.0))
}

/// The same for the members of an object.
pub fn stored_map<'de, D: Deserializer<'de>>(reader: D) -> Result<Map<String, Value>, D::Error> {
    match stored(reader)? {
        Value::Object(map) => Ok(map),
        _ => Err(D::Error::custom("expected an object")),
    }
}

struct Stored(Value);

impl<'de> Deserialize<'de> for Stored {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        stored(reader).map(Self)
    }
}

/// Where the reader is, and where it met a repeated key.
#[derive(Default)]
struct Places {
    duplicates: Vec<Pointer>,
    /// The way to the value that is being read. A pointer is made of it only where one is needed: most
    /// texts have no repeated key, and all of them have many values.
    path: Vec<Step>,
    /// The keys of the way, one behind the other.
    keys: String,
    values_left: usize,
}

/// One step of the way.
enum Step {
    /// A member; its key starts here in the keys.
    Key(usize),
    /// An item.
    Index(usize),
}

impl Places {
    fn pointer(&self) -> Pointer {
        let mut pointer = Pointer::root();
        let mut end = self.keys.len();
        let mut keys = Vec::new();
        for step in self.path.iter().rev() {
            if let Step::Key(start) = step {
                keys.push(&self.keys[*start..end]);
                end = *start;
            }
        }
        for step in &self.path {
            match step {
                Step::Key(_) => pointer.push(keys.pop().unwrap_or_default()),
                Step::Index(index) => pointer.push_index(*index),
            }
        }
        pointer
    }
}

/// Reads one value; recursion happens only through [`Node::inner`], one level less each.
struct Node<'a> {
    levels_left: usize,
    places: Option<&'a mut Places>,
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
            places: self.places.as_deref_mut(),
        }
    }

    /// Enters a member, `again` when its key was there before.
    fn enter(&mut self, key: &str, again: bool) {
        if let Some(places) = &mut self.places {
            places.path.push(Step::Key(places.keys.len()));
            places.keys.push_str(key);
            if again && places.duplicates.len() < DUPLICATES_MAX {
                places.duplicates.push(places.pointer());
            }
        }
    }

    fn leave(&mut self) {
        if let Some(places) = &mut self.places
            && let Some(Step::Key(start)) = places.path.pop()
        {
            places.keys.truncate(start);
        }
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(mut self, reader: D) -> Result<Value, D::Error> {
        if let Some(places) = &mut self.places {
            places.values_left = places
                .values_left
                .checked_sub(1)
                .ok_or_else(|| D::Error::custom("too many values"))?;
        }
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
            if let Some(places) = &mut self.places {
                places.path.push(Step::Index(list.len()));
            }
            let item = items.next_element_seed(self.inner(levels_left))?;
            self.leave();
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
            let levels_left = self.levels_left.checked_sub(1);
            self.enter(&key, false);
            let value = members.next_value_seed(AfterToken {
                node: self.inner(levels_left.unwrap_or(0)),
                too_deep: levels_left.is_none(),
            })?;
            self.leave();
            match value {
                Met::Number(number) => return Ok(Value::Number(number)),
                Met::Member(value) => map.insert(key, value),
            };
            match members.next_key()? {
                Some(next) => key = next,
                None => return Ok(Value::Object(map)),
            }
        }
        let levels_left = self.levels_inside()?;
        loop {
            match map.entry(key) {
                Entry::Vacant(place) => {
                    self.enter(place.key(), false);
                    place.insert(members.next_value_seed(self.inner(levels_left))?);
                }
                Entry::Occupied(mut place) => {
                    self.enter(place.key(), true);
                    place.insert(members.next_value_seed(self.inner(levels_left))?);
                }
            }
            self.leave();
            match members.next_key()? {
                Some(next) => key = next,
                None => return Ok(Value::Object(map)),
            }
        }
    }
}

/// What stood behind the token.
enum Met {
    /// The library handed over a number.
    Number(Number),
    /// The text has an object with such a key.
    Member(Value),
}

/// Reads what follows [`NUMBER_TOKEN`]. The library hands the digits of a number over as an owned string;
/// a string of the text it lends, and anything else is no number's digits.
struct AfterToken<'a> {
    node: Node<'a>,
    /// Whether an object here would be over the limit of levels; a number is no level.
    too_deep: bool,
}

impl<'a> AfterToken<'a> {
    fn member<E: serde::de::Error>(
        self,
        read: impl FnOnce(Node<'a>) -> Result<Value, E>,
    ) -> Result<Met, E> {
        if self.too_deep {
            return Err(E::custom("nested too deeply"));
        }
        read(self.node).map(Met::Member)
    }
}

impl<'de> DeserializeSeed<'de> for AfterToken<'_> {
    type Value = Met;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Met, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for AfterToken<'_> {
    type Value = Met;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.node.expecting(f)
    }

    fn visit_string<E: serde::de::Error>(self, digits: String) -> Result<Met, E> {
        digits
            .parse()
            .map(Met::Number)
            .map_err(|_| E::custom("a number is malformed"))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Met, E> {
        self.member(|node| node.visit_str(text))
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Met, E> {
        self.member(Node::visit_unit)
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Met, E> {
        self.member(|node| node.visit_bool(value))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Met, E> {
        self.member(|node| node.visit_i64(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Met, E> {
        self.member(|node| node.visit_u64(value))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Met, E> {
        self.member(|node| node.visit_f64(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Met, A::Error> {
        self.member(|node| node.visit_seq(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Met, A::Error> {
        self.member(|node| node.visit_map(members))
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

    /// Keys that the library uses between itself and a visitor are keys like any other in a text.
    #[test]
    fn private_keys_of_the_library_are_ordinary_keys() {
        for key in [NUMBER_TOKEN, "$serde_json::private::RawValue"] {
            for value in [
                "\"5\"",
                "\"x\"",
                "\"\\u0035\"",
                "5",
                "-1.0",
                "null",
                "true",
                "[1]",
                "{}",
            ] {
                for text in [
                    format!("{{\"{key}\":{value}}}"),
                    format!("{{\"{key}\":{value},\"b\":1e+5}}"),
                    format!("{{\"b\":1,\"{key}\":{value}}}"),
                    format!("[{{\"{key}\":{{\"{key}\":{value}}}}}]"),
                ] {
                    let want = text.replace("\\u0035", "5");
                    let parsed = read(&text, 9).unwrap();
                    assert_eq!(parsed.value.to_string(), want, "{text}");
                    assert_eq!(parsed.duplicates, []);
                    let again = stored(&mut serde_json::Deserializer::from_str(&text)).unwrap();
                    assert_eq!(again, parsed.value, "{text}");
                }
            }
            let twice = format!("{{\"{key}\":1,\"{key}\":2}}");
            assert_eq!(read(&twice, 1).unwrap().duplicates.len(), 1);
            assert!(read(&format!("[{{\"{key}\":\"5\"}}]"), 1).is_err());
        }
        assert!(read("[5]", 1).is_ok());
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
    fn values_are_counted_at_every_level() {
        let most = |text: &str| {
            (0..20)
                .find(|&max| parse_at_most(text.as_bytes(), 9, max).is_ok())
                .unwrap()
        };
        assert_eq!(most("5"), 1);
        assert_eq!(most("[1, -2.5e3, [], {}, \"a,b\"]"), 6);
        assert_eq!(most("{\"a\": {\"b\": [null]}, \"a\": true}"), 5);
        let error = parse_at_most(b"[0,0,0]", 9, 3).unwrap_err();
        assert_eq!(error.message, "too many values");
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
