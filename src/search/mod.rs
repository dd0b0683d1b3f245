//! Search: a query and a caller's view in, visible hits out. One entrance for tools, CLI and benches.
//!
//! Owns: the order of ranking, filter, visibility and limit around whatever ranks; explanations. Must
//! never do I/O of its own.

mod explain;
mod run;

pub use explain::{Explanation, explain};
pub use run::{Page, Query, VOCABULARY_LIMIT_DEFAULT, run};
