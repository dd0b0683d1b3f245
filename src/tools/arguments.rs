//! Checks and clamps of the meta-tools' own arguments.

use serde_json::{Map, Number, Value};

use crate::contract::{Code, ErrorEnvelope};
use crate::json::kind;

/// The arguments of one meta-tool, known to hold no others.
pub(super) struct Arguments<'a> {
    tool: &'static str,
    values: &'a Map<String, Value>,
}

impl<'a> Arguments<'a> {
    /// Refuses arguments the tool does not have, naming those it has.
    pub(super) fn new(
        tool: &'static str,
        known: &[&str],
        values: &'a Map<String, Value>,
    ) -> Result<Self, ErrorEnvelope> {
        let strangers: Vec<&str> = values
            .keys()
            .map(String::as_str)
            .filter(|name| !known.contains(name))
            .take(NAMES_MAX)
            .collect();
        if strangers.is_empty() {
            return Ok(Self { tool, values });
        }
        // The commonest slip: the operation's arguments beside the meta-tool's.
        let inside = if known.contains(&"arguments") {
            "; the operation's own arguments go inside `arguments`"
        } else {
            ""
        };
        Err(ErrorEnvelope::new(
            Code::UnknownArgument,
            format!(
                "{tool} has no argument {}; it has {}{inside}",
                listed(&strangers),
                listed(known)
            ),
        ))
    }

    /// A value that is given; null counts as missing.
    pub(super) fn given(&self, name: &str) -> Option<&'a Value> {
        self.values.get(name).filter(|value| !value.is_null())
    }

    /// Whether the argument was sent at all, null included.
    pub(super) fn sent(&self, name: &str) -> Option<&'a Value> {
        self.values.get(name)
    }

    /// A string, when given.
    pub(super) fn string(&self, name: &str) -> Result<Option<&'a str>, ErrorEnvelope> {
        match self.given(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong_kind(name, "a string", kind(other))),
        }
    }

    /// A string that must be there.
    pub(super) fn required_string(&self, name: &str) -> Result<&'a str, ErrorEnvelope> {
        self.string(name)?.ok_or_else(|| self.missing(name))
    }

    pub(super) fn missing(&self, name: &str) -> ErrorEnvelope {
        ErrorEnvelope::new(
            Code::UnknownArgument,
            format!(
                "{} needs the argument `{name}`, which is missing",
                self.tool
            ),
        )
    }

    /// A list of strings; missing is empty.
    pub(super) fn strings(&self, name: &str) -> Result<Vec<String>, ErrorEnvelope> {
        let items = match self.given(name) {
            None => return Ok(Vec::new()),
            Some(Value::Array(items)) => items,
            Some(other) => return Err(self.wrong_kind(name, "a list of strings", kind(other))),
        };
        items
            .iter()
            .map(|item| match item {
                Value::String(text) => Ok(text.clone()),
                other => {
                    let arrived = format!("a list that holds a value of kind {}", kind(other));
                    Err(self.wrong_kind(name, "a list of strings", &arrived))
                }
            })
            .collect()
    }

    /// A number clamped into a range: truncated toward zero first; a string that holds an integer counts.
    pub(super) fn clamped(
        &self,
        name: &str,
        range: std::ops::RangeInclusive<usize>,
        default: usize,
    ) -> Result<usize, ErrorEnvelope> {
        let number = match self.given(name) {
            None => return Ok(default),
            Some(Value::Number(number)) => number.clone(),
            Some(Value::String(text)) => {
                integer_text(text).ok_or_else(|| self.wrong_kind(name, "a number", "string"))?
            }
            Some(other) => return Err(self.wrong_kind(name, "a number", kind(other))),
        };
        Ok(clamp(&number, range))
    }

    pub(super) fn wrong_kind(&self, name: &str, wants: &str, arrived: &str) -> ErrorEnvelope {
        ErrorEnvelope::new(
            Code::UnknownArgument,
            format!(
                "the argument `{name}` of {} must be {wants}; {arrived} arrived",
                self.tool
            ),
        )
    }
}

/// At most this many strange names are repeated in a message.
const NAMES_MAX: usize = 20;

/// A strange name over this many characters is cut in a message.
const NAME_CHARS_MAX: usize = 64;

fn listed(names: &[&str]) -> String {
    let quoted = names.iter().map(|name| {
        let short: String = name.chars().take(NAME_CHARS_MAX).collect();
        format!("`{short}`")
    });
    quoted.collect::<Vec<_>>().join(", ")
}

/// Decimal digits with an optional sign.
fn integer_text(text: &str) -> Option<Number> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = match digits.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    };
    let sign = if text.starts_with('-') { "-" } else { "" };
    format!("{sign}{digits}").parse().ok()
}

fn clamp(number: &Number, range: std::ops::RangeInclusive<usize>) -> usize {
    // Any JSON number is a float, if need be an infinite one; the range is small and exact in f64.
    let value = number.as_f64().unwrap_or_else(|| {
        if number.to_string().starts_with('-') {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        }
    });
    let (low, high) = (*range.start(), *range.end());
    (low..=high)
        .rev()
        .find(|&candidate| value.trunc() >= candidate as f64)
        .unwrap_or(low)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn limit(value: &str) -> Result<usize, ErrorEnvelope> {
        let text = format!("{{\"limit\":{value}}}");
        let values = crate::json::parse(text.as_bytes(), 9).unwrap().value;
        let values = values.as_object().unwrap();
        Arguments::new("search_tools", &["limit"], values)?.clamped("limit", 1..=50, 20)
    }

    #[test]
    fn limits_are_clamped_not_refused() {
        for (value, want) in [
            ("null", 20),
            ("7", 7),
            ("0", 1),
            ("-3", 1),
            ("51", 50),
            ("1e400", 50),
            ("-1e400", 1),
            ("2.9", 2),
            ("0.9", 1),
            ("50.9", 50),
            ("99999999999999999999999", 50),
            ("\"12\"", 12),
            ("\"-4\"", 1),
            ("\"007\"", 7),
            ("\"99999999999999999999\"", 50),
            ("-0", 1),
        ] {
            assert_eq!(limit(value).unwrap(), want, "{value}");
        }
        for value in [
            "\"\"", "\"2.5\"", "\" 2\"", "true", "[1]", "{}", "\"1e2\"", "\"-\"",
        ] {
            assert!(limit(value).is_err(), "{value}");
        }
    }

    #[test]
    fn strange_arguments_are_named_with_those_there_are() {
        let values = json!({"q": 1, "limit": 2});
        let refused = Arguments::new(
            "search_tools",
            &["query", "limit"],
            values.as_object().unwrap(),
        );
        let message = format!("{:?}", refused.err().unwrap());
        assert!(
            message.contains("`q`") && message.contains("`query`, `limit`"),
            "{message}"
        );
    }
}
