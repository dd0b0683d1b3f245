//! Whether sources are still what a catalogue was made from.
//!
//! Owns: the fingerprint of sources, taken from the very bytes that were read, and its comparison with what
//! the sources are now. Must never trust a URL without asking its server, nor vouch for a source that could not
//! be read or that moved while it was.
//!
//! A fingerprint holds what was named, what was found, the options, and of every source its size, its time
//! and the SHA-256 of its bytes. Equal size and time are trusted as they are; another time lets the bytes
//! decide. So a check of a million operations that did not change costs a look at each file. A URL is asked for
//! with what its server said of it the last time; a server that answers that nothing changed is believed.
//! What documents refer to counts like the documents.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::files::{FileState, Stamp};
use super::parse::DOCUMENT_BYTES_MAX;
use super::sources::{Expanded, as_url, expand};
use super::{LoadError, Loader, OpenedSource, ReadOptions, SourceTarget};
use crate::clock;
use crate::http::Validators;
use crate::json::{hex, sha256_hex};

/// File systems tell times as coarsely as this. What was changed less than this before it was read could be
/// changed again without a sign, so its time is not trusted and its bytes decide.
const TIME_STEP_MAX: Duration = Duration::from_secs(2);

/// Bytes read at once when a source is hashed for itself.
const HASH_BUFFER_BYTES: usize = 256 * 1024;

/// What a catalogue was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Fingerprint {
    /// The program that read: another one may read the same bytes differently.
    made_by: String,
    /// The options, hashed.
    options: String,
    /// The sources as they were named.
    named: Vec<String>,
    /// What they led to, in order.
    items: Vec<Entry>,
    /// What the documents refer to, in the order of their names.
    references: Vec<Entry>,
}

/// One source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Entry {
    source: String,
    bytes: u64,
    /// Seconds and nanoseconds since 1970; none when the time is not to be trusted.
    modified: Option<(u64, u32)>,
    /// Empty for what a document refers to and could not be opened.
    sha256: String,
    /// What a server said of it.
    etag: Option<String>,
    last_modified: Option<String>,
}

/// What became of the sources since a fingerprint was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checked {
    /// They are the same. When only times had moved, this is the fingerprint that spares the next look.
    Same(Option<Fingerprint>),
    /// They are not, or cannot be vouched for; a sentence says what is different.
    Changed(String),
}

/// A source was written while it was read, so that what was read may be half of each.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{source_name}` was changed while it was read")]
pub struct SourceChanged {
    /// The source.
    pub source_name: String,
}

/// A loader that takes the fingerprint of what is read through it.
pub struct Recorder<'a> {
    loader: &'a dyn Loader,
    named: Vec<String>,
    overlays: Vec<PathBuf>,
    options: String,
    listed: Listed,
    began: SystemTime,
    seen: Arc<Mutex<BTreeMap<String, Seen>>>,
}

/// What was seen of one source.
struct Seen {
    target: SourceTarget,
    /// Its state before it was opened.
    state: Option<FileState>,
    /// Size and hash, when it was read to its end.
    content: Option<(u64, String)>,
    /// Whether it could be opened at all.
    is_open: bool,
    /// Whether it was read several times and was not the same each time.
    is_torn: bool,
    validators: Validators,
}

/// What sources lead to.
#[derive(PartialEq, Eq)]
struct Listed {
    targets: Vec<SourceTarget>,
    /// Whether something that was named could not be listed.
    is_whole: bool,
}

impl Listed {
    /// What is read: what the sources lead to, and then the overlays.
    fn of(sources: &[String], overlays: &[PathBuf]) -> Self {
        let Expanded {
            items, diagnostics, ..
        } = expand(sources);
        let overlays = overlays.iter().cloned().map(SourceTarget::File);
        let targets = items.into_iter().map(|item| item.target);
        Self {
            targets: targets.chain(overlays).collect(),
            is_whole: diagnostics.is_empty(),
        }
    }
}

fn label(target: &SourceTarget) -> String {
    match target {
        SourceTarget::File(path) => path.display().to_string(),
        SourceTarget::Url(url) => url.to_string(),
    }
}

/// Every option by its debug form: one that is added later cannot be forgotten here.
fn hashed(options: &ReadOptions) -> String {
    let mut shaping = options.clone();
    // How many threads read changes no result.
    shaping.threads = None;
    sha256_hex(format!("{shaping:?}").as_bytes())
}

fn overlays(options: &ReadOptions) -> Vec<PathBuf> {
    let files = options.overlay_files().into_iter();
    files.map(Path::to_owned).collect()
}

