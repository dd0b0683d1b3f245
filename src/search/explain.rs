//! A score taken apart.

use crate::access::{View, Visible};
use crate::index::{IndexError, Reader, TokenMatch};

/// Why an operation scores what it scores.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The operation's name.
    pub name: String,
    /// The score: the parts, added in query order from 0.
    pub score: f64,
    /// One entry a distinct query token, in query order.
    pub tokens: Vec<TokenMatch>,
}

/// Explains the score of one operation for a query; `None` when the caller sees no operation of that name.
pub fn explain(
    reader: &Reader,
    view: &View,
    query: &str,
    name: &str,
) -> Result<Option<Visible<Explanation>>, IndexError> {
    let Some(document) = reader.find(name)? else {
        return Ok(None);
    };
    let Some(document) = view.admit(reader.audience(document), document) else {
        return Ok(None);
    };
    let tokens = reader.explain(query, *document.get())?;
    Ok(Some(document.map(|_| Explanation {
        name: name.to_owned(),
        score: tokens.iter().fold(0.0, |sum, token| sum + token.part),
        tokens,
    })))
}
