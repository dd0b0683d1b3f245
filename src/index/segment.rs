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
use tantivy::postings::{FieldSerializer, InvertedIndexSerializer};
use tantivy::schema::Field;
use tantivy::store::{Compressor, StoreWriter};
use tantivy::{Directory, Index, IndexWriter, TantivyDocument};

use super::directory::impacts_file;
use super::impacts::ImpactWriter;
use super::postings::{Postings, Weigh, invert, invert_sets};
use super::schema::{AUDIENCE, Fields, LEN2};
use super::vocabulary::PrefixTerms;
use super::{Bm25, FieldName, IndexError};

/// One document as the segment writer needs it.
pub(super) struct SegmentDocument<'a> {
    /// Its encoded entries.
    pub(super) entries: &'a [u8],
    pub(super) len2: u32,
    pub(super) audience: u32,
    /// Ordinals into the sorted facet vocabulary, distinct.
    pub(super) tags: &'a [u32],
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
    /// How many bytes of postings may be held at once.
    pub(super) memory_bytes: usize,
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
    let fields = shared.fields;
    let failed = "write a segment";
    let mut serializer =
        InvertedIndexSerializer::open(segment).map_err(IndexError::engine(failed))?;
    let norms: Vec<f64> = documents
        .iter()
        .map(|document| shared.statistics.norm(f64::from(document.len2) / 2.0))
        .collect();
    let mut impacts = ImpactWriter::new(documents.len());
    write_prefix_field(
        &mut serializer,
        fields.weighted,
        shared,
        documents,
        Weigh::AllFields,
        |docs, freqs| {
            impacts.push(docs, freqs, |document| norms[document as usize]);
        },
    )?;
    drop(norms);
    for (name, field) in FieldName::ALL.into_iter().zip(fields.by_name) {
        write_prefix_field(
            &mut serializer,
            field,
            shared,
            documents,
            Weigh::One(name),
            |_, _| {},
        )?;
    }
    let facet = invert_sets(
        shared.tags.len(),
        documents.iter().map(|document| document.tags),
    );
    write_field(&mut serializer, fields.tag, shared.tags, &facet)?;
    let audiences: Vec<[u8; 8]> = (0..shared.audiences as u64).map(u64::to_be_bytes).collect();
    let members = documents
        .iter()
        .map(|document| std::slice::from_ref(&document.audience));
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

/// Writes one prefix field, partition by partition; `seen` is told every list.
fn write_prefix_field(
    serializer: &mut InvertedIndexSerializer,
    field: Field,
    shared: &Shared<'_>,
    documents: &[SegmentDocument<'_>],
    weigh: Weigh,
    mut seen: impl FnMut(&[u32], &[u32]),
) -> Result<(), IndexError> {
    let failed = "write posting lists";
    // The engine's own scoring is never used on these fields, so its total of tokens is not kept.
    let mut out = serializer
        .new_field(field, 0, None)
        .map_err(IndexError::engine(failed))?;
    invert(
        shared.terms,
        documents,
        weigh,
        shared.memory_bytes,
        |postings| {
            for (term, docs, freqs) in postings.lists() {
                seen(docs, freqs);
                write_list(&mut out, shared.terms.terms[term].as_bytes(), docs, freqs)?;
            }
            Ok(())
        },
    )
    .and_then(|()| out.close())
    .map_err(IndexError::engine(failed))
}

/// Writes a field whose lists are all at hand.
fn write_field<T: AsRef<[u8]>>(
    serializer: &mut InvertedIndexSerializer,
    field: Field,
    terms: &[T],
    postings: &Postings,
) -> Result<(), IndexError> {
    let mut write = || -> std::io::Result<()> {
        let mut out = serializer.new_field(field, 0, None)?;
        for (term, docs, freqs) in postings.lists() {
            write_list(&mut out, terms[term].as_ref(), docs, freqs)?;
        }
        out.close()
    };
    write().map_err(IndexError::engine("write posting lists"))
}

fn write_list(
    out: &mut FieldSerializer<'_>,
    term: &[u8],
    docs: &[u32],
    freqs: &[u32],
) -> std::io::Result<()> {
    let df = u32::try_from(docs.len()).unwrap_or(u32::MAX);
    out.new_term(term, df, true)?;
    for (&document, &freq) in docs.iter().zip(freqs) {
        out.write_doc(document, freq, &[]);
    }
    out.close_term()
}
