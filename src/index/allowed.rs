//! The filter of one search, resolved: the few documents it leaves, or a predicate over many.

use tantivy::InvertedIndexReader;
use tantivy::schema::IndexRecordOption;

use super::engine::reading;
use super::{Filter, IndexError, Reader};

/// A filter that leaves fewer than one document in this many is walked document by document: measured
/// where the two plans cost the same.
const FEW_ONE_IN: u64 = 50;

/// What a filter leaves.
pub(super) enum Allowed<'a> {
    /// These documents, ascending.
    Few(Vec<u32>),
    /// Whatever the predicate holds of.
    Many(Predicate<'a>),
}

/// A filter as a question asked of one document.
pub(super) struct Predicate<'a> {
    /// One bit a document that carries every tag; none when no tag is asked for.
    tagged: Option<Vec<u64>>,
    /// Shown audiences; none when all are.
    shown: Option<&'a [bool]>,
}

impl<'a> Allowed<'a> {
    pub(super) fn resolve(reader: &Reader, filter: Filter<'a>) -> Result<Self, IndexError> {
        let few = u64::from(reader.len()) / FEW_ONE_IN;
        let everyone = filter.shown.len() >= reader.audiences().len()
            && filter.shown.iter().all(|&shown| shown);
        let shown = (!everyone).then_some(filter.shown);
        let predicate = |tagged| Predicate { tagged, shown };
        if filter.tags.is_empty() {
            if !everyone && reader.total(filter.shown) <= few {
                return reader.documents_of_audiences(filter.shown).map(Self::Few);
            }
            return Ok(Self::Many(predicate(None)));
        }
        let mut documents = reader.documents_with_tags(filter.tags)?;
        if documents.len() as u64 <= few {
            let predicate = predicate(None);
            documents.retain(|&document| predicate.holds(reader, document));
            return Ok(Self::Few(documents));
        }
        let mut bits = vec![0u64; (reader.len() as usize).div_ceil(64)];
        for document in documents {
            bits[document as usize / 64] |= 1 << (document % 64);
        }
        Ok(Self::Many(predicate(Some(bits))))
    }
}

impl Predicate<'_> {
    /// Whether it holds of every document.
    pub(super) fn is_everything(&self) -> bool {
        self.tagged.is_none() && self.shown.is_none()
    }

    pub(super) fn holds(&self, reader: &Reader, document: u32) -> bool {
        let tagged = self
            .tagged
            .as_ref()
            .is_none_or(|bits| bits[document as usize / 64] >> (document % 64) & 1 == 1);
        tagged
            && self
                .shown
                .is_none_or(|shown| shown.get(reader.audience(document) as usize) == Some(&true))
    }
}

impl Reader {
    /// The documents that carry every tag, ascending.
    fn documents_with_tags(&self, tags: &[String]) -> Result<Vec<u32>, IndexError> {
        let mut documents = Vec::new();
        for segment in &self.segments {
            let mut lists = Vec::with_capacity(tags.len());
            for tag in tags {
                match segment.tag.terms().get(tag).map_err(reading)? {
                    Some(info) => lists.push(info),
                    None => break,
                }
            }
            if lists.len() < tags.len() {
                continue;
            }
            // The rarest first: the rest only ever take away.
            lists.sort_unstable_by_key(|info| info.doc_freq);
            let mut common: Option<Vec<u32>> = None;
            for info in &lists {
                let carriers = read_documents(&segment.tag, info, 0)?;
                common = Some(match common {
                    None => carriers,
                    Some(before) => intersect(&before, &carriers),
                });
            }
            documents.extend(
                common
                    .unwrap_or_default()
                    .iter()
                    .map(|document| segment.base + document),
            );
        }
        Ok(documents)
    }

    /// The documents of the shown audiences, ascending.
    fn documents_of_audiences(&self, shown: &[bool]) -> Result<Vec<u32>, IndexError> {
        let mut documents = Vec::new();
        for segment in &self.segments {
            let from = documents.len();
            for (audience, _) in (0u64..).zip(shown).filter(|(_, shown)| **shown) {
                let term = audience.to_be_bytes();
                if let Some(info) = segment.audience.terms().get(term).map_err(reading)? {
                    documents.extend(read_documents(&segment.audience, &info, segment.base)?);
                }
            }
            documents[from..].sort_unstable();
        }
        Ok(documents)
    }
}

fn read_documents(
    field: &InvertedIndexReader,
    info: &tantivy::postings::TermInfo,
    base: u32,
) -> Result<Vec<u32>, IndexError> {
    let mut list = field
        .read_block_postings_from_terminfo(info, IndexRecordOption::Basic)
        .map_err(reading)?;
    let mut documents = Vec::with_capacity(info.doc_freq as usize);
    while !list.docs().is_empty() {
        documents.extend(list.docs().iter().map(|document| base + document));
        list.advance();
    }
    Ok(documents)
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
