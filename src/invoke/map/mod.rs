//! What a backend answered becomes an [`Outcome`]. Pure: the clock is handed in.
//!
//! Reading order: `success`, `headers` (Retry-After, references), `shapes` (the error bodies that are
//! recognised), `fields` (names back to what the agent calls them), `failure`. Must never forward an error's
//! text except through the leak filter.

mod failure;
mod fields;
mod headers;
mod shapes;
mod success;

pub(super) use failure::failure;
pub(super) use success::{success, without_body};

use super::media::Media;
use crate::http::header::HeaderMap;

/// How deep a JSON body may be nested: deeper ones are forwarded as text. Deeper than any answer that is
/// meant to be read, and far from what the smallest thread's stack carries.
const JSON_DEPTH_MAX: usize = 128;

/// The head of an answer.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) media: Media,
    pub(super) headers: HeaderMap,
}
