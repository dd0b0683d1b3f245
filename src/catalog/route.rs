//! Route templates: what of a route is sent, where its places are, which routes no request can have.
//!
//! Owns: the one reading of braces, used by documents, catalogues and calls alike. Must never know a value.

use std::collections::HashSet;

/// A part of a route's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoutePart<'a> {
    /// Text as the document wrote it.
    Text(&'a str),
    /// The place of the path parameter of this name.
    Place(&'a str),
}

/// Splits at `{name}`; a brace without its partner, and an empty pair, are text.
pub fn route_parts(route: &str) -> Vec<RoutePart<'_>> {
    let mut parts = Vec::new();
    // Where the text that is not yet a part starts, and where the next brace is looked for.
    let (mut start, mut from) = (0, 0);
    while let Some(open) = route[from..].find('{').map(|at| from + at) {
        from = open + 1;
        let Some(close) = route[from..].find(['{', '}']).map(|at| from + at) else {
            break;
        };
        if close == from || route[close..].starts_with('{') {
            continue;
        }
        if start < open {
            parts.push(RoutePart::Text(&route[start..open]));
        }
        parts.push(RoutePart::Place(&route[from..close]));
        start = close + 1;
        from = start;
    }
    if start < route.len() {
        parts.push(RoutePart::Text(&route[start..]));
    }
    parts
}

/// What of a route reaches the wire: everything before a fragment, which some documents use to tell
/// operations of one URL apart.
pub fn sent_route(route: &str) -> &str {
    route.split('#').next().unwrap_or(route)
}

/// The names of the places of what is sent, in order, each once.
pub(crate) fn placeholders(route: &str) -> Vec<&str> {
    let mut seen = HashSet::new();
    route_parts(sent_route(route))
        .into_iter()
        .filter_map(|part| match part {
            RoutePart::Place(name) if seen.insert(name) => Some(name),
            _ => None,
        })
        .collect()
}

/// The pairs that the query part of a route holds, as written; a key without a value has an empty one.
pub(crate) fn query_pairs(route: &str) -> impl Iterator<Item = (&str, &str)> {
    let query = sent_route(route).split_once('?').map(|(_, query)| query);
    query
        .unwrap_or_default()
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}

/// The route without the pairs of its query that `drop` chooses.
pub(crate) fn without_pairs(route: &str, drop: impl Fn(&str, &str) -> bool) -> String {
    let sent = sent_route(route);
    let Some((path, _)) = sent.split_once('?') else {
        return sent.to_owned();
    };
    let dropped = query_pairs(route).any(|(key, value)| drop(key, value));
    if !dropped {
        return sent.to_owned();
    }
    let kept: Vec<String> = query_pairs(route)
        .filter(|(key, value)| !drop(key, value))
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    if kept.is_empty() {
        path.to_owned()
    } else {
        format!("{path}?{}", kept.join("&"))
    }
}

/// Whether a segment of the path is `.` or `..`, an encoded dot counting as a dot: clients and servers
/// resolve such segments away, so no request can have them.
pub(crate) fn has_dot_segment(route: &str) -> bool {
    let path = sent_route(route).split('?').next().unwrap_or_default();
    path.split('/').any(|segment| {
        let decoded = segment.replace("%2e", ".").replace("%2E", ".");
        matches!(decoded.as_str(), "." | "..")
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::RoutePart::{Place, Text};
    use super::*;

    #[test]
    fn places_and_odd_braces() {
        let cases: [(&str, &[RoutePart<'_>]); 9] = [
            ("/a/{id}", &[Text("/a/"), Place("id")]),
            ("{a}{b}", &[Place("a"), Place("b")]),
            ("/{a}.{b}", &[Text("/"), Place("a"), Text("."), Place("b")]),
            ("/a{", &[Text("/a{")]),
            ("/a}b", &[Text("/a}b")]),
            ("/{}/{x}", &[Text("/{}/"), Place("x")]),
            ("/{{x}}", &[Text("/{"), Place("x"), Text("}")]),
            ("/{a/b c*}", &[Text("/"), Place("a/b c*")]),
            ("", &[]),
        ];
        for (route, want) in cases {
            assert_eq!(route_parts(route), want, "{route}");
        }
        assert_eq!(placeholders("/{a}/{b}?c={a}&d={d}#{e}"), ["a", "b", "d"]);
    }

    #[test]
    fn dot_segments_are_met_in_every_spelling() {
        for route in [
            "/..",
            "/a/../b",
            "/./x",
            "/a/%2e%2E/b",
            "/.%2e",
            "/a/..?b",
            "/a/.#b",
        ] {
            assert!(has_dot_segment(route), "{route}");
        }
        for route in [
            "/",
            "//",
            "/a/...",
            "/.well-known/x",
            "/a?b=/../c",
            "/a#/../",
            "/{..}",
        ] {
            assert!(!has_dot_segment(route), "{route}");
        }
    }

    #[test]
    fn pairs_are_taken_out_and_the_rest_stays() {
        let drop_x = |key: &str, _: &str| key == "x";
        for (route, want) in [
            ("/a?x={x}#f", "/a"),
            ("/a?x=1&y&z=2", "/a?y=&z=2"),
            ("/a?y&z=2", "/a?y&z=2"),
            ("/a#x", "/a"),
        ] {
            assert_eq!(without_pairs(route, drop_x), want, "{route}");
        }
    }

    proptest! {
        #[test]
        fn parts_are_the_whole_route(route in "[a{}/?é]{0,20}") {
            let again: String = route_parts(&route)
                .into_iter()
                .map(|part| match part {
                    Text(text) => text.to_owned(),
                    Place(name) => format!("{{{name}}}"),
                })
                .collect();
            prop_assert_eq!(again, route);
        }
    }
}