fn made_by() -> String {
    format!("{} {}", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
}

/// A time that can be trusted to move with the next change.
fn settled(modified: Option<SystemTime>, began: SystemTime) -> Option<(u64, u32)> {
    let modified = modified?;
    if modified.checked_add(TIME_STEP_MAX)? >= began {
        return None;
    }
    let since = modified.duration_since(UNIX_EPOCH).ok()?;
    Some((since.as_secs(), since.subsec_nanos()))
}

impl<'a> Recorder<'a> {
    /// Begins to record a reading of `sources` through `loader`.
    pub fn new(loader: &'a dyn Loader, sources: &[String], options: &ReadOptions) -> Self {
        Self {
            loader,
            named: sources.to_vec(),
            options: hashed(options),
            began: clock::now(),
            listed: Listed::of(sources, &overlays(options)),
            overlays: overlays(options),
            seen: Arc::default(),
        }
    }

    /// Ends the record: the fingerprint of what was read, or `None` when something could not be read and so
    /// cannot be vouched for.
    ///
    /// # Errors
    ///
    /// A source is not what it was before it was read. What was read must not be used.
    pub fn finish(self) -> Result<Option<Fingerprint>, SourceChanged> {
        let mut seen = std::mem::take(&mut *lock(&self.seen));
        for (source, seen) in &mut seen {
            if seen.is_torn {
                return Err(SourceChanged {
                    source_name: source.clone(),
                });
            }
            let SourceTarget::File(path) = &seen.target else {
                continue;
            };
            if seen.is_open && seen.content.is_none() {
                // Its reader had enough before the end.
                seen.content = hash_file(path).ok();
            }
            if FileState::of(path) != seen.state {
                return Err(SourceChanged {
                    source_name: source.clone(),
                });
            }
        }
        if Listed::of(&self.named, &self.overlays) != self.listed {
            return Err(SourceChanged {
                source_name: self.named.join(" "),
            });
        }
        if !self.listed.is_whole {
            return Ok(None);
        }
        let began = self.began;
        let entries = self.listed.targets.iter().map(|target| {
            let source = label(target);
            let seen = seen.get(&source)?;
            seen.content.as_ref()?;
            seen.entry(source, began)
        });
        let items: Option<Vec<Entry>> = entries.collect();
        let listed: HashSet<String> = self.listed.targets.iter().map(label).collect();
        let references = seen
            .iter()
            .filter(|(source, _)| !listed.contains(*source))
            .map(|(source, seen)| seen.entry(source.clone(), began));
        let references: Option<Vec<Entry>> = references.collect();
        Ok(items
            .zip(references)
            .map(|(items, references)| Fingerprint {
                made_by: made_by(),
                options: self.options,
                named: self.named,
                items,
                references,
            }))
    }

    /// The files that were opened beside those that are named, as they were before that.
    pub fn referenced(&self) -> Stamp {
        let listed: HashSet<String> = self.listed.targets.iter().map(label).collect();
        let seen = lock(&self.seen);
        let files = seen
            .iter()
            .filter(|(source, _)| !listed.contains(*source))
            .filter_map(|(_, seen)| match &seen.target {
                SourceTarget::File(path) => Some((path.clone(), seen.state)),
                SourceTarget::Url(_) => None,
            });
        Stamp::of_seen(files.collect())
    }
}

impl Seen {
    /// What is kept of it; none when it was opened and not read to its end, so that nothing vouches for it.
    fn entry(&self, source: String, began: SystemTime) -> Option<Entry> {
        let (bytes, sha256) = match &self.content {
            Some(content) => content.clone(),
            None if !self.is_open => (0, String::new()),
            None => return None,
        };
        let modified = self.state.and_then(|state| state.modified);
        Some(Entry {
            source,
            bytes,
            modified: settled(modified, began),
            sha256,
            etag: self.validators.etag.clone(),
            last_modified: self.validators.last_modified.clone(),
        })
    }
}

impl Loader for Recorder<'_> {
    fn open(
        &self,
        target: &SourceTarget,
        bytes_max: Option<u64>,
    ) -> Result<Box<dyn Read + Send>, LoadError> {
        let state = match target {
            SourceTarget::File(path) => FileState::of(path),
            SourceTarget::Url(_) => None,
        };
        let opened = self
            .loader
            .open_unless(target, bytes_max, &Validators::default())
            .and_then(|opened| {
                // Nothing was asked about, so there is always something.
                let nothing = || LoadError::Refused("nothing was sent".to_owned());
                opened.ok_or_else(nothing)
            });
        let source = label(target);
        let validators = opened.as_ref().map(|opened| opened.validators.clone());
        let seen = Seen {
            target: target.clone(),
            state,
            content: None,
            is_open: opened.is_ok(),
            is_torn: false,
            validators: validators.unwrap_or_default(),
        };
        {
            let mut all = lock(&self.seen);
            match all.get_mut(&source) {
                // A file that several documents refer to must be the same each time.
                Some(known) if known.state == seen.state => {
                    known.is_open |= seen.is_open;
                    known.validators = seen.validators;
                }
                Some(known) => known.is_torn = true,
                None => {
                    all.insert(source.clone(), seen);
                }
            }
        }
        Ok(Box::new(Hashing {
            inner: opened?.stream,
            digest: Sha256::new(),
            bytes: 0,
            source,
            seen: Arc::clone(&self.seen),
        }))
    }
}

