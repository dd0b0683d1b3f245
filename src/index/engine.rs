//! Exact top-k under the normative profile: term at a time, every posting, scores in f64.
//!
//! A score is summed in query order, so it equals that of any other exact implementation bit for bit.
//! The filter decides before a document may enter the top.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use tantivy::postings::BlockSegmentPostings;
use tantivy::schema::IndexRecordOption;
use tantivy::{InvertedIndexReader, TantivyError};

use super::schema::NormativeProfile;
use super::{FieldName, IndexError, Reader};
use crate::text::{is_prefix_query, query_tokens};

/// Which documents may be results.
#[derive(Debug, Clone, Copy)]
pub struct Filter<'a> {
    /// Folded tags; a document must carry every one.
    pub tags: &'a [String],
    /// Which audiences are shown, by number.
    pub shown: &'a [bool],
}

/// A document that is a result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The document's number: its name's ordinal in the generation.
    pub document: u32,
    /// The score; 0 in a listing.
    pub score: f64,
}

/// The collection statistics a score depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bm25 {
    /// Number of operations of the generation.
    pub operations: f64,
    /// Mean weighted length.
    pub average: f64,
}

impl Bm25 {
    /// `ln(1 + (N - df + 0.5) / (df + 0.5))`.
    pub fn idf(&self, df: u64) -> f64 {
        let df = df as f64;
        (1.0 + (self.operations - df + 0.5) / (df + 0.5)).ln()
    }

    /// One token's part of a score, in the specification's order of evaluation.
    pub fn part(&self, idf: f64, tf: f64, len: f64) -> f64 {
        let (k1, b) = (NormativeProfile::K1, NormativeProfile::B);
        idf * ((tf * (k1 + 1.0)) / (tf + k1 * ((1.0 - b) + (b * len) / self.average)))
    }
}

/// How one query token matches one document.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenMatch {
    /// The token.
    pub token: String,
    /// Documents of the generation in which it matches.
    pub df: u64,
    /// Its inverse document frequency.
    pub idf: f64,
    /// How many tokens it matches, by field, where it matches any.
    pub fields: Vec<(FieldName, u32)>,
    /// The weighted frequency.
    pub tf: f64,
    /// The document's weighted length.
    pub length: f64,
    /// What it adds to the score; 0 when it does not match.
    pub part: f64,
}

impl Reader {
    /// The statistics of this generation.
    pub fn statistics(&self) -> Bm25 {
        let operations = f64::from(self.len());
        Bm25 {
            operations,
            average: (self.manifest().len2_total as f64 / 2.0) / operations,
        }
    }

    /// The best `limit` documents for a query, best first, ties by name; a query without tokens lists all
    /// by name.
    pub fn top(
        &self,
        query: &str,
        filter: Filter<'_>,
        limit: usize,
    ) -> Result<Vec<Hit>, IndexError> {
        let tokens = query_tokens(query);
        if tokens.is_empty() {
            return self.listing(filter, limit);
        }
        let allowed = self.allowed(filter)?;
        let scores = self.scores(&tokens)?;
        let mut top = Top::new(limit);
        for (document, &score) in (0u32..).zip(&scores) {
            if score > 0.0 && top.would_enter(score) && allowed.holds(document) {
                top.push(Hit { document, score });
            }
        }
        Ok(top.into_sorted())
    }

    /// The first `limit` documents by name.
    fn listing(&self, filter: Filter<'_>, limit: usize) -> Result<Vec<Hit>, IndexError> {
        let allowed = self.allowed(filter)?;
        Ok((0..self.len())
            .filter(|&document| allowed.holds(document))
            .take(limit)
            .map(|document| Hit {
                document,
                score: 0.0,
            })
            .collect())
    }

    /// Every document's score, term at a time in query order.
    fn scores(&self, tokens: &[String]) -> Result<Vec<f64>, IndexError> {
        let statistics = self.statistics();
        let mut scores = vec![0.0f64; self.len() as usize];
        for token in tokens {
            let mut lists = Vec::with_capacity(self.segments.len());
            for segment in &self.segments {
                if let Some(list) = open_list(&segment.weighted, token)? {
                    lists.push((segment.base, list));
                }
            }
            let df = lists
                .iter()
                .map(|(_, list)| u64::from(list.doc_freq()))
                .sum();
            let idf = statistics.idf(df);
            for (base, mut list) in lists {
                while !list.docs().is_empty() {
                    for (&document, &frequency) in list.docs().iter().zip(list.freqs()) {
                        let document = (base + document) as usize;
                        let tf = f64::from(frequency) / 2.0;
                        let len = f64::from(self.len2[document]) / 2.0;
                        scores[document] += statistics.part(idf, tf, len);
                    }
                    list.advance();
                }
            }
        }
        Ok(scores)
    }

    /// Takes the score of one document apart, one entry a distinct query token, in query order.
    pub fn explain(&self, query: &str, document: u32) -> Result<Vec<TokenMatch>, IndexError> {
        let statistics = self.statistics();
        let length = self
            .len2
            .get(document as usize)
            .map_or(0.0, |&len2| f64::from(len2) / 2.0);
        let mut matches = Vec::new();
        for token in query_tokens(query) {
            let mut df = 0;
            let mut frequency = 0;
            let mut fields = Vec::new();
            for (at, segment) in self.segments.iter().enumerate() {
                let end = self
                    .segments
                    .get(at + 1)
                    .map_or(self.len(), |next| next.base);
                let local = (segment.base..end)
                    .contains(&document)
                    .then(|| document - segment.base);
                if let Some(mut list) = open_list(&segment.weighted, &token)? {
                    df += u64::from(list.doc_freq());
                    if let Some(local) = local {
                        frequency = frequency_in(&mut list, local);
                    }
                }
                let Some(local) = local.filter(|_| frequency > 0) else {
                    continue;
                };
                for (name, field) in FieldName::ALL.into_iter().zip(&segment.by_name) {
                    let count = match open_list(field, &token)? {
                        Some(mut list) => frequency_in(&mut list, local),
                        None => 0,
                    };
                    if count > 0 {
                        fields.push((name, count));
                    }
                }
            }
            let idf = statistics.idf(df);
            let tf = f64::from(frequency) / 2.0;
            let part = if frequency > 0 {
                statistics.part(idf, tf, length)
            } else {
                0.0
            };
            matches.push(TokenMatch {
                token,
                df,
                idf,
                fields,
                tf,
                length,
                part,
            });
        }
        Ok(matches)
    }

