//! Everything that crosses a room, linked once.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod contract;
mod fixtures;
mod generation;
mod naive;
