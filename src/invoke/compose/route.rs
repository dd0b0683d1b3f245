//! The route template as pieces: literal text and places for path parameters. Knows no values.

use super::encode::push_literal;
use crate::catalog::{RoutePart, route_parts, sent_route};

/// What a route's literal path text may hold unencoded: RFC 3986's pchar and the segment separator. A
/// circumflex and the like are encoded, so that the URL type has nothing left to change.
const PATH_LITERAL: &[u8] = b"/:@!$&'()*+,;=";

/// The same for a query that is part of the route. No apostrophe: the URL type would encode it.
const QUERY_LITERAL: &[u8] = b"/?:@!$&()*+,;=";

/// A route template, read.
#[derive(Debug)]
pub(super) struct Route {
    /// The path, starting with `/`.
    pub(super) path: Vec<Piece>,
    /// A query that the document wrote into the route; what follows a `#` only tells routes apart and is
    /// never sent.
    pub(super) query: Vec<Piece>,
}

/// A part of a route.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Text as it goes out.
    Literal(String),
    /// The place of the path parameter of this name.
    Place(String),
}

impl Route {
    pub(super) fn parse(route: &str) -> Self {
        let sent = sent_route(route);
        let (path, query) = sent.split_once('?').unwrap_or((sent, ""));
        let mut path_pieces = pieces(path, PATH_LITERAL);
        let rooted = path.is_empty() || path.starts_with('/');
        if !rooted {
            path_pieces.insert(0, Piece::Literal("/".to_owned()));
        }
        Self {
            path: path_pieces,
            query: pieces(query, QUERY_LITERAL),
        }
    }

    /// The names of all places, in order.
    pub(super) fn places(&self) -> impl Iterator<Item = &str> {
        self.path
            .iter()
            .chain(&self.query)
            .filter_map(|piece| match piece {
                Piece::Place(name) => Some(name.as_str()),
                Piece::Literal(_) => None,
            })
    }

    /// The literal text of the route's own query, which sets parameters that no argument may set.
    pub(super) fn query_text(&self) -> String {
        self.query
            .iter()
            .map(|piece| match piece {
                Piece::Literal(text) => text.as_str(),
                Piece::Place(_) => "",
            })
            .collect()
    }
}

/// The parts of a route's text, the literal ones encoded.
fn pieces(text: &str, keep: &[u8]) -> Vec<Piece> {
    route_parts(text)
        .into_iter()
        .map(|part| match part {
            RoutePart::Place(name) => Piece::Place(name.to_owned()),
            RoutePart::Text(text) => {
                let mut literal = String::new();
                push_literal(&mut literal, text, keep);
                Piece::Literal(literal)
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(text: &str) -> Piece {
        Piece::Literal(text.to_owned())
    }

    fn place(name: &str) -> Piece {
        Piece::Place(name.to_owned())
    }

    #[test]
    fn places_literals_and_odd_braces() {
        let cases: [(&str, Vec<Piece>); 6] = [
            ("/a/{id}", vec![literal("/a/"), place("id")]),
            (
                "/{a}.{b}",
                vec![literal("/"), place("a"), literal("."), place("b")],
            ),
            ("a b", vec![literal("/"), literal("a%20b")]),
            ("/a{", vec![literal("/a%7B")]),
            ("/{}/{{x}", vec![literal("/%7B%7D/%7B"), place("x")]),
            ("/é%2f%zz\\", vec![literal("/%C3%A9%2f%25zz%5C")]),
        ];
        for (route, want) in cases {
            assert_eq!(Route::parse(route).path, want, "{route}");
        }
    }

    #[test]
    fn a_query_in_the_route_is_sent_and_a_fragment_is_not() {
        let route = Route::parse("/x?Action=List&v={v}#variant");
        assert_eq!(route.path, [literal("/x")]);
        assert_eq!(route.query, [literal("Action=List&v="), place("v")]);
        assert_eq!(route.query_text(), "Action=List&v=");
        assert!(Route::parse("/#a?b={c}").query.is_empty());
    }
}
