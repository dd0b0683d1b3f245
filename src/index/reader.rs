//! One open generation: documents, definitions, cards, tags, audiences. Immutable and shared by threads.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tantivy::directory::OwnedBytes;
use tantivy::index::SegmentReader;
use tantivy::schema::IndexRecordOption;
use tantivy::{Directory, Index, InvertedIndexReader};

use super::directory::{CARDS_FILE, DEFINITIONS_FILE, impacts_file};
use super::impacts::Impacts;
use super::manifest::{MANIFEST_FILE, Manifest};
use super::records::RecordReader;
use super::schema::{AUDIENCE, Fields, LEN2};
use super::segment::segment_id;
use super::spool::{VERSION_BYTES, decode};
use super::topk::Norms;
use super::{Bm25, IndexError};
use crate::catalog::{Operation, Security};

/// An open generation.
pub struct Reader {
    manifest: Manifest,
    pub(super) segments: Vec<Segment>,
    /// Twice the weighted length of every document.
    pub(super) len2: Vec<u32>,
    norms: Norms,
    /// Every document's audience; empty when there is only one.
    audiences: Vec<u32>,
    /// Documents of every audience.
    audience_totals: Vec<u64>,
    /// The folded tags, sorted, each with the audiences whose operations carry it.
    tags: Vec<(String, Vec<u32>)>,
    definitions: RecordReader,
    cards: RecordReader,
}

/// One segment, its documents numbered from `base`.
pub(super) struct Segment {
    pub(super) base: u32,
    pub(super) documents: u32,
    pub(super) impacts: Impacts,
    pub(super) audience: Arc<InvertedIndexReader>,
    pub(super) weighted: Arc<InvertedIndexReader>,
    /// In the order of `FieldName::ALL`.
    pub(super) by_name: Vec<Arc<InvertedIndexReader>>,
    pub(super) tag: Arc<InvertedIndexReader>,
}

/// A card as it is stored: the JSON object that was rendered at build.
#[derive(Debug, Clone)]
pub struct StoredCard {
    bytes: OwnedBytes,
    name_end: usize,
}

impl StoredCard {
    /// The tool's name.
    pub fn name(&self) -> &[u8] {
        &self.bytes[4..self.name_end]
    }

    /// The card's JSON object.
    pub fn json(&self) -> &[u8] {
        &self.bytes[self.name_end..]
    }
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader")
            .field("operations", &self.manifest.operations)
            .field("revision", &self.manifest.revision)
            .finish_non_exhaustive()
    }
}

