//! The direct segment writer: postings are inverted in memory and written through the engine's own
//! serializers.
//!
//! The engine's ordinary writer has no way to say "frequency 11": it must see the token eleven times. It
//! also promises neither one segment nor document order. Both matter here: a document's number is its
//! name's ordinal.

use std::path::Path;
use std::str::FromStr;

use tantivy::columnar::{ColumnType, ColumnarWriter};
use tantivy::directory::WritePtr;
use tantivy::fieldnorm::FieldNormsSerializer;
use tantivy::index::{SegmentComponent, SegmentId};
use tantivy::indexer::NoMergePolicy;
use tantivy::postings::InvertedIndexSerializer;
use tantivy::schema::Field;
use tantivy::store::{Compressor, StoreWriter};
use tantivy::{Directory, Index, IndexWriter, TantivyDocument};

use super::directory::impacts_file;
use super::impacts::ImpactWriter;
use super::schema::{AUDIENCE, Fields, LEN2};
use super::vocabulary::PrefixTerms;
use super::{Bm25, FieldName, IndexError};

/// One distinct (token, field) of a document with how often it occurs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) token: u32,
    pub(super) count: u32,
    pub(super) field: u8,
}

/// One document as the segment writer needs it.
pub(super) struct SegmentDocument<'a> {
    pub(super) entries: &'a [Entry],
    pub(super) len2: u32,
    pub(super) audience: u32,
    /// Ordinals into the sorted facet vocabulary, distinct.
    pub(super) tags: &'a [u32],
}

/// Posting lists of every term, back to back.
struct Postings {
    starts: Vec<usize>,
    docs: Vec<u32>,
    freqs: Vec<u32>,
}

/// The least memory the engine accepts for a writer that only registers finished segments.
const WRITER_BYTES: usize = 15_000_000;

/// What all segments of a generation share.
pub(super) struct Shared<'a> {
    pub(super) fields: &'a Fields,
    pub(super) terms: &'a PrefixTerms<'a>,
    /// The facet's terms, sorted.
    pub(super) tags: &'a [&'a str],
    /// The number of audiences.
    pub(super) audiences: usize,
    pub(super) statistics: Bm25,
}

