//! The canonical text of a value: the bytes every version and revision is a hash of.

use serde_json::Value;
use sha2::{Digest, Sha256};

/// The canonical JSON of a value: object keys sorted by code point at every depth, no white space,
/// UTF-8 with non-ASCII unescaped, numbers with the digits the value holds.
pub fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            // UTF-8 sorts bytewise in code point order.
            let mut members: Vec<_> = map.iter().collect();
            members.sort_unstable_by_key(|(key, _)| key.as_str());
            out.push('{');
            for (index, (key, member)) in members.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_scalar(&Value::String(key.clone()), out);
                out.push(':');
                write(member, out);
            }
            out.push('}');
        }
        scalar => write_scalar(scalar, out),
    }
}

/// `serde_json` writes strings with the short escapes, only control characters as `\u`, and numbers as kept.
fn write_scalar(value: &Value, out: &mut String) {
    out.push_str(&value.to_string());
}

/// How many bytes [`canonical`] would write, without writing them. Order changes no length.
pub fn canonical_len(value: &Value) -> usize {
    /// Brackets, and commas between members.
    fn around(members: usize) -> usize {
        2 + members.saturating_sub(1)
    }
    match value {
        Value::Null | Value::Bool(true) => 4,
        Value::Bool(false) => 5,
        Value::Number(number) => number.as_str().len(),
        Value::String(text) => text_len(text),
        Value::Array(items) => around(items.len()) + items.iter().map(canonical_len).sum::<usize>(),
        Value::Object(map) => {
            let members = map
                .iter()
                .map(|(key, member)| text_len(key) + 1 + canonical_len(member));
            around(map.len()) + members.sum::<usize>()
        }
    }
}

/// The bytes of a text in quotes with its escapes.
fn text_len(text: &str) -> usize {
    let escapes = text.bytes().map(|byte| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 1,
        0..0x20 => 5,
        _ => 0,
    });
    2 + text.len() + escapes.sum::<usize>()
}

/// The SHA-256 of some bytes, in lowercase hex (64 digits).
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes in lowercase hex, two digits each.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing into a String cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_sort_at_every_depth_and_text_stays_unescaped() {
        let value = json!({"b": [{"z": 1, "é": "ş\n\u{7}/"}], "a": null, "B": 1.5});
        assert_eq!(
            canonical(&value),
            "{\"B\":1.5,\"a\":null,\"b\":[{\"z\":1,\"é\":\"ş\\n\\u0007/\"}]}"
        );
    }

    #[test]
    fn every_escape_has_its_length() {
        for code in 0..=0x2ff_u32 {
            let text = Value::from(char::from_u32(code).unwrap().to_string());
            assert_eq!(canonical_len(&text), canonical(&text).len(), "{code:#x}");
        }
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn canonical_text_reads_back_equal_and_stays_the_same(value in any_value()) {
            let text = canonical(&value);
            let back = crate::json::parse(text.as_bytes(), 64).unwrap().value;
            prop_assert_eq!(&back, &value);
            prop_assert_eq!(canonical_len(&value), text.len());
            prop_assert_eq!(canonical(&back), text);
        }
    }
}
