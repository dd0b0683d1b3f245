//! Folding, tokens and prefix rules: the one way text becomes something that can match.
//!
//! Owns: splitting text into words and pieces, folding, the tokens of catalogue text and of queries, the distance of
//! words.
//! Pure. Must never know what a field is, and must be the only tokenizer of the project.

mod distance;
mod fold;
mod pieces;
mod tokens;

pub use distance::edit_distance;
pub use fold::fold;
pub use pieces::pieces;
pub use tokens::{
    PREFIX_CHARS_MIN, QUERY_BYTES_MAX, QUERY_TOKENS_MAX, for_each_token, is_prefix_query,
    query_tokens, tokens,
};
