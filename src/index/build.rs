//! The builder: takes operations in any order, writes one immutable generation in name order.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use sha2::{Digest, Sha256};
use tantivy::directory::{RamDirectory, TerminatingWrite, WritePtr};
use tantivy::{Directory, Index, IndexSettings};

use super::directory::{BuildDirectory, CARDS_FILE, DEFINITIONS_FILE};
use super::entries::Tokens;
use super::manifest::{FORMAT_VERSION, MANIFEST_FILE, Manifest, SegmentEntry};
use super::records::{RecordWriter, train};
use super::schema::{Fields, TOKENIZER_VERSION};
use super::segment::{SegmentDocument, Shared, write_segments};
use super::spool::{Record, Spool, SpoolPlace, decode};
use super::vocabulary::{Interner, PrefixTerms};
use super::{Bm25, IndexError, Reader};
use crate::catalog::{Operation, Security, Sink, SinkError};
use crate::text::fold;

/// The most operations one generation takes: document numbers are 32 bits and the engine keeps the top one.
const OPERATIONS_MAX: u32 = i32::MAX as u32;

/// At most this many records are read to train the dictionary of the definition store.
const DICTIONARY_SAMPLES_MAX: usize = 4_000;

/// How a generation is built.
#[derive(Debug, Clone, Copy)]
pub struct BuildOptions {
    /// Into how many segments the documents are split; results are the same for any number.
    pub segments: usize,
    /// How many bytes of postings may be held at once while they are inverted. What else a build holds
    /// grows with the catalogue: about 250 bytes an operation.
    pub memory_bytes: usize,
    /// Threads that build; none for as many as there are cores.
    pub threads: Option<usize>,
}

impl Default for BuildOptions {
    fn default() -> Self {
        Self {
            segments: 1,
            memory_bytes: 512 << 20,
            threads: None,
        }
    }
}

/// What was built.
#[derive(Debug)]
pub struct Built {
    /// The generation, open.
    pub reader: Reader,
    /// Size of all its files in bytes; 0 in memory.
    pub bytes: u64,
    /// Distinct words of the vocabulary.
    pub words: usize,
}

/// Operations that are tokenized and serialized together, on every core.
const BATCH_OPERATIONS: usize = 2_048;

/// Collects operations and builds a generation from them.
pub struct Builder {
    target: Target,
    options: BuildOptions,
    spool: Spool,
    words: Interner,
    tags: Interner,
    audiences: HashMap<Security, u32>,
    /// Taken and not yet processed; they come after `documents`.
    batch: Vec<Operation>,
    documents: Vec<Document>,
    entries: Vec<u8>,
    tag_lists: Vec<u32>,
    scratch: Vec<(u32, u8)>,
    /// Threads of the builder's own, when their number was chosen.
    pool: Option<Arc<rayon::ThreadPool>>,
}

enum Target {
    Memory(RamDirectory),
    Disk(BuildDirectory),
}

struct Document {
    name: Box<str>,
    entries: std::ops::Range<usize>,
    tags: std::ops::Range<usize>,
    len2: u32,
    audience: u32,
    record: SpoolPlace,
}

/// Threads of a chosen number; where the system gives none, the shared ones serve as well.
fn own_threads(threads: Option<usize>) -> Option<Arc<rayon::ThreadPool>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads?);
    pool.thread_name(|number| format!("build-{number}"))
        .build()
        .map(Arc::new)
        .inspect_err(|error| tracing::warn!(%error, "no threads of their own for the build"))
        .ok()
}

/// What of an operation can be made without the others.
struct Prepared {
    tokens: Tokens,
    record: Record,
}

impl Prepared {
    fn of(operation: &Operation) -> Result<Self, IndexError> {
        Ok(Self {
            tokens: Tokens::of(&operation.search_text()),
            record: Record::of(operation)?,
        })
    }
}

impl Builder {
    /// Builds into memory.
    pub fn in_memory(options: BuildOptions) -> Self {
        Self::new(
            Target::Memory(RamDirectory::create()),
            Spool::Memory(Vec::new()),
            options,
        )
    }

    /// Builds into a directory of generations, beside whatever serves there; nothing is visible to others
    /// until [`Self::finish`] has switched to the new generation.
    pub fn on_disk(out: &Path, options: BuildOptions) -> Result<Self, IndexError> {
        let directory = BuildDirectory::create(out)?;
        let spool = Spool::file(&directory.spool_path())?;
        Ok(Self::new(Target::Disk(directory), spool, options))
    }

    fn new(target: Target, spool: Spool, options: BuildOptions) -> Self {
        Self {
            target,
            options,
            spool,
            words: Interner::default(),
            tags: Interner::default(),
            audiences: HashMap::new(),
            batch: Vec::new(),
            documents: Vec::new(),
            entries: Vec::new(),
            tag_lists: Vec::new(),
            scratch: Vec::new(),
            pool: own_threads(options.threads),
        }
    }

    /// How many operations were taken.
    pub fn len(&self) -> usize {
        self.documents.len() + self.batch.len()
    }

