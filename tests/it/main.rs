//! Everything that crosses a room, linked once.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod fixtures;
mod http;
mod http_backend;
mod invoke;
mod invoke_failures;
