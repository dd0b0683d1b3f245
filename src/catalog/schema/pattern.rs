//! Patterns: regular expressions of ECMA-262, as JSON Schema has them.
//!
//! Owns: which patterns are published and in which spelling. Must never run one.

use regress::{Flags, Regex};
use serde_json::{Map, Value};

use super::convert::{Converter, Place};
use crate::catalog::DiagnosticCode;
use crate::catalog::document::shown;
use crate::catalog::finding::Finding;
use crate::json::Pointer;

/// A longer pattern is no help to anyone; the longest of people's have a few hundred bytes, and checking one
/// takes memory in proportion.
const PATTERN_BYTES_MAX: usize = 16 * 1024;

/// More groups than this are refused: checking recurses into them, and people write a dozen.
const GROUPS_MAX: usize = 200;

/// The pattern in a spelling that readers of JSON Schema take; none where it is of another dialect.
///
/// JSON Schema's patterns are ECMA-262 with the `u` flag, which refuses needless escapes (`\_`): those are
/// undone, which changes nothing. What is an expression only without the flag stays as it is, unless it
/// escapes a letter that other dialects give a meaning (`\A`, `\p{Print}`): without the flag it would mean
/// the letter, and refuse what the document accepts.
fn published(pattern: &str) -> Option<String> {
    if pattern.len() > PATTERN_BYTES_MAX || pattern.matches('(').count() > GROUPS_MAX {
        return None;
    }
    // A class by name in a class, as in `[[:alpha:]]`, is POSIX; to ECMA-262 it is a set of letters.
    if pattern.contains("[:") && pattern.contains(":]") {
        return None;
    }
    let is_unicode = |text: &str| Regex::with_flags(text, "u").is_ok();
    if is_unicode(pattern) {
        return Some(pattern.to_owned());
    }
    let plain = without_needless_escapes(pattern);
    if plain != pattern && is_unicode(&plain) {
        return Some(plain);
    }
    let is_plain = Regex::with_flags(pattern, Flags::default()).is_ok();
    (is_plain && !has_foreign_escape(pattern)).then(|| pattern.to_owned())
}

/// The pattern without backslashes before characters that need none.
fn without_needless_escapes(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut characters = pattern.chars();
    let mut in_class = false;
    while let Some(character) = characters.next() {
        match character {
            '[' => in_class = true,
            ']' => in_class = false,
            _ => {}
        }
        if character != '\\' {
            out.push(character);
            continue;
        }
        let Some(escaped) = characters.next() else {
            out.push('\\');
            break;
        };
        let needs = escaped.is_ascii_alphanumeric()
            || "^$\\.*+?()[]{}|/".contains(escaped)
            || (escaped == '-' && in_class);
        if needs {
            out.push('\\');
        }
        out.push(escaped);
    }
    out
}

/// Whether the pattern escapes a letter that has no such escape in ECMA-262 without the `u` flag.
fn has_foreign_escape(pattern: &str) -> bool {
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        if character == '\\'
            && let Some(escaped) = characters.next()
            && escaped.is_ascii_alphabetic()
            && !"bBcdDfknrsStuvwWx".contains(escaped)
        {
            return true;
        }
    }
    false
}

/// Whether a schema has members by a pattern that is not published.
pub(super) fn leaves_any(map: &Map<String, Value>) -> bool {
    let patterns = map.get("patternProperties").and_then(Value::as_object);
    patterns.is_some_and(|members| members.keys().any(|name| published(name).is_none()))
}

impl Converter<'_> {
    /// The value of `pattern`.
    pub(super) fn pattern(&mut self, text: &str, at: &Pointer) -> Option<Value> {
        let made = published(text);
        if made.is_none() {
            let message = format!(
                "the pattern {} is no regular expression of ECMA-262 and is left out",
                shown(text)
            );
            self.lost(DiagnosticCode::PatternLeftOut, at, message);
        }
        made.map(Value::String)
    }

    /// The members of `patternProperties` whose names are patterns.
    pub(super) fn pattern_members(
        &mut self,
        members: &Map<String, Value>,
        at: &mut Pointer,
        place: Place<'_>,
    ) -> Result<Value, Finding> {
        let mut out = Map::new();
        for (name, member) in members {
            at.push(name);
            let made = match self.pattern(name, at) {
                Some(Value::String(pattern)) => {
                    Some(self.convert(member, at, place).map(|made| (pattern, made)))
                }
                _ => None,
            };
            at.pop();
            if let Some(made) = made {
                out.extend([made?]);
            }
        }
        Ok(Value::Object(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_ecma_262_stay_and_others_leave() {
        for (pattern, want) in [
            ("", Some("")),
            ("^a+$", Some("^a+$")),
            (r"^\p{L}+$", Some(r"^\p{L}+$")),
            (r"(?<year>\d{4})-\k<year>", Some(r"(?<year>\d{4})-\k<year>")),
            (r"(?=a)(?<!b)c", Some(r"(?=a)(?<!b)c")),
            // Needless escapes are undone where they are in the way.
            (r"[A-Z\-\_\.]", Some(r"[A-Z\-_\.]")),
            (r"\-\@\ \\", Some(r"-@ \\")),
            (r"\é", Some("é")),
            (r"[\[\]\-]\-", Some(r"[\[\]\-]-")),
            // Expressions only without the flag.
            (r"^{id}$", Some(r"^{id}$")),
            (r"a{,3}", Some(r"a{,3}")),
            (r"[\w-x]", Some(r"[\w-x]")),
            // Other dialects.
            (r"\p{Print}+", None),
            (r"\Aa\z", None),
            (r"[[:alpha:]]+", None),
            ("(?i)abc", None),
            ("a++", None),
            ("(", None),
            ("[z-a]", None),
            ("*", None),
            (r"a\", None),
        ] {
            assert_eq!(published(pattern).as_deref(), want, "{pattern}");
        }
        assert_eq!(published(&"a".repeat(PATTERN_BYTES_MAX + 1)), None);
        assert_eq!(published(&"(".repeat(100_000)), None);
    }
}