    /// Whether none was taken yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes one operation; answers its ordinal in order of arrival.
    pub fn push(&mut self, operation: Operation) -> Result<u32, IndexError> {
        let ordinal = u32::try_from(self.len())
            .ok()
            .filter(|&ordinal| ordinal < OPERATIONS_MAX)
            .ok_or(IndexError::TooMany {
                max: OPERATIONS_MAX,
            })?;
        self.batch.push(operation);
        if self.batch.len() >= BATCH_OPERATIONS {
            self.process_batch()?;
        }
        Ok(ordinal)
    }

    /// Gives an operation that was taken another name.
    pub fn rename(&mut self, ordinal: u32, name: &str) -> Result<(), IndexError> {
        self.process_batch()?;
        let Some(old) = self.documents.get(ordinal as usize) else {
            return Ok(());
        };
        let record = self.spool.read(&old.record)?;
        let mut operation = decode(&record.operation, "spool")?;
        name.clone_into(&mut operation.definition.name);
        let document = self.document(&operation, &Prepared::of(&operation)?)?;
        self.documents[ordinal as usize] = document;
        Ok(())
    }

    /// Does on every core what needs nothing shared, then numbers words and spools records in order.
    fn process_batch(&mut self) -> Result<(), IndexError> {
        let batch = std::mem::take(&mut self.batch);
        let prepare = || batch.par_iter().map(Prepared::of).collect::<Result<_, _>>();
        let prepared: Vec<Prepared> = match &self.pool {
            Some(pool) => pool.install(prepare),
            None => prepare(),
        }?;
        for (operation, prepared) in batch.iter().zip(&prepared) {
            let document = self.document(operation, prepared)?;
            self.documents.push(document);
        }
        Ok(())
    }

    fn document(
        &mut self,
        operation: &Operation,
        prepared: &Prepared,
    ) -> Result<Document, IndexError> {
        let audiences = u32::try_from(self.audiences.len()).unwrap_or(u32::MAX);
        let audience = match self.audiences.get(&operation.security) {
            Some(&audience) => audience,
            None => *self
                .audiences
                .entry(operation.security.clone())
                .or_insert(audiences),
        };
        let first_tag = self.tag_lists.len();
        for tag in &operation.tags {
            let tag = self.tags.intern(&fold(tag));
            if !self.tag_lists[first_tag..].contains(&tag) {
                self.tag_lists.push(tag);
            }
        }
        let first_entry = self.entries.len();
        let len2 = prepared
            .tokens
            .encode(&mut self.words, &mut self.scratch, &mut self.entries);
        Ok(Document {
            name: operation.definition.name.as_str().into(),
            entries: first_entry..self.entries.len(),
            tags: first_tag..self.tag_lists.len(),
            len2,
            audience,
            record: self.spool.write(&prepared.record)?,
        })
    }

    /// Writes the generation and opens it. On disk it becomes the current one.
    pub fn finish(mut self) -> Result<Built, IndexError> {
        match self.pool.take() {
            Some(pool) => pool.install(|| self.write()),
            None => self.write(),
        }
    }

    fn write(mut self) -> Result<Built, IndexError> {
        self.process_batch()?;
        let order = self.name_order()?;
        let directory: Box<dyn Directory> = match &self.target {
            Target::Memory(directory) => Box::new(directory.clone()),
            Target::Disk(build) => build.open()?,
        };
        let mut audiences = vec![Security::default(); self.audiences.len()];
        for (security, &number) in &self.audiences {
            audiences[number as usize] = security.clone();
        }
        self.rank_tags();
        // Definitions and postings have nothing in common but the order of documents.
        let mut spool = std::mem::replace(&mut self.spool, Spool::Memory(Vec::new()));
        let (records, segments) = rayon::join(
            || write_records(&mut spool, &self.documents, &*directory, &order),
            || self.write_index(&*directory, &order, audiences.len()),
        );
        let revision = records?;
        let (segments, len2_total) = segments?;
        drop(spool);
        let manifest = Manifest {
            format: FORMAT_VERSION,
            tokenizer: TOKENIZER_VERSION,
            operations: u32::try_from(order.len()).unwrap_or(u32::MAX),
            len2_total,
            revision,
            segments,
            audiences,
            files: Vec::new(),
        };
        let words = self.words.len();
        let target = self.target;
        match target {
            Target::Memory(_) => {
                directory
                    .atomic_write(Path::new(MANIFEST_FILE), &manifest.to_bytes())
                    .map_err(IndexError::file("write", MANIFEST_FILE))?;
                Ok(Built {
                    reader: Reader::open(&*directory)?,
                    bytes: 0,
                    words,
                })
            }
            Target::Disk(build) => {
                drop(directory);
                let (path, bytes) = build.publish(manifest)?;
                Ok(Built {
                    reader: super::directory::open_generation(&path)?,
                    bytes,
                    words,
                })
            }
        }
    }

