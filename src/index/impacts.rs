//! Per-block impact maxima: how much a term can add to any document of a block of 256.
//!
//! A side table built with the generation. A term that stands in at least one document a block on average
//! has a row with one byte a block; rarer terms are cheap to read whole and have none. A byte is the
//! greatest `tf * (k1 + 1) / (tf + norm)` of the block, in 255ths of its limit `k1 + 1`, rounded up, so what
//! it stands for is never below the truth.
//!
//! Layout, little-endian: magic, terms (u32), blocks (u32), for each term of the field in dictionary order
//! its row number (u32, all ones for none), the rows.

use std::io::{self, Write};

use tantivy::directory::OwnedBytes;

use super::schema::NormativeProfile;
use super::{Bm25, IndexError};

/// Documents of a block.
pub(super) const BLOCK_DOCUMENTS: usize = 256;
/// The same as a document number.
pub(super) const BLOCK_DOCUMENTS_U32: u32 = 256;

const MAGIC: &[u8; 8] = b"sezimp01";
const HEADER_BYTES: usize = 16;
const NO_ROW: u32 = u32::MAX;

/// The limit of an impact as tf grows.
const IMPACT_MAX: f64 = NormativeProfile::K1 + 1.0;

/// Bounds are sums in another order than scores, so rounding may differ in the last digits.
pub(super) const SLACK: f64 = 1.0 + 1e-9;

/// Collects rows while posting lists are written, and writes the table.
pub(super) struct ImpactWriter {
    blocks: usize,
    row_of_term: Vec<u32>,
    rows: Vec<u8>,
}

impl ImpactWriter {
    pub(super) fn new(documents: usize) -> Self {
        Self {
            blocks: documents.div_ceil(BLOCK_DOCUMENTS),
            row_of_term: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Adds the next term of the dictionary with its posting list: documents, frequencies as stored
    /// (twice the weighted tf), and every document's `norm`.
    pub(super) fn push(&mut self, documents: &[u32], freqs: &[u32], norm: impl Fn(u32) -> f64) {
        if documents.len() < self.blocks || self.blocks < 2 {
            self.row_of_term.push(NO_ROW);
            return;
        }
        let start = self.rows.len();
        let row = u32::try_from(start / self.blocks).unwrap_or(NO_ROW);
        self.row_of_term.push(row);
        self.rows.resize(start + self.blocks, 0);
        let row = &mut self.rows[start..];
        for (&document, &freq) in documents.iter().zip(freqs) {
            let impact = Bm25::impact(f64::from(freq) / 2.0, norm(document));
            // 0 < impact < IMPACT_MAX, so the quotient lies in 1..=255.
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "in 1..=255"
            )]
            let byte = (impact / IMPACT_MAX * 255.0).ceil().min(255.0) as u8;
            let block = &mut row[document as usize / BLOCK_DOCUMENTS];
            *block = byte.max(*block);
        }
    }

    pub(super) fn write(self, out: &mut dyn Write) -> io::Result<()> {
        let count = |n: usize| u32::try_from(n).map_err(|_| io::Error::other("too many terms"));
        out.write_all(MAGIC)?;
        out.write_all(&count(self.row_of_term.len())?.to_le_bytes())?;
        out.write_all(&count(self.blocks)?.to_le_bytes())?;
        for row in &self.row_of_term {
            out.write_all(&row.to_le_bytes())?;
        }
        out.write_all(&self.rows)
    }
}

/// The table of one segment.
pub(super) struct Impacts {
    bytes: OwnedBytes,
    terms: usize,
    blocks: usize,
}

impl Impacts {
    pub(super) fn open(name: &str, bytes: OwnedBytes) -> Result<Self, IndexError> {
        let torn = |reason: &str| IndexError::damaged(name, reason);
        if bytes.len() < HEADER_BYTES || &bytes[..8] != MAGIC {
            return Err(torn("it does not start with a header of this format"));
        }
        let number = |at: usize| {
            let mut word = [0; 4];
            word.copy_from_slice(&bytes[at..at + 4]);
            u32::from_le_bytes(word) as usize
        };
        let (terms, blocks) = (number(8), number(12));
        let rows_at = HEADER_BYTES.saturating_add(terms.saturating_mul(4));
        let rows = bytes.len().checked_sub(rows_at);
        if rows.is_none_or(|rows| blocks == 0 && rows > 0 || blocks > 0 && rows % blocks > 0) {
            return Err(torn("its parts do not add up to its size"));
        }
        Ok(Self {
            bytes,
            terms,
            blocks,
        })
    }

    /// The row of a term by its ordinal; `None` for a rare one.
    pub(super) fn row(&self, term: u64) -> Option<&[u8]> {
        let term = usize::try_from(term)
            .ok()
            .filter(|&term| term < self.terms)?;
        let at = HEADER_BYTES + 4 * term;
        let mut word = [0; 4];
        word.copy_from_slice(self.bytes.get(at..at + 4)?);
        let row = u32::from_le_bytes(word);
        if row == NO_ROW {
            return None;
        }
        let start = HEADER_BYTES + 4 * self.terms + row as usize * self.blocks;
        self.bytes.get(start..start + self.blocks)
    }
}

/// For every byte of a row, an upper bound of the part it stands for.
pub(super) fn bounds_of_bytes(idf: f64) -> [f64; 256] {
    let mut bounds = [0.0; 256];
    for (byte, bound) in (0u8..=255).zip(&mut bounds) {
        *bound = idf * (f64::from(byte) / 255.0 * IMPACT_MAX) * SLACK;
    }
    bounds
}
