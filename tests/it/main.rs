//! Everything that crosses a room, linked once.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod catalog;
mod catalog_arguments;
mod catalog_cases;
mod catalog_diagnostics;
mod catalog_hostile;
mod catalog_schemas;
mod catalog_sources;
mod fixtures;
