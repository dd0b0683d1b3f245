//! The manifest: what a generation holds, by which it is recognised and checked.

use serde::{Deserialize, Serialize};

use super::{IndexError, TOKENIZER_VERSION};
use crate::catalog::Security;

/// The format of generations this build writes and reads; `index-schema/v1.json` describes it.
pub const FORMAT_VERSION: u32 = 1;

/// The manifest's file name inside a generation.
pub(super) const MANIFEST_FILE: &str = "manifest.json";

/// What a generation holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// Format of the files, [`FORMAT_VERSION`].
    pub format: u32,
    /// Tokenizer the texts went through, [`TOKENIZER_VERSION`].
    pub tokenizer: u32,
    /// Number of operations.
    pub operations: u32,
    /// Sum of twice the weighted length over all operations.
    pub len2_total: u64,
    /// SHA-256 over everything the generation holds, hex: equal catalogues have equal revisions.
    pub revision: String,
    /// The segments in document order; one, unless a test asked for more.
    pub segments: Vec<SegmentEntry>,
    /// The distinct requirements; an operation's audience number is a place in this list.
    pub audiences: Vec<Security>,
    /// Every other file of the generation.
    pub files: Vec<FileEntry>,
}

/// One segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentEntry {
    /// The engine's id of the segment.
    pub id: String,
    /// How many operations it holds.
    pub operations: u32,
}

/// One file with the means to check it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// The name inside the generation's directory.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of its bytes, hex.
    pub sha256: String,
}

impl Manifest {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        // A struct of strings and integers always serializes.
        serde_json::to_vec_pretty(self).unwrap_or_default()
    }

    pub(super) fn read(bytes: &[u8]) -> Result<Self, IndexError> {
        /// Enough to tell a manifest of another format before reading it as one of this.
        #[derive(Deserialize)]
        struct Versions {
            format: u32,
            tokenizer: u32,
        }
        let torn = |error: serde_json::Error| IndexError::damaged(MANIFEST_FILE, error.to_string());
        let versions: Versions = serde_json::from_slice(bytes).map_err(torn)?;
        if (versions.format, versions.tokenizer) != (FORMAT_VERSION, TOKENIZER_VERSION) {
            return Err(IndexError::Format {
                found: versions.format,
                found_tokenizer: versions.tokenizer,
                expected: FORMAT_VERSION,
                expected_tokenizer: TOKENIZER_VERSION,
            });
        }
        let manifest: Self = serde_json::from_slice(bytes).map_err(torn)?;
        let sum: u64 = manifest
            .segments
            .iter()
            .map(|s| u64::from(s.operations))
            .sum();
        if sum != u64::from(manifest.operations) {
            return Err(IndexError::damaged(
                MANIFEST_FILE,
                "its segments do not add up to its operations",
            ));
        }
        Ok(manifest)
    }
}