    /// Numbers tags anew by their sorted place: facet terms are written sorted, and arrived as they came.
    fn rank_tags(&mut self) {
        let mut rank_of_tag = vec![0u32; self.tags.len()];
        for (rank, (_, tag)) in (0u32..).zip(self.tags.sorted()) {
            rank_of_tag[tag as usize] = rank;
        }
        for tag in &mut self.tag_lists {
            *tag = rank_of_tag[*tag as usize];
        }
    }

    /// Writes the engine's part of the generation; answers its segments and the sum of twice the lengths.
    fn write_index(
        &self,
        directory: &dyn Directory,
        order: &[usize],
        audiences: usize,
    ) -> Result<(Vec<SegmentEntry>, u64), IndexError> {
        let documents: Vec<_> = order
            .iter()
            .map(|&ordinal| {
                let document = &self.documents[ordinal];
                SegmentDocument {
                    entries: &self.entries[document.entries.clone()],
                    len2: document.len2,
                    audience: document.audience,
                    tags: &self.tag_lists[document.tags.clone()],
                }
            })
            .collect();
        let per_segment = documents
            .len()
            .div_ceil(self.options.segments.max(1))
            .max(1);
        let slices: Vec<_> = documents.chunks(per_segment).collect();
        let fields = Fields::new();
        let terms = PrefixTerms::new(&self.words);
        let tags: Vec<&str> = self.tags.sorted().into_iter().map(|(tag, _)| tag).collect();
        let settings = IndexSettings::default();
        let index = Index::create(directory.box_clone(), fields.schema.clone(), settings)
            .map_err(IndexError::engine("create an index"))?;
        let len2_total: u64 = documents
            .iter()
            .map(|document| u64::from(document.len2))
            .sum();
        let shared = Shared {
            fields: &fields,
            terms: &terms,
            tags: &tags,
            audiences,
            statistics: Bm25::new(documents.len() as u64, len2_total),
            memory_bytes: self.options.memory_bytes,
        };
        let ids = write_segments(directory, &index, &shared, &slices)?;
        let segments = ids
            .into_iter()
            .zip(&slices)
            .map(|(id, slice)| SegmentEntry {
                id,
                operations: u32::try_from(slice.len()).unwrap_or(u32::MAX),
            });
        Ok((segments.collect(), len2_total))
    }

    /// Places in arrival order, sorted by name by code point; two equal names are refused.
    fn name_order(&self) -> Result<Vec<usize>, IndexError> {
        let mut order: Vec<usize> = (0..self.documents.len()).collect();
        order.sort_unstable_by(|&a, &b| self.documents[a].name.cmp(&self.documents[b].name));
        for pair in order.windows(2) {
            let name = &self.documents[pair[0]].name;
            if *name == self.documents[pair[1]].name {
                return Err(IndexError::DuplicateName {
                    name: name.to_string(),
                });
            }
        }
        Ok(order)
    }
}

impl Sink for Builder {
    fn operation(&mut self, operation: Operation) -> Result<u32, SinkError> {
        self.push(operation)
            .map_err(|error| SinkError(Box::new(error)))
    }

    fn rename(&mut self, ordinal: u32, name: &str) -> Result<(), SinkError> {
        Self::rename(self, ordinal, name).map_err(|error| SinkError(Box::new(error)))
    }
}

/// Writes definitions and cards in name order; answers the revision over all of it.
fn write_records(
    spool: &mut Spool,
    documents: &[Document],
    directory: &dyn Directory,
    order: &[usize],
) -> Result<String, IndexError> {
    let create = |name: &'static str| -> Result<WritePtr, IndexError> {
        directory.open_write(Path::new(name)).map_err(|error| {
            IndexError::engine("create a record file")(tantivy::TantivyError::from(error))
        })
    };
    let step = order.len().div_ceil(DICTIONARY_SAMPLES_MAX).max(1);
    let mut samples = Vec::new();
    for &ordinal in order.iter().step_by(step) {
        samples.push(spool.read(&documents[ordinal].record)?.stored());
    }
    let dictionary = train(&samples);
    drop(samples);
    let mut definitions = RecordWriter::compressed(create(DEFINITIONS_FILE)?, dictionary);
    let mut cards = RecordWriter::plain(create(CARDS_FILE)?);
    let mut digest = Sha256::new();
    for batch in order.chunks(BATCH_OPERATIONS) {
        let records: Vec<Record> = batch
            .iter()
            .map(|&ordinal| spool.read(&documents[ordinal].record))
            .collect::<Result<_, _>>()?;
        let stored: Vec<Vec<u8>> = records.par_iter().map(Record::stored).collect();
        definitions
            .push_all(&stored)
            .map_err(IndexError::file("write", DEFINITIONS_FILE))?;
        for record in &records {
            digest.update((record.operation.len() as u64).to_le_bytes());
            digest.update(&record.operation);
            cards
                .push(&record.card)
                .map_err(IndexError::file("write", CARDS_FILE))?;
        }
    }
    for (name, out) in [
        (DEFINITIONS_FILE, definitions.finish()),
        (CARDS_FILE, cards.finish()),
    ] {
        out.and_then(TerminatingWrite::terminate)
            .map_err(IndexError::file("write", name))?;
    }
    Ok(digest
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}
