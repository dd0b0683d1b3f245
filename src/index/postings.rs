//! Inversion: from documents to posting lists, in partitions of the dictionary that fit in memory.

use rayon::prelude::*;

use super::FieldName;
use super::entries;
use super::segment::SegmentDocument;
use super::vocabulary::PrefixTerms;

/// Bytes of one posting while it waits to be written: document and frequency.
const POSTING_BYTES: usize = 8;

/// Posting lists of consecutive terms, back to back.
pub(super) struct Postings {
    /// The first term of this partition.
    pub(super) first_term: usize,
    starts: Vec<usize>,
    docs: Vec<u32>,
    freqs: Vec<u32>,
}

impl Postings {
    /// The lists in dictionary order: the term's place, its documents, their frequencies. Empty lists are
    /// left out.
    pub(super) fn lists(&self) -> impl Iterator<Item = (usize, &[u32], &[u32])> {
        self.starts
            .windows(2)
            .enumerate()
            .filter_map(|(at, bounds)| {
                let list = bounds[0]..bounds[1];
                (!list.is_empty()).then(|| {
                    (
                        self.first_term + at,
                        &self.docs[list.clone()],
                        &self.freqs[list],
                    )
                })
            })
    }
}

/// Which entries count, and for how much.
#[derive(Debug, Clone, Copy)]
pub(super) enum Weigh {
    /// Every entry, by twice its field's weight.
    AllFields,
    /// The entries of one field, once each.
    One(FieldName),
}

impl Weigh {
    fn of(self, entry: entries::Entry) -> u32 {
        match self {
            Self::AllFields => FieldName::ALL[usize::from(entry.field)]
                .weight2()
                .saturating_mul(entry.count),
            Self::One(field) if field.ordinal() == entry.field => entry.count,
            Self::One(_) => 0,
        }
    }
}

/// Inverts documents, handing one partition of the dictionary after the other to `write`, in order.
///
/// At most `memory_bytes` are held in postings at once, unless one list alone is larger.
pub(super) fn invert<E: Send>(
    terms: &PrefixTerms<'_>,
    documents: &[SegmentDocument<'_>],
    weigh: Weigh,
    memory_bytes: usize,
    mut write: impl FnMut(&Postings) -> Result<(), E>,
) -> Result<(), E> {
    let counts = count(terms, documents, weigh);
    let threads = rayon::current_num_threads().max(1);
    let per_partition = (memory_bytes / POSTING_BYTES / threads).max(1);
    for batch in partitions(&counts, per_partition).chunks(threads) {
        let filled: Vec<Postings> = batch
            .par_iter()
            .map(|partition| fill(terms, documents, weigh, partition.clone(), &counts))
            .collect();
        for postings in &filled {
            write(postings)?;
        }
    }
    Ok(())
}

/// Ranges of terms with at most so many postings each, or one term.
fn partitions(counts: &[u32], postings_max: usize) -> Vec<std::ops::Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    let mut held = 0;
    for (term, &count) in counts.iter().enumerate() {
        let count = count as usize;
        if held > 0 && held + count > postings_max {
            ranges.push(start..term);
            start = term;
            held = 0;
        }
        held += count;
    }
    if start < counts.len() {
        ranges.push(start..counts.len());
    }
    ranges
}

/// The document frequency of every term.
fn count(terms: &PrefixTerms<'_>, documents: &[SegmentDocument<'_>], weigh: Weigh) -> Vec<u32> {
    let chunk = documents
        .len()
        .div_ceil(rayon::current_num_threads().max(1))
        .max(1);
    documents
        .par_chunks(chunk)
        .map(|documents| {
            let mut counts = vec![0u32; terms.terms.len()];
            let mut last = vec![u32::MAX; terms.terms.len()];
            for (number, document) in (0u32..).zip(documents) {
                for entry in entries::decode(document.entries) {
                    if weigh.of(entry) == 0 {
                        continue;
                    }
                    for term in terms.chain(entry.token) {
                        let seen = &mut last[term as usize];
                        if *seen == number {
                            // A term that was met in this document had its shorter ones met with it.
                            break;
                        }
                        *seen = number;
                        counts[term as usize] += 1;
                    }
                }
            }
            counts
        })
        .reduce(
            || vec![0; terms.terms.len()],
            |mut sum, counts| {
                for (sum, count) in sum.iter_mut().zip(counts) {
                    *sum += count;
                }
                sum
            },
        )
}

fn fill(
    terms: &PrefixTerms<'_>,
    documents: &[SegmentDocument<'_>],
    weigh: Weigh,
    range: std::ops::Range<usize>,
    counts: &[u32],
) -> Postings {
    let mut starts = Vec::with_capacity(range.len() + 1);
    let mut total = 0;
    starts.push(0);
    for &count in &counts[range.clone()] {
        total += count as usize;
        starts.push(total);
    }
    let mut next = starts.clone();
    let mut docs = vec![0u32; total];
    let mut freqs = vec![0u32; total];
    for (number, document) in (0u32..).zip(documents) {
        for entry in entries::decode(document.entries) {
            let adds = weigh.of(entry);
            if adds == 0 {
                continue;
            }
            for term in terms.chain(entry.token) {
                let Some(at) = (term as usize)
                    .checked_sub(range.start)
                    .filter(|&at| at < range.len())
                else {
                    continue;
                };
                let place = next[at];
                // The last posting of this list is this document's when one of its words was here before.
                if place > starts[at] && docs[place - 1] == number {
                    freqs[place - 1] = freqs[place - 1].saturating_add(adds);
                } else {
                    docs[place] = number;
                    freqs[place] = adds;
                    next[at] = place + 1;
                }
            }
        }
    }
    Postings {
        first_term: range.start,
        starts,
        docs,
        freqs,
    }
}

/// Inverts documents into one list a set, of the documents that are in it.
pub(super) fn invert_sets<'a>(
    sets: usize,
    documents: impl Iterator<Item = &'a [u32]> + Clone,
) -> Postings {
    let mut counts = vec![0usize; sets];
    for set in documents.clone().flatten() {
        counts[*set as usize] += 1;
    }
    let mut starts = vec![0];
    let mut total = 0;
    for count in counts {
        total += count;
        starts.push(total);
    }
    let mut next = starts.clone();
    let mut docs = vec![0u32; total];
    for (number, document) in (0u32..).zip(documents) {
        for set in document {
            let at = &mut next[*set as usize];
            docs[*at] = number;
            *at += 1;
        }
    }
    let freqs = vec![1; docs.len()];
    Postings {
        first_term: 0,
        starts,
        docs,
        freqs,
    }
}