/// Hashes what is read through it and tells the record at the end.
struct Hashing {
    inner: Box<dyn Read + Send>,
    digest: Sha256,
    bytes: u64,
    source: String,
    seen: Arc<Mutex<BTreeMap<String, Seen>>>,
}

impl Read for Hashing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.digest.update(&buffer[..read]);
        self.bytes += read as u64;
        if read == 0 && !buffer.is_empty() {
            let content = (self.bytes, hex(&self.digest.clone().finalize()));
            if let Some(seen) = lock(&self.seen).get_mut(&self.source) {
                seen.is_torn |= seen.content.as_ref().is_some_and(|known| *known != content);
                seen.content = Some(content);
            }
        }
        Ok(read)
    }
}

/// The record is whole after every change to it, so that a panic elsewhere spoils nothing.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn hash_file(path: &Path) -> io::Result<(u64, String)> {
    hash(&mut std::fs::File::open(path)?)
}

/// Size and hash of a stream.
fn hash(stream: &mut dyn Read) -> io::Result<(u64, String)> {
    let mut digest = Sha256::new();
    let mut buffer = vec![0; HASH_BUFFER_BYTES];
    let mut bytes = 0;
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok((bytes, hex(&digest.finalize()))),
            Ok(read) => {
                digest.update(&buffer[..read]);
                bytes += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

impl Fingerprint {
    /// Compares with what the sources are now. URLs are fetched through `loader`.
    pub fn check(&self, sources: &[String], options: &ReadOptions, loader: &dyn Loader) -> Checked {
        let changed = |what: &str| Checked::Changed(what.to_owned());
        if self.made_by != made_by() {
            return changed("another version of the program read them");
        }
        if self.named != sources {
            return changed("other sources are named");
        }
        if self.options != hashed(options) {
            return changed("the options are others");
        }
        let began = clock::now();
        let listed = Listed::of(sources, &overlays(options));
        let labels = listed.targets.iter().map(label);
        if !listed.is_whole || !labels.eq(self.items.iter().map(|item| item.source.as_str())) {
            return changed("files were added or taken away");
        }
        let mut fresh = self.clone();
        let references = self.references.iter().map(Entry::target);
        let references: Vec<SourceTarget> = references.collect();
        let targets = listed.targets.iter().chain(&references);
        let entries = fresh.items.iter_mut().chain(&mut fresh.references);
        for (entry, target) in entries.zip(targets) {
            let is_same = match target {
                _ if entry.is_absent() => loader.open(target, Some(DOCUMENT_BYTES_MAX)).is_err(),
                SourceTarget::File(path) => entry.holds_for(path, began),
                SourceTarget::Url(_) => entry.holds_at(target, loader),
            };
            if !is_same {
                return Checked::Changed(format!("`{}` is not what it was", entry.source));
            }
        }
        Checked::Same((fresh != *self).then_some(fresh))
    }
}

impl Fingerprint {
    /// The files that documents refer to, as they are now.
    pub fn referenced(&self) -> Stamp {
        let files = self
            .references
            .iter()
            .filter_map(|entry| match entry.target() {
                SourceTarget::File(path) => Some(path),
                SourceTarget::Url(_) => None,
            });
        Stamp::of_files(files)
    }
}

impl Entry {
    fn target(&self) -> SourceTarget {
        match as_url(&self.source) {
            Some(Ok(url)) => SourceTarget::Url(url),
            _ => SourceTarget::File(PathBuf::from(&self.source)),
        }
    }

    /// Whether there was nothing to be read.
    fn is_absent(&self) -> bool {
        self.sha256.is_empty()
    }

    /// Whether a URL holds what it did, asked with what its server said of it; takes over what it says now.
    fn holds_at(&mut self, target: &SourceTarget, loader: &dyn Loader) -> bool {
        let known = Validators {
            etag: self.etag.clone(),
            last_modified: self.last_modified.clone(),
        };
        let Ok(opened) = loader.open_unless(target, None, &known) else {
            return false;
        };
        let Some(OpenedSource {
            mut stream,
            validators,
        }) = opened
        else {
            return true;
        };
        let is_same = hash(&mut stream).is_ok_and(|content| self.is_content(&content));
        self.etag = validators.etag;
        self.last_modified = validators.last_modified;
        is_same
    }

    fn is_content(&self, (bytes, sha256): &(u64, String)) -> bool {
        self.bytes == *bytes && self.sha256 == *sha256
    }

    /// Whether a file holds what it did; takes its time over when its bytes had to tell.
    fn holds_for(&mut self, path: &Path, began: SystemTime) -> bool {
        let Some(state) = FileState::of(path).filter(|state| state.bytes == self.bytes) else {
            return false;
        };
        let modified = settled(state.modified, began);
        if modified.is_some() && modified == self.modified {
            return true;
        }
        let is_same = hash_file(path).is_ok_and(|content| self.is_content(&content));
        // What moved meanwhile is looked at again next time.
        self.modified = modified.filter(|_| FileState::of(path) == Some(state));
        is_same
    }
}

#[cfg(test)]
mod tests;
