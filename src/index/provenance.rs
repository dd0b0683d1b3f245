//! What a generation was made from: `SOURCES.json` beside `CURRENT`.
//!
//! Owns: writing and reading that file, each time bound to the generation it is about. Must never be needed to
//! serve: without it, or with one of another generation, the index is only built again.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::directory::{
    BUILD_PREFIX, generation_name, read_current, sync_directory, write_durably,
};
use super::{IndexError, Reader};
use crate::catalog::Fingerprint;

const SOURCES_FILE: &str = "SOURCES.json";

/// What a generation was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The documents that were read, as the operator named them: which of what was found are part of it.
    pub documents: Vec<String>,
    /// By which it is told whether they are still what they were.
    pub sources: Fingerprint,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    /// The directory of the generation. Another process may have built after the one that wrote this.
    generation: String,
    provenance: Provenance,
}

/// Remembers what the generation of `reader` was made from. To be called after it became current.
pub fn write_provenance(
    out: &Path,
    reader: &Reader,
    provenance: &Provenance,
) -> Result<(), IndexError> {
    let note = Note {
        generation: generation_name(reader.manifest()),
        provenance: provenance.clone(),
    };
    // A struct of strings and integers always serializes.
    let text = serde_json::to_vec_pretty(&note).unwrap_or_default();
    // Named so that the next build removes it should this process die here.
    let staged = out.join(format!("{BUILD_PREFIX}sources-{}", std::process::id()));
    write_durably(&staged, &text)?;
    let path = out.join(SOURCES_FILE);
    fs::rename(&staged, &path).map_err(IndexError::file("rename", &staged))?;
    sync_directory(out)
}

/// What the current generation of an index directory was made from, where that is known.
pub fn read_provenance(out: &Path) -> Option<Provenance> {
    let current = read_current(out).ok()?;
    let text = fs::read(out.join(SOURCES_FILE)).ok()?;
    let note: Note = serde_json::from_slice(&text).ok()?;
    (note.generation == current.generation).then_some(note.provenance)
}
