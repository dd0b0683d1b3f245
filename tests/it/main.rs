//! Everything that crosses a room, linked once.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod architecture;
mod demo;
mod demo_document;
mod demo_random;
mod fixtures;
mod published;
mod rust_text;
