//! Ranking under the normative profile: plans, statistics, explanations.
//!
//! A query is answered by one of three plans with the same result: a listing walks names; a filter that
//! leaves few documents walks those documents; everything else is pruned top-k. The filter decides before
//! a document may enter the top, so what is not shown never moves the threshold.

use tantivy::postings::BlockSegmentPostings;
use tantivy::schema::IndexRecordOption;
use tantivy::{InvertedIndexReader, TantivyError};

use super::allowed::Allowed;
use super::reader::Segment;
use super::schema::NormativeProfile;
use super::top::Top;
use super::topk::{self, List, move_to};
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
    /// The statistics of so many operations with this sum of twice their weighted lengths.
    pub fn new(operations: u64, len2_total: u64) -> Self {
        let operations = operations as f64;
        Self {
            operations,
            average: (len2_total as f64 / 2.0) / operations,
        }
    }

    /// `ln(1 + (N - df + 0.5) / (df + 0.5))`.
    pub fn idf(&self, df: u64) -> f64 {
        let df = df as f64;
        (1.0 + (self.operations - df + 0.5) / (df + 0.5)).ln()
    }

    /// What a document's length adds to the denominator: `k1 * ((1 - b) + (b * len) / avg)`.
    pub fn norm(&self, len: f64) -> f64 {
        let (k1, b) = (NormativeProfile::K1, NormativeProfile::B);
        k1 * ((1.0 - b) + (b * len) / self.average)
    }

    /// What a frequency is worth before idf: `(tf * (k1 + 1)) / (tf + norm)`.
    pub fn impact(tf: f64, norm: f64) -> f64 {
        (tf * (NormativeProfile::K1 + 1.0)) / (tf + norm)
    }

    /// One token's part of a score, in the specification's order of evaluation.
    pub fn part(&self, idf: f64, tf: f64, len: f64) -> f64 {
        idf * Self::impact(tf, self.norm(len))
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
        Bm25::new(u64::from(self.len()), self.manifest().len2_total)
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
        let allowed = Allowed::resolve(self, filter)?;
        if tokens.is_empty() {
            return Ok(self.listing(&allowed, limit));
        }
        let mut top = Top::new(limit);
        match &allowed {
            Allowed::Few(documents) => self.score_few(&tokens, documents, &mut top)?,
            Allowed::Many(_) => self.score_pruned(&tokens, &allowed, &mut top)?,
        }
        Ok(top.into_sorted())
    }

    /// The first `limit` documents by name.
    fn listing(&self, allowed: &Allowed<'_>, limit: usize) -> Vec<Hit> {
        let hit = |document: u32| Hit {
            document,
            score: 0.0,
        };
        match allowed {
            Allowed::Few(documents) => documents
                .iter()
                .take(limit)
                .map(|&document| hit(document))
                .collect(),
            Allowed::Many(predicate) => (0..self.len())
                .filter(|&document| predicate.holds(self, document))
                .take(limit)
                .map(hit)
                .collect(),
        }
    }

    /// The posting lists of a token, one a segment that has one, and its df in the generation.
    fn lists_of(&self, token: &str) -> Result<TokenLists, IndexError> {
        let mut lists = Vec::with_capacity(self.segments.len());
        let mut df = 0;
        for (at, segment) in self.segments.iter().enumerate() {
            if let Some((term, list)) = open_list(&segment.weighted, token)? {
                df += u64::from(list.doc_freq());
                lists.push((at, term, list));
            }
        }
        Ok((lists, df))
    }

    /// Pruned top-k over every segment; the threshold is carried along.
    fn score_pruned(
        &self,
        tokens: &[String],
        allowed: &Allowed<'_>,
        top: &mut Top,
    ) -> Result<(), IndexError> {
        let statistics = self.statistics();
        let mut by_segment: Vec<Vec<List<'_>>> = self.segments.iter().map(|_| Vec::new()).collect();
        for token in tokens {
            let (lists, df) = self.lists_of(token)?;
            let idf = statistics.idf(df);
            for (at, term, postings) in lists {
                by_segment[at].push(List {
                    idf,
                    postings,
                    row: self.segments[at].impacts.row(term),
                });
            }
        }
        for (segment, lists) in self.segments.iter().zip(by_segment) {
            let scored = topk::Segment {
                base: segment.base,
                len2: self.lengths_of(segment),
                norms: self.norms(),
            };
            match allowed {
                Allowed::Many(predicate) if !predicate.is_everything() => {
                    let holds = |document| predicate.holds(self, document);
                    topk::score_segment(lists, &scored, holds, top);
                }
                _ => topk::score_segment(lists, &scored, |_| true, top),
            }
        }
        Ok(())
    }

    /// Scores the given documents one list at a time, in query order.
    fn score_few(
        &self,
        tokens: &[String],
        documents: &[u32],
        top: &mut Top,
    ) -> Result<(), IndexError> {
        let statistics = self.statistics();
        let mut scores = vec![0.0f64; documents.len()];
        for token in tokens {
            let (lists, df) = self.lists_of(token)?;
            let idf = statistics.idf(df);
            for (at, _, mut postings) in lists {
                let segment = &self.segments[at];
                let from = documents.partition_point(|&document| document < segment.base);
                let end = segment.base + segment.documents;
                let mut next = 0;
                for (&document, score) in documents[from..].iter().zip(&mut scores[from..]) {
                    if document >= end || postings.docs().is_empty() {
                        break;
                    }
                    let local = document - segment.base;
                    move_to(&mut postings, &mut next, local);
                    if postings.docs().get(next) == Some(&local) {
                        let tf = f64::from(postings.freq(next)) / 2.0;
                        let norm = self.norms().of(self.len2[document as usize]);
                        *score += idf * Bm25::impact(tf, norm);
                    }
                }
            }
        }
        for (&document, &score) in documents.iter().zip(&scores) {
            if top.would_enter(score) {
                top.push(Hit { document, score });
            }
        }
        Ok(())
    }

    fn lengths_of(&self, segment: &Segment) -> &[u32] {
        &self.len2[segment.base as usize..(segment.base + segment.documents) as usize]
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
                if let Some((_, mut list)) = open_list(&segment.weighted, &token)? {
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
                        Some((_, mut list)) => frequency_in(&mut list, local),
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
}

/// A token's posting lists: the segment's place, the term's ordinal there, the list; and the df of all.
type TokenLists = (Vec<(usize, u64, BlockSegmentPostings)>, u64);

/// The posting list of a query token with its term's ordinal: its own term, or the shortest term that
/// starts with it.
fn open_list(
    field: &InvertedIndexReader,
    token: &str,
) -> Result<Option<(u64, BlockSegmentPostings)>, IndexError> {
    let mut terms = field
        .terms()
        .range()
        .ge(token)
        .into_stream()
        .map_err(reading)?;
    if !terms.advance() {
        return Ok(None);
    }
    let found = if is_prefix_query(token) {
        terms.key().starts_with(token.as_bytes())
    } else {
        terms.key() == token.as_bytes()
    };
    if !found {
        return Ok(None);
    }
    let postings = field
        .read_block_postings_from_terminfo(terms.value(), IndexRecordOption::WithFreqs)
        .map_err(reading)?;
    Ok(Some((terms.term_ord(), postings)))
}

/// The frequency of a document in a list; 0 when it is not there.
fn frequency_in(list: &mut BlockSegmentPostings, document: u32) -> u32 {
    let at = list.seek(document);
    match list.docs().get(at) {
        Some(&found) if found == document => list.freq(at),
        _ => 0,
    }
}

pub(super) fn reading(error: std::io::Error) -> IndexError {
    IndexError::Engine {
        what: "read posting lists",
        source: TantivyError::from(error),
    }
}