/// Writes one segment per slice of documents and commits them all at once.
pub(super) fn write_segments(
    directory: &dyn Directory,
    index: &Index,
    shared: &Shared<'_>,
    slices: &[&[SegmentDocument<'_>]],
) -> Result<Vec<String>, IndexError> {
    let mut writer: IndexWriter<TantivyDocument> = index
        .writer_with_num_threads(1, WRITER_BYTES)
        .map_err(IndexError::engine("open a writer"))?;
    writer.set_merge_policy(Box::new(NoMergePolicy));
    let mut ids = Vec::new();
    for (number, slice) in slices.iter().enumerate() {
        let documents =
            u32::try_from(slice.len()).map_err(|_| IndexError::TooMany { max: u32::MAX })?;
        let segment = index.new_segment();
        let impacts = write_segment(&segment, shared, slice)?;
        write_impacts(directory, number, impacts)?;
        writer
            .add_segment(index.new_segment_meta(segment.id(), documents))
            .map_err(IndexError::engine("register a segment"))?;
        ids.push(segment.id().uuid_string());
    }
    writer
        .commit()
        .map_err(IndexError::engine("commit the segments"))?;
    writer
        .wait_merging_threads()
        .map_err(IndexError::engine("close the writer"))?;
    Ok(ids)
}

/// Reads a segment id back from a manifest.
pub(super) fn segment_id(text: &str) -> Option<SegmentId> {
    SegmentId::from_str(text).ok()
}

fn write_segment(
    segment: &tantivy::index::Segment,
    shared: &Shared<'_>,
    documents: &[SegmentDocument<'_>],
) -> Result<ImpactWriter, IndexError> {
    let Shared {
        fields,
        terms,
        tags,
        audiences,
        statistics,
    } = *shared;
    let failed = "write a segment";
    let mut serializer =
        InvertedIndexSerializer::open(segment).map_err(IndexError::engine(failed))?;
    let weights = FieldName::ALL.map(FieldName::weight2);
    let weighted = invert(terms, documents, |entry| {
        weights[usize::from(entry.field)].saturating_mul(entry.count)
    });
    write_field(&mut serializer, fields.weighted, &terms.terms, &weighted)?;
    let mut impacts = ImpactWriter::new(documents.len());
    let norms: Vec<f64> = documents
        .iter()
        .map(|document| statistics.norm(f64::from(document.len2) / 2.0))
        .collect();
    for bounds in weighted.starts.windows(2) {
        let list = bounds[0]..bounds[1];
        if !list.is_empty() {
            let (docs, freqs) = (&weighted.docs[list.clone()], &weighted.freqs[list]);
            impacts.push(docs, freqs, |document| norms[document as usize]);
        }
    }
    drop(weighted);
    for name in FieldName::ALL {
        let one = invert(terms, documents, |entry| {
            if entry.field == name.ordinal() {
                entry.count
            } else {
                0
            }
        });
        let field = fields.by_name[usize::from(name.ordinal())];
        write_field(&mut serializer, field, &terms.terms, &one)?;
    }
    let facet = invert_sets(tags.len(), documents.iter().map(|document| document.tags));
    write_field(&mut serializer, fields.tag, tags, &facet)?;
    let audiences: Vec<[u8; 8]> = (0..audiences as u64).map(u64::to_be_bytes).collect();
    let members = documents.iter().map(|document| std::slice::from_ref(&document.audience));
    let members = invert_sets(audiences.len(), members);
    write_field(&mut serializer, fields.audience, &audiences, &members)?;
    serializer.close().map_err(IndexError::engine(failed))?;

    FieldNormsSerializer::from_write(open(segment, SegmentComponent::FieldNorms)?)
        .and_then(FieldNormsSerializer::close)
        .map_err(IndexError::engine(failed))?;

    let mut columns = ColumnarWriter::default();
    for name in [LEN2, AUDIENCE] {
        // Without being told, the writer picks the narrowest type that holds the values.
        columns.record_column_type(name, ColumnType::U64, false);
    }
    for (number, document) in (0u32..).zip(documents) {
        columns.record_numerical(number, LEN2, u64::from(document.len2));
        columns.record_numerical(number, AUDIENCE, u64::from(document.audience));
    }
    let mut out = open(segment, SegmentComponent::FastFields)?;
    let rows = u32::try_from(documents.len()).unwrap_or(u32::MAX);
    columns
        .serialize(rows, None, &mut out)
        .and_then(|()| terminate(out))
        .map_err(IndexError::engine(failed))?;

    // Nothing is stored with the engine: definitions and cards are record files beside it.
    StoreWriter::new(
        open(segment, SegmentComponent::Store)?,
        Compressor::None,
        16_384,
        false,
    )
    .and_then(StoreWriter::close)
    .map_err(IndexError::engine(failed))?;
    Ok(impacts)
}

fn write_impacts(
    directory: &dyn Directory,
    segment: usize,
    impacts: ImpactWriter,
) -> Result<(), IndexError> {
    let name = impacts_file(segment);
    let mut out = directory.open_write(Path::new(&name)).map_err(|error| {
        IndexError::engine("create the impact table")(tantivy::TantivyError::from(error))
    })?;
    impacts
        .write(&mut out)
        .and_then(|()| terminate(out))
        .map_err(IndexError::file("write", name))
}

fn open(
    segment: &tantivy::index::Segment,
    component: SegmentComponent,
) -> Result<WritePtr, IndexError> {
    segment.open_write(component).map_err(|error| {
        IndexError::engine("create a file of a segment")(tantivy::TantivyError::from(error))
    })
}

fn terminate(out: WritePtr) -> std::io::Result<()> {
    use tantivy::directory::TerminatingWrite as _;
    out.terminate()
}

/// Inverts documents into one posting list per term; `frequency` says what an entry adds to its terms.
fn invert(
    terms: &PrefixTerms<'_>,
    documents: &[SegmentDocument<'_>],
    frequency: impl Fn(&Entry) -> u32,
) -> Postings {
    let mut sums = vec![0u32; terms.terms.len()];
    let mut touched: Vec<u32> = Vec::new();
    let mut each_document = |emit: &mut dyn FnMut(u32, u32, u32)| {
        for (number, document) in (0u32..).zip(documents) {
            for entry in document.entries {
                let adds = frequency(entry);
                if adds == 0 {
                    continue;
                }
                for term in terms.chain(entry.token) {
                    let sum = &mut sums[term as usize];
                    if *sum == 0 {
                        touched.push(term);
                    }
                    *sum = sum.saturating_add(adds);
                }
            }
            for term in touched.drain(..) {
                let sum = std::mem::take(&mut sums[term as usize]);
                emit(term, number, sum);
            }
        }
    };
    let mut counts = vec![0usize; terms.terms.len()];
    each_document(&mut |term, _, _| counts[term as usize] += 1);
    let starts = running_sum(&counts);
    let total = starts.last().copied().unwrap_or(0);
    let mut next = starts.clone();
    let mut docs = vec![0u32; total];
    let mut freqs = vec![0u32; total];
    each_document(&mut |term, number, frequency| {
        let at = &mut next[term as usize];
        docs[*at] = number;
        freqs[*at] = frequency;
        *at += 1;
    });
    Postings {
        starts,
        docs,
        freqs,
    }
}

/// Inverts documents into one list a set, of the documents that are in it.
fn invert_sets<'a>(sets: usize, documents: impl Iterator<Item = &'a [u32]> + Clone) -> Postings {
    let mut counts = vec![0usize; sets];
    for set in documents.clone().flatten() {
        counts[*set as usize] += 1;
    }
    let starts = running_sum(&counts);
    let mut next = starts.clone();
    let mut docs = vec![0u32; starts.last().copied().unwrap_or(0)];
    for (number, document) in (0u32..).zip(documents) {
        for set in document {
            let at = &mut next[*set as usize];
            docs[*at] = number;
            *at += 1;
        }
    }
    let freqs = vec![1; docs.len()];
    Postings {
        starts,
        docs,
        freqs,
    }
}

fn running_sum(counts: &[usize]) -> Vec<usize> {
    let mut sum = 0;
    let mut starts = Vec::with_capacity(counts.len() + 1);
    starts.push(0);
    for count in counts {
        sum += count;
        starts.push(sum);
    }
    starts
}

fn write_field<T: AsRef<[u8]>>(
    serializer: &mut InvertedIndexSerializer,
    field: Field,
    terms: &[T],
    postings: &Postings,
) -> Result<(), IndexError> {
    let mut write = || -> std::io::Result<()> {
        let tokens = postings.freqs.iter().map(|&freq| u64::from(freq)).sum();
        let mut out = serializer.new_field(field, tokens, None)?;
        for (term, bounds) in terms.iter().zip(postings.starts.windows(2)) {
            let list = bounds[0]..bounds[1];
            if list.is_empty() {
                continue;
            }
            let df = u32::try_from(list.len()).unwrap_or(u32::MAX);
            out.new_term(term.as_ref(), df, true)?;
            for at in list {
                out.write_doc(postings.docs[at], postings.freqs[at], &[]);
            }
            out.close_term()?;
        }
        out.close()
    };
    write().map_err(IndexError::engine("write posting lists"))
}
