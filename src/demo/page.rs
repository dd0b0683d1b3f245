//! Lists in pages: `limit` and an opaque `cursor` in, `items`, `total` and `next_cursor` out.
//!
//! Owns: the paging parameters and the page's shape. Must never filter or sort: it cuts what it is given.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;

use super::call::{Call, Faults};
use super::reply::{Place, Refusal, Reply};

/// Rows of a page when the caller does not say.
const LIMIT_DEFAULT: usize = 20;

/// Rows of a page at most: a page of the widest rows stays near 200 KiB.
const LIMIT_MAX: u64 = 200;

/// What a cursor's text starts with, so that other base64 is told apart.
const CURSOR_PREFIX: &str = "from:";

/// Which rows of a list are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    first: usize,
    limit: usize,
}

#[derive(Debug, Serialize)]
struct Page<'a, T> {
    items: &'a [T],
    total: usize,
    next_cursor: Option<String>,
}

impl Window {
    /// Reads `limit` and `cursor`.
    pub(super) fn of(call: &Call, faults: &mut Faults) -> Self {
        let limit = call
            .whole(faults, "limit", 1..=LIMIT_MAX)
            .and_then(|limit| usize::try_from(limit).ok())
            .unwrap_or(LIMIT_DEFAULT);
        let first = match call.text(faults, "cursor").map(read_cursor) {
            None => 0,
            Some(Some(first)) => first,
            Some(None) => {
                faults.add(
                    Place::Query,
                    "cursor",
                    "must be a next_cursor of this list, or left out",
                );
                0
            }
        };
        Self { first, limit }
    }

    /// The page of a whole list.
    pub(super) fn cut<T: Serialize>(self, rows: &[T]) -> Result<Reply, Refusal> {
        let first = self.first.min(rows.len());
        let end = first.saturating_add(self.limit).min(rows.len());
        Reply::ok(&Page {
            items: rows.get(first..end).unwrap_or_default(),
            total: rows.len(),
            next_cursor: (end < rows.len()).then(|| write_cursor(end)),
        })
    }
}

fn write_cursor(first: usize) -> String {
    URL_SAFE_NO_PAD.encode(format!("{CURSOR_PREFIX}{first}"))
}

fn read_cursor(text: &str) -> Option<usize> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
    text.strip_prefix(CURSOR_PREFIX)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_read_back_and_others_do_not() {
        for first in [0, 1, 20, usize::MAX] {
            assert_eq!(read_cursor(&write_cursor(first)), Some(first));
        }
        for text in ["", "20", "ZnJvbTo", "!!", "ZnJvbTotMQ"] {
            assert_eq!(read_cursor(text), None, "{text}");
        }
    }

    #[test]
    fn pages_cover_a_list_once() {
        let rows: Vec<_> = (0..45).collect();
        let mut seen = Vec::new();
        let mut window = Window {
            first: 0,
            limit: 20,
        };
        loop {
            let body = window.cut(&rows).unwrap().response.body;
            let page: serde_json::Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(page["total"], 45);
            seen.extend(
                page["items"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter_map(serde_json::Value::as_i64),
            );
            match page["next_cursor"].as_str() {
                Some(cursor) => window.first = read_cursor(cursor).unwrap(),
                None => break,
            }
        }
        assert_eq!(seen, (0..45).collect::<Vec<_>>());
    }
}
