//! From sources to an open generation, as often as asked for: read, or reused while they are what they were.
//!
//! Owns: when an index is built again, trying again when a source moved under the reading, and what must never
//! replace a catalogue that serves. Must never switch to a generation that was read from moving sources.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, bail};

use super::catalogue::{SourceLoader, accept, index_directory, open_index};
use super::finding::listed;
use super::progress::{Progress, Writing};
use crate::catalog::{self, Checked, Fingerprint, Recorder, Referenced, Report};
use crate::config::{SizeArgs, SourceArgs};
use crate::index::{self, Builder, Built, Provenance, Reader};

/// How often sources are read that change while they are read, before they are given up.
const READ_TRIES: usize = 3;

/// Between two of these readings: whoever writes a source is then likely done.
const READ_PAUSE: Duration = Duration::from_secs(1);

/// An open generation, with what building it came to.
pub(super) struct Loaded {
    pub(super) reader: Reader,
    /// Bytes on disk; 0 in memory, and where they were not counted.
    pub(super) bytes: u64,
    /// Distinct words; 0 when the generation was opened and not built.
    pub(super) words: usize,
    /// Whether an index was reused because its sources had not changed.
    pub(super) is_reused: bool,
    /// The documents it was read from and the files they refer to; empty when nothing tells.
    documents: Vec<String>,
}

impl Loaded {
    fn opened(reader: Reader) -> Self {
        Self {
            reader,
            bytes: 0,
            words: 0,
            is_reused: false,
            documents: Vec::new(),
        }
    }
}

impl From<Built> for Loaded {
    fn from(built: Built) -> Self {
        Self {
            reader: built.reader,
            bytes: built.bytes,
            words: built.words,
            is_reused: false,
            documents: Vec::new(),
        }
    }
}

/// Where a command's catalogue comes from, every time it is asked for.
pub(super) struct Supply {
    source: SourceArgs,
    /// The same with the configuration file as it was read last and was good.
    settled: Mutex<SourceArgs>,
    /// Where the index is kept; in memory otherwise.
    index: Option<PathBuf>,
    /// The index directory that is the source, once it was opened: it stays one, whatever happens to it.
    opened: OnceLock<PathBuf>,
    /// What was read last.
    known: Mutex<Option<Fingerprint>>,
    /// The documents of the generation that serves and the files they refer to; empty when nothing tells.
    served: Mutex<Vec<String>>,
    /// Those of these files that were looked at last, for whoever watches them.
    referenced: Referenced,
}

/// What may be served.
#[derive(Clone, Copy)]
enum Purpose<'a> {
    /// There is nothing yet.
    First,
    /// Something serves, made from these documents: neither a catalogue without operations nor one that lost
    /// a document to a fault must replace it.
    Again {
        served: &'a [String],
        /// What the sources are known not to be any more.
        changed: Option<&'a Fingerprint>,
    },
}

impl Supply {
    pub(super) fn new(source: &SourceArgs, index: Option<&Path>) -> Self {
        Self {
            settled: Mutex::new(source.clone()),
            source: source.clone(),
            index: index.map(Path::to_owned),
            opened: OnceLock::new(),
            known: Mutex::default(),
            served: Mutex::default(),
            referenced: Referenced::default(),
        }
    }

    /// The files that documents refer to, as they were when they were read last.
    pub(super) fn referenced(&self) -> Referenced {
        self.referenced.clone()
    }

    /// The first generation: an index directory is opened; other sources are read, unless the index that is
    /// kept is theirs already.
    pub(super) fn first(&self) -> anyhow::Result<Loaded> {
        let source = self.settle()?;
        let directory = index_directory(&source)?;
        if let (Some(directory), true) = (&directory, self.has_build_options()) {
            bail!(
                "`{}` is an index: --index, --base-url, --prefix, --overlay, --allow-ref-host and the limits of \
                 definitions belong to the command that builds it",
                directory.display()
            );
        }
        match directory {
            Some(directory) => {
                let directory = self.opened.get_or_init(|| directory);
                Ok(Loaded::opened(open_index(directory)?))
            }
            None => self.load(&source, Purpose::First),
        }
    }

    /// The flags with the configuration file as it is now; a broken one is an error, and changes nothing.
    fn settle(&self) -> anyhow::Result<SourceArgs> {
        let source = self.source.settled()?;
        self.last().clone_from(&source);
        Ok(source)
    }

    /// Everything in the file system that decides what is read, by the configuration that was read last.
    pub(super) fn looked_at(&self) -> Vec<String> {
        self.last().looked_at()
    }

