//! The target of an action: an RFC 9535 path, and the places it finds.
//!
//! Owns: what a path may cost. Must never evaluate one whose work may grow with a power of the document.

use std::collections::HashSet;

use serde_json::Value;
use serde_json_path::JsonPath;

use crate::json::Pointer;

/// A path is at most this many bytes; people's are under two hundred.
const PATH_BYTES_MAX: usize = 4 * 1024;

/// A path nests brackets and parentheses at most this deep: it is read by recursion.
const PATH_LEVELS_MAX: usize = 32;

/// A path finds at most this many places.
const PLACES_MAX: usize = 1_000_000;

/// What evaluating a path may look at, about: with each `..` after the first, and each look at the whole
/// document from inside a filter, the work is multiplied by the values of the document.
const WORK_MAX: usize = 100_000_000;

/// A path that was read.
#[derive(Debug)]
pub(super) struct Target {
    text: String,
    path: JsonPath,
    /// With which power of the document the work grows.
    power: u32,
}

impl Target {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.len() > PATH_BYTES_MAX {
            return Err(format!("a JSONPath is at most {PATH_BYTES_MAX} bytes"));
        }
        let (power, levels) = shape(text);
        if levels > PATH_LEVELS_MAX {
            return Err(format!(
                "a JSONPath nests at most {PATH_LEVELS_MAX} brackets"
            ));
        }
        let path = JsonPath::parse(text).map_err(|error| {
            format!("it is no JSONPath of RFC 9535, such as $.paths['/orders'].get: {error}")
        })?;
        Ok(Self {
            text: text.to_owned(),
            path,
            power,
        })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The places, each once.
    pub(super) fn find(&self, document: &Value) -> Result<Vec<Pointer>, String> {
        if self.power > 1 {
            let work = super::values(document).checked_pow(self.power);
            if work.is_none_or(|work| work > WORK_MAX) {
                return Err(
                    "it would look at the document once for each of its values; name the way to what is \
                     meant instead of `..`"
                        .to_owned(),
                );
            }
        }
        let found = self.path.query_located(document);
        if found.len() > PLACES_MAX {
            return Err(format!(
                "it finds over {PLACES_MAX} places; name what is meant"
            ));
        }
        let mut met = HashSet::new();
        Ok(found
            .locations()
            .filter_map(|place| Pointer::from_text(&place.to_json_pointer()))
            .filter(|place| met.insert(place.clone()))
            .collect())
    }
}

/// With which power of the document the work of a path may grow, and how deep it nests.
///
/// Each `..` goes through everything below each value it is asked of. A `$` inside a filter is asked of each
/// value the filter looks at; only with a selector of several values does it cost more than its length.
fn shape(text: &str) -> (u32, usize) {
    let (mut descents, mut roots) = (0_u32, 0_u32);
    let mut looks_wide = false;
    let (mut levels, mut levels_max) = (0_usize, 0_usize);
    let mut quote = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(_), '\\') => {
                chars.next();
            }
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '.') if chars.peek() == Some(&'.') => {
                chars.next();
                descents += 1;
                looks_wide |= roots > 1;
            }
            (None, '*' | ':' | '?') => looks_wide |= roots > 1,
            (None, '$') => roots += 1,
            (None, '[' | '(') => {
                levels += 1;
                levels_max = levels_max.max(levels);
            }
            (None, ']' | ')') => levels = levels.saturating_sub(1),
            _ => {}
        }
    }
    let looks = if looks_wide { roots - 1 } else { 0 };
    (descents.max(1) + looks, levels_max)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn work_is_told_from_the_text() {
        for (text, want) in [
            ("$.paths", 1),
            ("$..get", 1),
            ("$..*..*", 2),
            ("$['a..b']['$x']", 1),
            ("$.a[?@.b == $.c]", 1),
            ("$.a[?$.b[*]]", 2),
            ("$..a[?@..b && $..c]", 4),
            (r"$['it\'s..$']", 1),
        ] {
            assert_eq!(shape(text).0, want, "{text}");
        }
        assert_eq!(shape("$[?((@.a))]['[']").1, 3);
    }

    #[test]
    fn places_are_pointers() {
        let document = json!({"paths": {"/a~b": {"get": {"tags": ["x", "y"]}, "put": {}}}});
        let find = |text: &str| -> Vec<String> {
            let places = Target::parse(text).unwrap().find(&document).unwrap();
            places
                .iter()
                .map(|place| place.as_str().to_owned())
                .collect()
        };
        assert_eq!(find("$"), [""]);
        assert_eq!(find("$.paths['/a~b'].get"), ["/paths/~1a~0b/get"]);
        assert_eq!(
            find("$.paths.*.*"),
            ["/paths/~1a~0b/get", "/paths/~1a~0b/put"]
        );
        assert_eq!(find("$..tags[-1]"), ["/paths/~1a~0b/get/tags/1"]);
        assert_eq!(find("$.paths.*[?@.tags]"), ["/paths/~1a~0b/get"]);
        assert_eq!(find("$.nothing"), [""; 0]);
    }

    #[test]
    fn numbers_of_filters_are_compared_whatever_their_digits() {
        let document = json!([{"n": 1}, {"n": 2.50}, {"n": 3}]);
        let at = |text: &str| Target::parse(text).unwrap().find(&document).unwrap().len();
        assert_eq!(at("$[?@.n >= 2.5]"), 2);
        assert_eq!(at("$[?@.n == 1]"), 1);
    }

    #[test]
    fn what_costs_too_much_is_refused() {
        let wide: Value = (0..20_000).map(|n| json!({"n": n})).collect();
        let find = |text: &str| Target::parse(text).unwrap().find(&wide);
        assert!(find("$..n").is_ok());
        assert!(find("$..*..*").is_err());
        assert!(find("$[?$..n]").is_err());
        assert!(find("$[?$.*.*]").is_err());
        assert!(find("$[?@.n == $[0].n]").is_ok());
        assert!(Target::parse(&"$.a".repeat(2_000)).is_err());
        assert!(Target::parse(&format!("$[?{}@{}]", "(".repeat(500), ")".repeat(500))).is_err());
        assert!(Target::parse("paths.get").is_err());
    }
}
