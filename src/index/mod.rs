//! The index: the only room that names tantivy.
//!
//! Owns: the schema, building, generations on disk and in memory, exact top-k, the tag facet, the
//! definition store. Everything here is synchronous and pure but for reading and writing its own files.
//! Must never know MCP, HTTP or callers: an audience here is a number.

mod allowed;
mod build;
mod directory;
mod engine;
mod entries;
mod error;
mod impacts;
mod manifest;
mod postings;
mod provenance;
mod reader;
mod records;
mod schema;
mod segment;
mod spool;
mod top;
mod topk;
mod vocabulary;

pub use build::{BuildOptions, Builder, Built};
pub use directory::{abandon_build, current, open_current, verify};
pub use engine::{Bm25, Filter, Hit, TokenMatch};
pub use error::IndexError;
pub use manifest::{FORMAT_VERSION, Manifest};
pub use provenance::{Provenance, read_provenance, write_provenance};
pub use reader::{Reader, StoredCard};
pub use schema::{FieldName, NormativeProfile, TOKENIZER_VERSION};