    fn last(&self) -> std::sync::MutexGuard<'_, SourceArgs> {
        // What it guards is replaced as a whole.
        self.settled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next generation, or `None` when the sources are what they were.
    pub(super) fn again(&self) -> anyhow::Result<Option<Loaded>> {
        if let Some(directory) = self.opened.get() {
            return Ok(Some(Loaded::opened(open_index(directory)?)));
        }
        let outbound = self.last().outbound();
        let source = self.settle()?;
        if source.outbound() != outbound {
            tracing::warn!(
                "the configuration names other hosts in `allowHosts` or `baseUrl`: which private addresses may be \
                 called stays as it was until the next start"
            );
        }
        let loader = SourceLoader::new(&source)?;
        let known = self.known().clone();
        if let Some(known) = &known {
            match known.check(&source.sources, &source.read_options(), &loader) {
                Checked::Same(fresh) => {
                    if fresh.is_some() {
                        *self.known() = fresh;
                    }
                    return Ok(None);
                }
                Checked::Changed(what) => tracing::info!(what, "the sources changed"),
            }
        }
        let served = self
            .served
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let purpose = Purpose::Again {
            served: &served,
            changed: known.as_ref(),
        };
        self.load(&source, purpose).map(Some)
    }

    fn has_build_options(&self) -> bool {
        let source = &self.source;
        self.index.is_some()
            || source.base_url.is_some()
            || source.prefix.is_some()
            || source.size != SizeArgs::default()
            || !source.allow_ref_host.is_empty()
            || !source.overlay.is_empty()
    }