    fn allowed(&self, filter: Filter<'_>) -> Result<Allowed<'_>, IndexError> {
        let mut carriers: Option<Vec<u32>> = None;
        for tag in filter.tags {
            let with_tag = self.documents_with_tag(tag)?;
            carriers = Some(match carriers {
                None => with_tag,
                Some(before) => intersect(&before, &with_tag),
            });
        }
        let tagged = carriers.map(|documents| {
            let mut bits = vec![0u64; (self.len() as usize).div_ceil(64)];
            for document in documents {
                bits[document as usize / 64] |= 1 << (document % 64);
            }
            bits
        });
        let shown = if filter.shown.iter().all(|&shown| shown) && !filter.shown.is_empty() {
            None
        } else {
            Some(filter.shown.to_vec())
        };
        Ok(Allowed {
            reader: self,
            tagged,
            shown,
        })
    }

    fn documents_with_tag(&self, tag: &str) -> Result<Vec<u32>, IndexError> {
        let mut documents = Vec::new();
        for segment in &self.segments {
            let Some(info) = segment.tag.terms().get(tag).map_err(reading)? else {
                continue;
            };
            let mut list = segment
                .tag
                .read_block_postings_from_terminfo(&info, IndexRecordOption::Basic)
                .map_err(reading)?;
            while !list.docs().is_empty() {
                documents.extend(list.docs().iter().map(|document| segment.base + document));
                list.advance();
            }
        }
        Ok(documents)
    }
}

/// The filter of one search, resolved.
struct Allowed<'a> {
    reader: &'a Reader,
    tagged: Option<Vec<u64>>,
    shown: Option<Vec<bool>>,
}

impl Allowed<'_> {
    fn holds(&self, document: u32) -> bool {
        let tagged = self
            .tagged
            .as_ref()
            .is_none_or(|bits| bits[document as usize / 64] >> (document % 64) & 1 == 1);
        tagged
            && self.shown.as_ref().is_none_or(|shown| {
                shown.get(self.reader.audience(document) as usize) == Some(&true)
            })
    }
}

/// Documents of both sorted lists.
fn intersect(left: &[u32], right: &[u32]) -> Vec<u32> {
    let mut right = right.iter().peekable();
    left.iter()
        .filter(|&document| {
            while right.next_if(|&other| other < document).is_some() {}
            right.peek() == Some(&document)
        })
        .copied()
        .collect()
}

/// The posting list of a query token: its own term, or the shortest term that starts with it.
fn open_list(
    field: &InvertedIndexReader,
    token: &str,
) -> Result<Option<BlockSegmentPostings>, IndexError> {
    let info = if is_prefix_query(token) {
        let mut terms = field
            .terms()
            .range()
            .ge(token)
            .into_stream()
            .map_err(reading)?;
        match terms.next() {
            Some((term, info)) if term.starts_with(token.as_bytes()) => Some(info.clone()),
            _ => None,
        }
    } else {
        field.terms().get(token).map_err(reading)?
    };
    info.map(|info| {
        field
            .read_block_postings_from_terminfo(&info, IndexRecordOption::WithFreqs)
            .map_err(reading)
    })
    .transpose()
}

/// The frequency of a document in a list; 0 when it is not there.
fn frequency_in(list: &mut BlockSegmentPostings, document: u32) -> u32 {
    let at = list.seek(document);
    match list.docs().get(at) {
        Some(&found) if found == document => list.freq(at),
        _ => 0,
    }
}

fn reading(error: std::io::Error) -> IndexError {
    IndexError::Engine {
        what: "read posting lists",
        source: TantivyError::from(error),
    }
}

/// The best hits so far: higher score first, then lower document number.
struct Top {
    limit: usize,
    /// The worst of the best on top.
    heap: BinaryHeap<Worst>,
}

struct Worst(Hit);

impl Top {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            heap: BinaryHeap::with_capacity(limit.min(1_024) + 1),
        }
    }

    /// Whether a later document with this score would be kept; an equal score loses to an earlier name.
    fn would_enter(&self, score: f64) -> bool {
        self.heap.len() < self.limit || self.heap.peek().is_some_and(|worst| score > worst.0.score)
    }

    fn push(&mut self, hit: Hit) {
        self.heap.push(Worst(hit));
        if self.heap.len() > self.limit {
            self.heap.pop();
        }
    }

    fn into_sorted(self) -> Vec<Hit> {
        self.heap
            .into_sorted_vec()
            .into_iter()
            .map(|worst| worst.0)
            .collect()
    }
}

impl Ord for Worst {
    fn cmp(&self, other: &Self) -> Ordering {
        other
            .0
            .score
            .total_cmp(&self.0.score)
            .then(self.0.document.cmp(&other.0.document))
    }
}

impl PartialOrd for Worst {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Worst {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Worst {}
