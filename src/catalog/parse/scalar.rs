//! What a YAML scalar means: the core schema of YAML 1.2, digits kept.
//!
//! Owns: plain scalars and explicit core tags to JSON values. Must never see a collection.

use serde_json::{Number, Value};

/// A hexadecimal or octal integer of more digits than this stays text: nobody writes one, and converting
/// costs the square of its length.
const RADIX_DIGITS_MAX: usize = 256;

/// What a scalar became.
#[derive(Debug, PartialEq)]
pub(super) enum Scalar {
    /// A JSON value.
    Value(Value),
    /// Infinity or not-a-number, which JSON does not have; the text is kept.
    NotFinite(String),
}

/// A plain scalar without a tag.
///
/// As the core schema says (YAML 1.2.2, 10.3.2), with one exception: decimal digits with a leading zero
/// stay text. 1.1 reads them as octal, 1.2 as decimal, and who writes `007` or `01234` means the text.
pub(super) fn plain(text: &str) -> Scalar {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Scalar::Value(Value::Null),
        "true" | "True" | "TRUE" => return Scalar::Value(Value::Bool(true)),
        "false" | "False" | "FALSE" => return Scalar::Value(Value::Bool(false)),
        _ => {}
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Scalar::NotFinite(text.to_owned());
    }
    Scalar::Value(number(text).map_or_else(|| Value::String(text.to_owned()), Value::Number))
}

/// A scalar under an explicit core tag (`str`, `int`, …); the message says what does not fit.
pub(super) fn tagged(tag: &str, text: &str) -> Result<Scalar, String> {
    let resolved = plain(text);
    let fits = match (tag, &resolved) {
        ("null", Scalar::Value(Value::Null))
        | ("bool", Scalar::Value(Value::Bool(_)))
        | ("float", Scalar::Value(Value::Number(_)) | Scalar::NotFinite(_)) => true,
        ("int", Scalar::Value(Value::Number(number))) => {
            !number.to_string().contains(['.', 'e', 'E'])
        }
        ("null" | "bool" | "int" | "float", _) => false,
        // `!!str`, and tags of later or foreign schemas (`!!timestamp`, `!!binary`): the text.
        _ => return Ok(Scalar::Value(Value::String(text.to_owned()))),
    };
    if fits {
        Ok(resolved)
    } else {
        Err(format!("the value is tagged !!{tag} but is none"))
    }
}

fn number(text: &str) -> Option<Number> {
    let digits = if let Some(octal) = text.strip_prefix("0o") {
        from_radix(octal, 8)?
    } else if let Some(hex) = text.strip_prefix("0x") {
        from_radix(hex, 16)?
    } else {
        decimal(text)?
    };
    digits.parse().ok()
}

/// The JSON spelling of a decimal number: no `+`, a digit on both sides of the point.
fn decimal(text: &str) -> Option<String> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match rest.find(['e', 'E']) {
        Some(at) => (&rest[..at], Some(&rest[at + 1..])),
        None => (rest, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let leading_zero = whole.len() > 1 && whole.starts_with('0');
    let no_digit = whole.is_empty() && fraction.is_none_or(str::is_empty);
    if leading_zero || no_digit || !all_digits(whole) || !fraction.is_none_or(all_digits) {
        return None;
    }
    let mut out = format!("{sign}{}", if whole.is_empty() { "0" } else { whole });
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(if fraction.is_empty() { "0" } else { fraction });
    }
    if let Some(exponent) = exponent {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if digits.is_empty() || !all_digits(digits) {
            return None;
        }
        out.push('e');
        out.push_str(exponent);
    }
    Some(out)
}