    fn load(&self, source: &SourceArgs, purpose: Purpose<'_>) -> anyhow::Result<Loaded> {
        let (loaded, known) = if let Some(out) = &self.index {
            on_disk(source, out, Trust::Names, purpose, &self.referenced)?
        } else {
            let memory = || Ok(Builder::in_memory(source.build.settings()));
            build(source, &memory, purpose, &self.referenced)?
        };
        *self.known() = known;
        self.served
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone_from(&loaded.documents);
        Ok(loaded)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Option<Fingerprint>> {
        // What it guards is replaced as a whole.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Builds an index directory, unless the one that is there was made from the same sources.
pub(super) fn build_on_disk(
    source: &SourceArgs,
    out: &Path,
    rebuild: bool,
) -> anyhow::Result<Loaded> {
    let source = &source.settled()?;
    if let Some(directory) = index_directory(source)? {
        bail!("`{}` is an index already", directory.display());
    }
    let trust = if rebuild {
        Trust::Nothing
    } else {
        Trust::Bytes
    };
    let unwatched = Referenced::default();
    let (loaded, _) = on_disk(source, out, trust, Purpose::First, &unwatched)?;
    Ok(loaded)
}

/// What of an index that is there is believed before it is reused.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// That its files are there in their sizes: what is read from them is checked as it is read.
    Names,
    /// Nothing but every byte: whoever is told to build the index again gets a whole one.
    Bytes,
    /// It is not reused.
    Nothing,
}

fn on_disk(
    source: &SourceArgs,
    out: &Path,
    trust: Trust,
    purpose: Purpose<'_>,
    referenced: &Referenced,
) -> anyhow::Result<(Loaded, Option<Fingerprint>)> {
    check_apart(source, out)?;
    if let Some((loaded, known)) = reuse(source, out, trust, purpose, referenced)? {
        return Ok((loaded, Some(known)));
    }
    let builder = || Ok(Builder::on_disk(out, source.build.settings())?);
    let (loaded, known) =
        build(source, &builder, purpose, referenced).map_err(|error| no_room(error, out))?;
    if let Some(known) = &known {
        note(out, &loaded, known);
    }
    Ok((loaded, known))
}

/// The index that is there, when its sources are what they were and it can be opened.
fn reuse(
    source: &SourceArgs,
    out: &Path,
    trust: Trust,
    purpose: Purpose<'_>,
    referenced: &Referenced,
) -> anyhow::Result<Option<(Loaded, Fingerprint)>> {
    let provenance = match trust {
        Trust::Nothing => None,
        Trust::Names | Trust::Bytes => index::read_provenance(out),
    };
    // Another process may have built from the new sources; what this one knows better is not asked again.
    let is_news = |known: &Fingerprint| match purpose {
        Purpose::First => true,
        Purpose::Again { changed, .. } => Some(known) != changed,
    };
    let Some(provenance) = provenance.filter(|provenance| is_news(&provenance.sources)) else {
        return Ok(None);
    };
    let known = provenance.sources;
    // Looked at before they are compared: what changes meanwhile is a change to whoever watches.
    let seen = known.referenced();
    let loader = SourceLoader::new(source)?;
    let fresh = match known.check(&source.sources, &source.read_options(), &loader) {
        Checked::Same(fresh) => fresh,
        Checked::Changed(what) => {
            tracing::info!(what, "the index is built anew");
            return Ok(None);
        }
    };
    let bytes = match trust {
        Trust::Bytes => index::verify(out),
        Trust::Names | Trust::Nothing => Ok(0),
    };
    let (reader, bytes) = match index::open_current(out).and_then(|reader| Ok((reader, bytes?))) {
        Ok(opened) => opened,
        Err(error) => {
            let error: &(dyn std::error::Error + 'static) = &error;
            tracing::warn!(error, "the index that is there is not reused");
            return Ok(None);
        }
    };
    let reused = Loaded {
        bytes,
        is_reused: true,
        documents: provenance.documents,
        ..Loaded::opened(reader)
    };
    referenced.set(seen);
    if let Some(fresh) = &fresh {
        note(out, &reused, fresh);
    }
    Ok(Some((reused, fresh.unwrap_or(known))))
}

/// Notes what a generation was made from. Without the note it is only built again next time.
fn note(out: &Path, loaded: &Loaded, known: &Fingerprint) {
    let provenance = Provenance {
        documents: loaded.documents.clone(),
        sources: known.clone(),
    };
    if let Err(error) = index::write_provenance(out, &loaded.reader, &provenance) {
        let error: &(dyn std::error::Error + 'static) = &error;
        tracing::warn!(error, "the index cannot be reused the next time");
    }
}

/// Reads sources into a builder, and again when one of them changed under the reading.
fn build(
    source: &SourceArgs,
    builder: &dyn Fn() -> anyhow::Result<Builder>,
    purpose: Purpose<'_>,
    referenced: &Referenced,
) -> anyhow::Result<(Loaded, Option<Fingerprint>)> {
    let loader = SourceLoader::new(source)?;
    let options = source.read_options();
    let mut tries = READ_TRIES;
    loop {
        let mut builder = builder()?;
        let recorder = Recorder::new(&loader, &source.sources, &options);
        let mut progress = Progress::over(&mut builder, loader.bytes.begin());
        let report = catalog::read(&source.sources, &options, &recorder, &mut progress);
        progress.finish();
        let report = report?;
        tries -= 1;
        let before = referenced.get();
        referenced.set(recorder.referenced());
        match recorder.finish() {
            Ok(known) => {
                if let Err(refused) = check_worth(&report, purpose) {
                    // What serves was made of these, and its files may be mended without another being read.
                    referenced.set(referenced.get().beside(before));
                    return Err(refused);
                }
                let documents = report.documents.into_iter().map(|one| one.document);
                let documents = documents.chain(report.references.read);
                let writing = Writing::begin();
                let built = builder.finish()?;
                drop(writing);
                let made = Loaded {
                    documents: documents.collect(),
                    ..built.into()
                };
                return Ok((made, known));
            }
            Err(changed) if tries > 0 => {
                tracing::warn!("{changed}; it is read again");
                drop(builder);
                std::thread::sleep(READ_PAUSE);
            }
            Err(changed) => {
                return Err(anyhow::Error::from(changed).context(format!(
                    "the sources do not come to rest: {READ_TRIES} readings were in vain; wait until they \
                     are written, and put new files in place by renaming them"
                )));
            }
        }
    }
}

fn check_worth(report: &Report, purpose: Purpose<'_>) -> anyhow::Result<()> {
    accept(report)?;
    let Purpose::Again { served, .. } = purpose else {
        return Ok(());
    };
    if report.counts.published == 0 {
        bail!("the sources publish no operation any more");
    }
    let served: HashSet<&String> = served.iter().collect();
    let documents = report.documents.iter().map(|one| &one.document);
    let read: HashSet<&String> = documents.chain(&report.references.read).collect();
    let is_lost = |name: &String| served.contains(name) && !read.contains(name);
    // A source that is gone was taken away on purpose; one that is there and cannot be read was not.
    let mut found = report.diagnostics.iter();
    if let Some(found) = found.find(|found| is_lost(&found.document)) {
        bail!(
            "a document that serves can no longer be read: {}",
            listed(found)
        );
    }
    // A file that no document refers to any more is not among these.
    let mut unread = report.references.unread.iter();
    if let Some((file, why)) = unread.find(|(file, _)| is_lost(file)) {
        bail!("`{file}`, to which a document that serves refers, can no longer be read: {why}");
    }
    Ok(())
}

/// An index below one of its sources would become a source itself.
fn check_apart(source: &SourceArgs, out: &Path) -> anyhow::Result<()> {
    let out_real = real(out)?;
    for one in &source.sources {
        let Ok(tree) = Path::new(one).canonicalize() else {
            continue;
        };
        let Ok(below) = out_real.strip_prefix(&tree) else {
            continue;
        };
        // Reading a tree leaves hidden files out.
        let is_hidden = |part: Component<'_>| part.as_os_str().to_string_lossy().starts_with('.');
        if tree.is_dir() && !below.components().any(is_hidden) {
            bail!(
                "the index `{}` would lie in its own source `{one}`: keep it elsewhere, or in a directory \
                 whose name starts with a dot",
                out.display()
            );
        }
    }
    Ok(())
}

/// Where a path leads, although its last parts may not be there yet.
fn real(path: &Path) -> anyhow::Result<PathBuf> {
    let path = std::path::absolute(path).context("the index needs a path")?;
    let mut there = path.as_path();
    loop {
        if let (Ok(real), Ok(rest)) = (there.canonicalize(), path.strip_prefix(there)) {
            return Ok(real.join(rest));
        }
        match there.parent() {
            Some(parent) => there = parent,
            None => return Ok(path),
        }
    }
}

/// A full disk is told first, before what met it.
fn no_room(error: anyhow::Error, out: &Path) -> anyhow::Error {
    let is_full = error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<index::IndexError>())
        .any(index::IndexError::is_for_lack_of_room);
    if !is_full {
        return error;
    }
    error.context(format!(
        "there is no room for the index in `{}`; what was there before is untouched",
        out.display()
    ))
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod web_tests;
