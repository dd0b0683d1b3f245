//! Whether sources are still what a catalogue was made from.
//!
//! Owns: the fingerprint of sources, taken from the very bytes that were read, and its comparison with what
//! the sources are now. Must never trust a URL without fetching it, nor vouch for a source that could not be
//! read or that moved while it was.
//!
//! A fingerprint holds what was named, what was found, the options, and of every source its size, its time
//! and the SHA-256 of its bytes. Equal size and time are trusted as they are; another time lets the bytes
//! decide. So a check of a million operations that did not change costs a look at each file.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::files::FileState;
use super::sources::{Expanded, expand};
use super::{LoadError, Loader, ReadOptions, SourceTarget};
use crate::clock;
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
}

/// One source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Entry {
    source: String,
    bytes: u64,
    /// Seconds and nanoseconds since 1970; none when the time is not to be trusted.
    modified: Option<(u64, u32)>,
    sha256: String,
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
        let entries = self.listed.targets.iter().map(|target| {
            let source = label(target);
            let seen = seen.get(&source)?;
            let (bytes, sha256) = seen.content.clone()?;
            let modified = seen.state.and_then(|state| state.modified);
            Some(Entry {
                source,
                bytes,
                modified: settled(modified, self.began),
                sha256,
            })
        });
        Ok(entries.collect::<Option<_>>().map(|items| Fingerprint {
            made_by: made_by(),
            options: self.options,
            named: self.named,
            items,
        }))
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
        let opened = self.loader.open(target, bytes_max);
        let source = label(target);
        let seen = Seen {
            target: target.clone(),
            state,
            content: None,
            is_open: opened.is_ok(),
        };
        lock(&self.seen).insert(source.clone(), seen);
        Ok(Box::new(Hashing {
            inner: opened?,
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
        for (entry, target) in fresh.items.iter_mut().zip(&listed.targets) {
            let is_same = match target {
                SourceTarget::File(path) => entry.holds_for(path, began),
                SourceTarget::Url(_) => loader
                    .open(target, None)
                    .ok()
                    .and_then(|mut stream| hash(&mut stream).ok())
                    .is_some_and(|content| entry.is_content(&content)),
            };
            if !is_same {
                return Checked::Changed(format!("`{}` is not what it was", entry.source));
            }
        }
        Checked::Same((fresh != *self).then_some(fresh))
    }
}

impl Entry {
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