/// The decimal digits of an integer of any length, by schoolbook multiplication.
fn from_radix(digits: &str, radix: u32) -> Option<String> {
    const LIMB: u64 = 1_000_000_000;
    if digits.is_empty() || digits.len() > RADIX_DIGITS_MAX {
        return None;
    }
    // Little-endian limbs of nine decimal digits.
    let mut limbs: Vec<u64> = vec![0];
    for digit in digits.chars() {
        let mut carry = u64::from(digit.to_digit(radix)?);
        for limb in &mut limbs {
            let product = *limb * u64::from(radix) + carry;
            *limb = product % LIMB;
            carry = product / LIMB;
        }
        if carry > 0 {
            limbs.push(carry);
        }
    }
    let mut limbs = limbs.into_iter().rev();
    let first = limbs.next()?.to_string();
    Some(limbs.fold(first, |text, limb| format!("{text}{limb:09}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_follow_the_core_schema() {
        for (text, want) in [
            // What YAML 1.1 reads as something else.
            ("no", "\"no\""),
            ("yes", "\"yes\""),
            ("on", "\"on\""),
            ("off", "\"off\""),
            ("y", "\"y\""),
            ("2024-01-01", "\"2024-01-01\""),
            (
                "2001-12-14t21:59:43.10-05:00",
                "\"2001-12-14t21:59:43.10-05:00\"",
            ),
            ("0777", "\"0777\""),
            ("-012", "\"-012\""),
            ("00.5", "\"00.5\""),
            ("1_000", "\"1_000\""),
            ("190:20:30", "\"190:20:30\""),
            ("0b1010", "\"0b1010\""),
            ("=", "\"=\""),
            // Null and booleans in their three spellings, and no other.
            ("", "null"),
            ("~", "null"),
            ("null", "null"),
            ("Null", "null"),
            ("NULL", "null"),
            ("nUll", "\"nUll\""),
            ("true", "true"),
            ("True", "true"),
            ("TRUE", "true"),
            ("tRue", "\"tRue\""),
            ("false", "false"),
            ("False", "false"),
            ("FALSE", "false"),
            // Integers.
            ("0", "0"),
            ("-0", "-0"),
            ("+12", "12"),
            ("-19", "-19"),
            ("0o17", "15"),
            ("0x1F", "31"),
            ("0o18", "\"0o18\""),
            ("0x", "\"0x\""),
            ("0xG", "\"0xG\""),
            ("-0x1F", "\"-0x1F\""),
            ("0o", "\"0o\""),
            (
                "123456789012345678901234567890",
                "123456789012345678901234567890",
            ),
            (
                "0xFFFFFFFFFFFFFFFFFFFFFFFF",
                "79228162514264337593543950335",
            ),
            ("0x3B9ACA00", "1000000000"),
            // Floats keep their digits where JSON can write them.
            ("1.0", "1.0"),
            ("1.10", "1.10"),
            ("1.", "1.0"),
            (".5", "0.5"),
            ("-.5", "-0.5"),
            ("+1.5", "1.5"),
            ("1e3", "1e+3"),
            ("1.5E-10", "1.5e-10"),
            ("0.1e+1", "0.1e+1"),
            (".", "\".\""),
            ("-", "\"-\""),
            ("+", "\"+\""),
            ("e5", "\"e5\""),
            ("1e", "\"1e\""),
            ("1e+", "\"1e+\""),
            (".e1", "\".e1\""),
            ("1.2.3", "\"1.2.3\""),
            ("3.0.3", "\"3.0.3\""),
            ("٣", "\"٣\""),
        ] {
            let Scalar::Value(value) = plain(text) else {
                panic!("{text}");
            };
            assert_eq!(value.to_string(), want, "{text}");
        }
        for text in [".inf", "-.Inf", "+.INF", ".nan", ".NaN", ".NAN"] {
            assert_eq!(plain(text), Scalar::NotFinite(text.to_owned()));
        }
        assert_eq!(
            plain("-.nan"),
            Scalar::Value(Value::String("-.nan".to_owned()))
        );
    }

    #[test]
    fn tags_are_honoured_and_checked() {
        let text = |text: &str| Ok(Scalar::Value(Value::String(text.to_owned())));
        assert_eq!(tagged("str", "12"), text("12"));
        assert_eq!(tagged("timestamp", "2024-01-01"), text("2024-01-01"));
        assert_eq!(
            tagged("int", "12"),
            Ok(Scalar::Value(Value::Number(12.into())))
        );
        assert_eq!(tagged("null", ""), Ok(Scalar::Value(Value::Null)));
        for (tag, value) in [
            ("int", "1.5"),
            ("int", "x"),
            ("bool", "yes"),
            ("null", "0"),
            ("float", "x"),
        ] {
            assert!(tagged(tag, value).is_err(), "{tag} {value}");
        }
    }
}
