//! Exact top-k with pruning: blocks of 256 documents are skipped when no document of theirs can enter the
//! top, and inside a block the lists that cannot lift a document over the threshold are only probed
//! (MaxScore: Turtle and Flood 1995; block maxima: Ding and Suel 2011).
//!
//! Bounds only ever decide what is not looked at. A score that enters the top is always summed in query
//! order from the parts, in f64, so the result is that of the exhaustive scorer bit for bit.

use tantivy::postings::BlockSegmentPostings;

use super::impacts::{BLOCK_DOCUMENTS, BLOCK_DOCUMENTS_U32, SLACK, bounds_of_bytes};
use super::top::Top;
use super::{Bm25, Hit};

/// One query token's posting list in one segment.
pub(super) struct List<'a> {
    pub(super) idf: f64,
    pub(super) postings: BlockSegmentPostings,
    /// The term's impact row; `None` for a rare term, which is read whole.
    pub(super) row: Option<&'a [u8]>,
}

/// What scoring a segment needs besides its lists.
pub(super) struct Segment<'a> {
    /// Number of the segment's first document in the generation.
    pub(super) base: u32,
    /// Twice the weighted length of each of its documents.
    pub(super) len2: &'a [u32],
    pub(super) norms: &'a Norms,
}

/// `k1 * ((1 - b) + (b * len) / avg)` by twice the length, as far as a table pays.
pub(super) struct Norms {
    table: Vec<f64>,
    statistics: Bm25,
}

/// Documents longer than this (in half weights) are few; their norms are computed when needed.
const NORM_TABLE_MAX: u32 = 4_096;

impl Norms {
    pub(super) fn new(statistics: Bm25) -> Self {
        let table = (0..NORM_TABLE_MAX)
            .map(|len2| statistics.norm(f64::from(len2) / 2.0))
            .collect();
        Self { table, statistics }
    }

    pub(super) fn of(&self, len2: u32) -> f64 {
        match self.table.get(len2 as usize) {
            Some(&norm) => norm,
            None => self.statistics.norm(f64::from(len2) / 2.0),
        }
    }
}

/// One list while a segment is scored.
struct Cursor<'a> {
    idf: f64,
    source: Source<'a>,
    /// The frequencies of the running block, valid where `present` says so.
    freqs: [u32; BLOCK_DOCUMENTS],
    present: Present,
    /// Upper bound of this list's part in the running block.
    bound: f64,
}

enum Source<'a> {
    /// Read as needed; `next` is a place in the decoded run of the engine's own blocks.
    Streamed {
        postings: Box<BlockSegmentPostings>,
        next: usize,
        row: &'a [u8],
        bounds: Box<[f64; 256]>,
    },
    /// Read whole when the segment was begun, with the bound of every block it stands in.
    Whole {
        documents: Vec<(u32, u32)>,
        next: usize,
        blocks: Vec<(u32, f64)>,
        next_block: usize,
    },
}

/// One bit a document of a block.
type Present = [u64; BLOCK_DOCUMENTS / 64];

/// Scores one segment into the top.
pub(super) fn score_segment(
    lists: Vec<List<'_>>,
    segment: &Segment<'_>,
    allowed: impl Fn(u32) -> bool,
    top: &mut Top,
) {
    if lists.is_empty() || top.is_useless() {
        return;
    }
    let blocks = segment.len2.len().div_ceil(BLOCK_DOCUMENTS);
    let mut block_bounds = vec![0.0f64; blocks];
    let mut cursors: Vec<_> = lists
        .into_iter()
        .map(|list| Cursor::new(list, segment, &mut block_bounds))
        .collect();
    // Places of `cursors` by rising bound, for the running block.
    let mut order: Vec<usize> = (0..cursors.len()).collect();
    let mut sums = [0.0f64; BLOCK_DOCUMENTS];
    for (block, &bound) in (0u32..).zip(&block_bounds) {
        if bound == 0.0 || bound * SLACK <= top.threshold() {
            continue;
        }
        for cursor in &mut cursors {
            cursor.enter(block);
        }
        order.sort_unstable_by(|&a, &b| cursors[a].bound.total_cmp(&cursors[b].bound));
        score_block(
            block,
            &mut cursors,
            &order,
            segment,
            &mut sums,
            &allowed,
            top,
        );
    }
}

