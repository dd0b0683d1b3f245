//! Measuring a body while it streams: kept up to the budget, then only counted or hashed, up to a ceiling.
//! Must never hold more than the budget.

use sha2::{Digest, Sha256};

use super::Shape;
use super::count::Counter;
use super::media::{Kind, Media};
use crate::http::{Response, SendError};
use crate::json::hex;

/// A body that was read to its end, or to a limit.
#[derive(Debug)]
pub(super) enum Measured {
    /// All of it, within the budget.
    Whole(Vec<u8>),
    /// Bytes that are described, not forwarded.
    Digest {
        /// Size in bytes.
        bytes: u64,
        /// SHA-256 in lowercase hex.
        sha256: String,
    },
    /// Over the budget or the ceiling.
    Over {
        /// What was read, in bytes.
        bytes: u64,
        /// Whether more would have come.
        cut: bool,
        /// The outermost shape.
        shape: Shape,
    },
}

/// What a body is measured by, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) budget_bytes: usize,
    pub(super) ceiling_bytes: u64,
}

enum Mode {
    Keep(Vec<u8>),
    Hash(Box<Sha256>),
    Count,
}

/// Reads a body to its end, or until it passes the ceiling.
pub(super) async fn measure(
    response: &mut Response,
    media: &Media,
    bounds: Bounds,
) -> Result<Measured, SendError> {
    let mut meter = Meter::new(media, bounds);
    while let Some(chunk) = response.chunk().await? {
        if !meter.take(&chunk) {
            return Ok(meter.cut());
        }
    }
    Ok(meter.end())
}

struct Meter<'a> {
    media: &'a Media,
    bounds: Bounds,
    mode: Mode,
    bytes: u64,
    counter: Counter,
}

impl<'a> Meter<'a> {
    fn new(media: &'a Media, bounds: Bounds) -> Self {
        let mode = if media.kind == Kind::Binary {
            Mode::Hash(Box::default())
        } else {
            Mode::Keep(Vec::new())
        };
        Self {
            media,
            bounds,
            mode,
            bytes: 0,
            counter: Counter::default(),
        }
    }

    /// Takes a chunk; false when the body passed the ceiling and must not be read on.
    fn take(&mut self, chunk: &[u8]) -> bool {
        self.bytes += chunk.len() as u64;
        if matches!(self.media.kind, Kind::Json | Kind::Unknown) {
            self.counter.feed(chunk);
        }
        match &mut self.mode {
            Mode::Keep(kept) if chunk.len() <= self.bounds.budget_bytes - kept.len() => {
                kept.extend_from_slice(chunk);
            }
            Mode::Keep(kept) => {
                let mut hash = Sha256::new();
                let bytes = if kept.is_empty() {
                    chunk
                } else {
                    kept.as_slice()
                };
                // Where the header does not tell, bytes are still described, however many.
                let is_text = self.media.kind != Kind::Unknown || self.media.may_be_text(bytes);
                self.mode = if is_text {
                    Mode::Count
                } else {
                    hash.update(kept.as_slice());
                    hash.update(chunk);
                    Mode::Hash(Box::new(hash))
                };
            }
            Mode::Hash(hash) => hash.update(chunk),
            Mode::Count => {}
        }
        self.bytes <= self.bounds.ceiling_bytes
    }

    fn end(self) -> Measured {
        match self.mode {
            Mode::Keep(kept) => Measured::Whole(kept),
            Mode::Hash(hash) => Measured::Digest {
                bytes: self.bytes,
                sha256: hex(&hash.finalize()),
            },
            Mode::Count => Measured::Over {
                bytes: self.bytes,
                cut: false,
                shape: self.counter.shape(),
            },
        }
    }

    fn cut(self) -> Measured {
        Measured::Over {
            bytes: self.bytes,
            cut: true,
            shape: self.counter.so_far(),
        }
    }
}

/// The start of an error's body: all of it when it is at most `bytes_max`, otherwise nothing.
///
/// The rest is not read: an error says what it has to say in a few lines.
pub(super) async fn short_body(
    response: &mut Response,
    bytes_max: usize,
) -> Result<Option<Vec<u8>>, SendError> {
    let mut kept = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if chunk.len() > bytes_max - kept.len() {
            return Ok(None);
        }
        kept.extend_from_slice(&chunk);
    }
    Ok(Some(kept))
}