impl Reader {
    pub(super) fn open(directory: &dyn Directory) -> Result<Self, IndexError> {
        let bytes = directory
            .atomic_read(Path::new(MANIFEST_FILE))
            .map_err(|error| {
                IndexError::engine("read the manifest")(tantivy::TantivyError::from(error))
            })?;
        let manifest = Manifest::read(&bytes)?;
        let open_records = |name: &'static str, compressed: bool| {
            let file = directory.open_read(Path::new(name)).map_err(|error| {
                IndexError::engine("open a record file")(tantivy::TantivyError::from(error))
            })?;
            let records = RecordReader::open(name, &file, compressed)?;
            if records.len() != manifest.operations as usize {
                return Err(IndexError::damaged(
                    name,
                    "it does not hold one record an operation",
                ));
            }
            Ok(records)
        };
        let definitions = open_records(DEFINITIONS_FILE, true)?;
        let cards = open_records(CARDS_FILE, false)?;
        let index =
            Index::open(directory.box_clone()).map_err(IndexError::engine("open the index"))?;
        let fields = Fields::new();
        if index.schema() != fields.schema {
            return Err(IndexError::damaged(
                "meta.json",
                "its schema is not that of this format",
            ));
        }
        let mut reader = Self {
            segments: Vec::new(),
            len2: Vec::with_capacity(manifest.operations as usize),
            norms: Norms::new(Bm25 {
                operations: 0.0,
                average: 0.0,
            }),
            audiences: Vec::new(),
            audience_totals: vec![0; manifest.audiences.len()],
            tags: Vec::new(),
            manifest,
            definitions,
            cards,
        };
        let mut tags = BTreeMap::new();
        reader.open_segments(directory, &index, &fields, &mut tags)?;
        reader.norms = Norms::new(reader.statistics());
        reader.tags = tags.into_iter().collect();
        Ok(reader)
    }

    fn open_segments(
        &mut self,
        directory: &dyn Directory,
        index: &Index,
        fields: &Fields,
        tags: &mut BTreeMap<String, Vec<u32>>,
    ) -> Result<(), IndexError> {
        let reading = "read a segment";
        let metas = index
            .searchable_segment_metas()
            .map_err(IndexError::engine(reading))?;
        let mut base = 0u32;
        for (number, entry) in self.manifest.segments.iter().enumerate() {
            let meta = segment_id(&entry.id)
                .and_then(|id| metas.iter().find(|meta| meta.id() == id))
                .filter(|meta| meta.max_doc() == entry.operations && !meta.has_deletes())
                .ok_or_else(|| {
                    IndexError::damaged(MANIFEST_FILE, "it names a segment that is not there")
                })?;
            let segment = SegmentReader::open(&index.segment(meta.clone()))
                .map_err(IndexError::engine(reading))?;
            let inverted = |field| {
                segment
                    .inverted_index(field)
                    .map_err(IndexError::engine(reading))
            };
            let file = impacts_file(number);
            let impacts = directory
                .open_read(Path::new(&file))
                .map_err(tantivy::TantivyError::from)
                .and_then(|file| Ok(file.read_bytes()?))
                .map_err(IndexError::engine("open the impact table"))?;
            let impacts = Impacts::open(&file, impacts)?;
            let opened = Segment {
                base,
                documents: entry.operations,
                impacts,
                audience: inverted(fields.audience)?,
                weighted: inverted(fields.weighted)?,
                by_name: fields
                    .by_name
                    .iter()
                    .map(|&field| inverted(field))
                    .collect::<Result<_, _>>()?,
                tag: inverted(fields.tag)?,
            };
            let read_column = |name: &str| -> Result<Vec<u64>, IndexError> {
                let column = segment
                    .fast_fields()
                    .u64(name)
                    .map_err(IndexError::engine(reading))?;
                let mut values = vec![0u64; entry.operations as usize];
                column.values.get_range(0, &mut values);
                Ok(values)
            };
            let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
            self.len2.extend(read_column(LEN2)?.into_iter().map(narrow));
            let audiences: Vec<u32> = read_column(AUDIENCE)?.into_iter().map(narrow).collect();
            for &audience in &audiences {
                *self
                    .audience_totals
                    .get_mut(audience as usize)
                    .ok_or_else(|| {
                        IndexError::damaged(MANIFEST_FILE, "an audience number is not in its list")
                    })? += 1;
            }
            collect_tags(&opened, &audiences, self.manifest.audiences.len(), tags)
                .map_err(IndexError::engine(reading))?;
            if self.manifest.audiences.len() > 1 {
                self.audiences.extend(audiences);
            }
            base += entry.operations;
            self.segments.push(opened);
        }
        Ok(())
    }

    /// The number of operations of the generation.
    pub fn len(&self) -> u32 {
        self.manifest.operations
    }

    /// Whether the catalogue is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the generation says of itself.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The distinct requirements of its operations, by audience number.
    pub fn audiences(&self) -> &[Security] {
        &self.manifest.audiences
    }

    /// The audience of a document.
    pub fn audience(&self, document: u32) -> u32 {
        self.audiences.get(document as usize).copied().unwrap_or(0)
    }

    pub(super) fn norms(&self) -> &Norms {
        &self.norms
    }

    /// How many operations the shown audiences hold together.
    pub fn total(&self, shown: &[bool]) -> u64 {
        self.audience_totals
            .iter()
            .zip(shown)
            .filter(|(_, shown)| **shown)
            .map(|(total, _)| total)
            .sum()
    }

    /// The folded tags that operations of the shown audiences carry, ascending; `None` when there is none
    /// or more than `limit`.
    pub fn vocabulary(&self, shown: &[bool], limit: usize) -> Option<Vec<&str>> {
        let mut visible = self.tags.iter().filter(|(_, audiences)| {
            audiences
                .iter()
                .any(|&audience| shown.get(audience as usize) == Some(&true))
        });
        let tags: Vec<&str> = visible
            .by_ref()
            .take(limit)
            .map(|(tag, _)| tag.as_str())
            .collect();
        (!tags.is_empty() && visible.next().is_none()).then_some(tags)
    }

    /// The document of a name, if the generation holds it.
    pub fn find(&self, name: &str) -> Result<Option<u32>, IndexError> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let card = self.card(middle)?;
            match card.name().cmp(name.as_bytes()) {
                std::cmp::Ordering::Equal => return Ok(Some(middle)),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Ok(None)
    }

    /// The card of a document.
    pub fn card(&self, document: u32) -> Result<StoredCard, IndexError> {
        let bytes = self.cards.get(document as usize)?;
        let name_end = bytes
            .first_chunk::<4>()
            .and_then(|length| (u32::from_le_bytes(*length) as usize).checked_add(4))
            .filter(|&end| end <= bytes.len())
            .ok_or_else(|| {
                IndexError::damaged(CARDS_FILE, format!("record {document}: it has no name"))
            })?;
        Ok(StoredCard { bytes, name_end })
    }

    /// The operation of a document and the version of its definition.
    pub fn operation(&self, document: u32) -> Result<(Operation, String), IndexError> {
        let bytes = self.definitions.get(document as usize)?;
        let torn = || {
            IndexError::damaged(
                DEFINITIONS_FILE,
                format!("record {document}: it has no version"),
            )
        };
        let (version, operation) = bytes.split_at_checked(VERSION_BYTES).ok_or_else(torn)?;
        let version = std::str::from_utf8(version).map_err(|_| torn())?.to_owned();
        Ok((decode(operation, DEFINITIONS_FILE)?, version))
    }
}

/// Adds a segment's tags with the audiences that carry them.
fn collect_tags(
    segment: &Segment,
    audiences: &[u32],
    audience_count: usize,
    tags: &mut BTreeMap<String, Vec<u32>>,
) -> std::io::Result<()> {
    let mut terms = segment.tag.terms().stream()?;
    let mut seen = vec![false; audience_count];
    while let Some((term, info)) = terms.next() {
        let carriers = tags
            .entry(String::from_utf8_lossy(term).into_owned())
            .or_default();
        if audience_count == 1 {
            *carriers = vec![0];
            continue;
        }
        for &audience in carriers.iter() {
            seen[audience as usize] = true;
        }
        let mut list = segment
            .tag
            .read_block_postings_from_terminfo(info, IndexRecordOption::Basic)?;
        while !list.docs().is_empty() {
            for &document in list.docs() {
                // Numbers of a damaged file may lead anywhere.
                let audience = audiences.get(document as usize).copied();
                let mark = audience.and_then(|audience| seen.get_mut(audience as usize));
                *mark.ok_or_else(|| {
                    std::io::Error::new(
                        std::io::ErrorKind::InvalidData,
                        "the tags name an operation that is not there",
                    )
                })? = true;
            }
            list.advance();
        }
        carriers.clear();
        for (audience, seen) in (0u32..).zip(&mut seen) {
            if std::mem::take(seen) {
                carriers.push(audience);
            }
        }
    }
    Ok(())
}