/// Scores the documents of one block.
fn score_block(
    block: u32,
    cursors: &mut [Cursor<'_>],
    order: &[usize],
    segment: &Segment<'_>,
    sums: &mut [f64; BLOCK_DOCUMENTS],
    allowed: &impl Fn(u32) -> bool,
    top: &mut Top,
) {
    let first = block * BLOCK_DOCUMENTS_U32;
    // The lists in front cannot lift a document over the threshold together: a document that stands in
    // none of the others is no candidate.
    let mut probed = 0;
    let mut probed_bound = 0.0;
    for &at in order {
        let with = probed_bound + cursors[at].bound;
        if with * SLACK > top.threshold() {
            break;
        }
        probed_bound = with;
        probed += 1;
    }
    let mut candidates: Present = [0; BLOCK_DOCUMENTS / 64];
    for &at in &order[probed..] {
        let cursor = &mut cursors[at];
        if cursor.bound > 0.0 {
            cursor.read_block(first, segment, sums, &mut candidates);
        }
    }
    for (word, mut bits) in candidates.into_iter().enumerate() {
        while bits != 0 {
            let offset = word * 64 + bits.trailing_zeros() as usize;
            bits &= bits - 1;
            if (sums[offset] + probed_bound) * SLACK <= top.threshold() {
                continue;
            }
            // An offset is below the size of a block.
            let document = first + u32::try_from(offset).unwrap_or(0);
            if !allowed(segment.base + document) {
                continue;
            }
            let norm = segment.norms.of(segment.len2[document as usize]);
            if !probe(
                cursors,
                &order[..probed],
                document,
                offset,
                norm,
                sums[offset],
                probed_bound,
                top,
            ) {
                continue;
            }
            let score = exact(cursors, offset, norm);
            if top.would_enter(score) {
                top.push(Hit {
                    document: segment.base + document,
                    score,
                });
            }
        }
    }
    for cursor in cursors {
        cursor.present = [0; BLOCK_DOCUMENTS / 64];
    }
}

/// Looks a candidate up in the lists that were not read, the strongest first; false as soon as it cannot
/// enter any more.
#[expect(
    clippy::too_many_arguments,
    reason = "the state of one candidate, on the hottest path"
)]
fn probe(
    cursors: &mut [Cursor<'_>],
    probed: &[usize],
    document: u32,
    offset: usize,
    norm: f64,
    sum: f64,
    probed_bound: f64,
    top: &Top,
) -> bool {
    let mut sum = sum;
    let mut rest = probed_bound;
    for &at in probed.iter().rev() {
        let cursor = &mut cursors[at];
        if cursor.bound == 0.0 {
            break;
        }
        rest -= cursor.bound;
        if let Some(freq) = cursor.probe(document) {
            cursor.note(offset, freq);
            sum += cursor.idf * Bm25::impact(f64::from(freq) / 2.0, norm);
        }
        // Subtraction may leave the rest a hair below the truth; the slack covers that.
        if (sum + rest.max(0.0)) * SLACK <= top.threshold() {
            return false;
        }
    }
    true
}

/// The score as the specification sums it: parts in query order from 0.
fn exact(cursors: &[Cursor<'_>], offset: usize, norm: f64) -> f64 {
    cursors
        .iter()
        .filter(|cursor| cursor.present[offset / 64] >> (offset % 64) & 1 == 1)
        .fold(0.0, |score, cursor| {
            score + cursor.idf * Bm25::impact(f64::from(cursor.freqs[offset]) / 2.0, norm)
        })
}

impl<'a> Cursor<'a> {
    fn new(list: List<'a>, segment: &Segment<'_>, block_bounds: &mut [f64]) -> Self {
        let List {
            idf,
            mut postings,
            row,
        } = list;
        let source = if let Some(row) = row {
            let bounds = Box::new(bounds_of_bytes(idf));
            for (total, &byte) in block_bounds.iter_mut().zip(row) {
                *total += bounds[usize::from(byte)];
            }
            Source::Streamed {
                postings: Box::new(postings),
                next: 0,
                row,
                bounds,
            }
        } else {
            let mut documents = Vec::with_capacity(postings.doc_freq() as usize);
            let mut blocks: Vec<(u32, f64)> = Vec::new();
            while !postings.docs().is_empty() {
                for (&document, &freq) in postings.docs().iter().zip(postings.freqs()) {
                    documents.push((document, freq));
                    let norm = segment.norms.of(segment.len2[document as usize]);
                    let part = idf * Bm25::impact(f64::from(freq) / 2.0, norm);
                    let block = document / BLOCK_DOCUMENTS_U32;
                    match blocks.last_mut() {
                        Some((at, bound)) if *at == block => *bound = bound.max(part),
                        _ => blocks.push((block, part)),
                    }
                }
                postings.advance();
            }
            for &(block, bound) in &blocks {
                block_bounds[block as usize] += bound;
            }
            Source::Whole {
                documents,
                next: 0,
                blocks,
                next_block: 0,
            }
        };
        Self {
            idf,
            source,
            freqs: [0; BLOCK_DOCUMENTS],
            present: [0; BLOCK_DOCUMENTS / 64],
            bound: 0.0,
        }
    }

    /// Takes this list's bound in a block; blocks come in order.
    fn enter(&mut self, block: u32) {
        self.bound = match &mut self.source {
            Source::Streamed { row, bounds, .. } => bounds[usize::from(row[block as usize])],
            Source::Whole {
                blocks, next_block, ..
            } => {
                while blocks.get(*next_block).is_some_and(|(at, _)| *at < block) {
                    *next_block += 1;
                }
                match blocks.get(*next_block) {
                    Some(&(at, bound)) if at == block => bound,
                    _ => 0.0,
                }
            }
        };
    }

    fn note(&mut self, offset: usize, freq: u32) {
        self.present[offset / 64] |= 1 << (offset % 64);
        self.freqs[offset] = freq;
    }

    /// Reads this list's postings of a block: frequencies, parts into the sums, candidates.
    fn read_block(
        &mut self,
        first: u32,
        segment: &Segment<'_>,
        sums: &mut [f64; BLOCK_DOCUMENTS],
        candidates: &mut Present,
    ) {
        let idf = self.idf;
        let (present, freqs) = (&mut self.present, &mut self.freqs);
        let mut take = |document: u32, freq: u32| {
            let offset = (document - first) as usize;
            let norm = segment.norms.of(segment.len2[document as usize]);
            let part = idf * Bm25::impact(f64::from(freq) / 2.0, norm);
            let (word, bit) = (offset / 64, 1u64 << (offset % 64));
            if candidates[word] & bit == 0 {
                candidates[word] |= bit;
                sums[offset] = part;
            } else {
                sums[offset] += part;
            }
            present[word] |= bit;
            freqs[offset] = freq;
        };
        let end = first + BLOCK_DOCUMENTS_U32;
        match &mut self.source {
            Source::Whole {
                documents, next, ..
            } => {
                while documents
                    .get(*next)
                    .is_some_and(|(document, _)| *document < first)
                {
                    *next += 1;
                }
                while let Some(&(document, freq)) = documents.get(*next) {
                    if document >= end {
                        break;
                    }
                    take(document, freq);
                    *next += 1;
                }
            }
            Source::Streamed { postings, next, .. } => {
                move_to(postings, next, first);
                loop {
                    let documents = postings.docs();
                    let freqs = postings.freqs();
                    while let Some(&document) = documents.get(*next) {
                        if document >= end {
                            return;
                        }
                        take(document, freqs[*next]);
                        *next += 1;
                    }
                    if documents.is_empty() {
                        return;
                    }
                    postings.advance();
                    *next = 0;
                }
            }
        }
    }

    /// The frequency of one document; documents come in order.
    fn probe(&mut self, document: u32) -> Option<u32> {
        match &mut self.source {
            Source::Whole {
                documents, next, ..
            } => {
                while documents.get(*next).is_some_and(|(at, _)| *at < document) {
                    *next += 1;
                }
                documents
                    .get(*next)
                    .filter(|(at, _)| *at == document)
                    .map(|&(_, freq)| freq)
            }
            Source::Streamed { postings, next, .. } => {
                move_to(postings, next, document);
                (postings.docs().get(*next) == Some(&document)).then(|| postings.freq(*next))
            }
        }
    }
}

/// Moves a place in a list forward to the first document that is not below `target`.
pub(super) fn move_to(postings: &mut BlockSegmentPostings, next: &mut usize, target: u32) {
    match postings.docs().last() {
        None => {}
        Some(&last) if last >= target => {
            let rest = &postings.docs()[*next..];
            *next += if rest.first().is_some_and(|&document| document >= target) {
                0
            } else {
                rest.partition_point(|&document| document < target)
            };
        }
        Some(_) => *next = postings.seek(target),
    }
}
