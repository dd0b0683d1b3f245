//! From sources to an open generation, as often as asked for: read, or reused while they are what they were.
//!
//! Owns: when an index is built again, trying again when a source moved under the reading, and what must never
//! replace a catalogue that serves. Must never switch to a generation that was read from moving sources.

use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, bail};

use super::catalogue::{SourceLoader, accept, index_directory, open_index, options};
use super::progress::{Progress, Writing};
use crate::catalog::{self, Checked, Fingerprint, Recorder, Report};
use crate::config::SourceArgs;
use crate::index::{self, Builder, Built, Reader};

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
    /// The documents it was read from; empty when it was opened.
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
    /// Where the index is kept; in memory otherwise.
    index: Option<PathBuf>,
    /// The index directory that is the source, once it was opened: it stays one, whatever happens to it.
    opened: OnceLock<PathBuf>,
    /// What was read last.
    known: Mutex<Option<Fingerprint>>,
    /// The documents of the generation that serves; empty when it was opened and not read.
    served: Mutex<Vec<String>>,
}

/// What may be served.
#[derive(Clone, Copy)]
enum Purpose<'a> {
    /// There is nothing yet.
    First,
    /// Something serves, made from these documents: neither a catalogue without operations nor one that lost
    /// a document to a fault must replace it.
    Again(&'a [String]),
}

impl Supply {
    pub(super) fn new(source: &SourceArgs, index: Option<&Path>) -> Self {
        Self {
            source: source.clone(),
            index: index.map(Path::to_owned),
            opened: OnceLock::new(),
            known: Mutex::default(),
            served: Mutex::default(),
        }
    }

    /// The first generation: an index directory is opened; other sources are read, unless the index that is
    /// kept is theirs already.
    pub(super) fn first(&self) -> anyhow::Result<Loaded> {
        let directory = index_directory(&self.source)?;
        if let (Some(directory), true) = (&directory, self.has_build_options()) {
            bail!(
                "`{}` is an index: --index, --base-url and --prefix belong to the command that builds it",
                directory.display()
            );
        }
        match directory {
            Some(directory) => {
                let directory = self.opened.get_or_init(|| directory);
                Ok(Loaded::opened(open_index(directory)?))
            }
            None => self.load(Purpose::First),
        }
    }

    /// The next generation, or `None` when the sources are what they were.
    pub(super) fn again(&self) -> anyhow::Result<Option<Loaded>> {
        if let Some(directory) = self.opened.get() {
            return Ok(Some(Loaded::opened(open_index(directory)?)));
        }
        let loader = SourceLoader::new(&self.source)?;
        let known = self.known().clone();
        if let Some(known) = known {
            let sources = &self.source.sources;
            match known.check(sources, &options(&self.source), &loader) {
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
        self.load(Purpose::Again(&served)).map(Some)
    }

    fn has_build_options(&self) -> bool {
        self.index.is_some() || self.source.base_url.is_some() || self.source.prefix.is_some()
    }

    fn load(&self, purpose: Purpose<'_>) -> anyhow::Result<Loaded> {
        let (loaded, known) = if let Some(out) = &self.index {
            on_disk(&self.source, out, Trust::Names, purpose)?
        } else {
            let memory = || Ok(Builder::in_memory(self.source.build.settings()));
            build(&self.source, &memory, purpose)?
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
    if let Some(directory) = index_directory(source)? {
        bail!("`{}` is an index already", directory.display());
    }
    let trust = if rebuild {
        Trust::Nothing
    } else {
        Trust::Bytes
    };
    let (loaded, _) = on_disk(source, out, trust, Purpose::First)?;
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
) -> anyhow::Result<(Loaded, Option<Fingerprint>)> {
    check_apart(source, out)?;
    if let Some((loaded, known)) = reuse(source, out, trust)? {
        return Ok((loaded, Some(known)));
    }
    let builder = || Ok(Builder::on_disk(out, source.build.settings())?);
    let (loaded, known) = build(source, &builder, purpose).map_err(|error| no_room(error, out))?;
    if let Some(known) = &known {
        note(out, &loaded.reader, known);
    }
    Ok((loaded, known))
}

/// The index that is there, when its sources are what they were and it can be opened.
fn reuse(
    source: &SourceArgs,
    out: &Path,
    trust: Trust,
) -> anyhow::Result<Option<(Loaded, Fingerprint)>> {
    let known = match trust {
        Trust::Nothing => None,
        Trust::Names | Trust::Bytes => index::read_sources(out),
    };
    let Some(known) = known else {
        return Ok(None);
    };
    let loader = SourceLoader::new(source)?;
    let fresh = match known.check(&source.sources, &options(source), &loader) {
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
    if let Some(fresh) = &fresh {
        note(out, &reader, fresh);
    }
    let reused = Loaded {
        bytes,
        is_reused: true,
        ..Loaded::opened(reader)
    };
    Ok(Some((reused, fresh.unwrap_or(known))))
}

/// Notes what a generation was made from. Without the note it is only built again next time.
fn note(out: &Path, reader: &Reader, known: &Fingerprint) {
    if let Err(error) = index::write_sources(out, reader, known) {
        let error: &(dyn std::error::Error + 'static) = &error;
        tracing::warn!(error, "the index cannot be reused the next time");
    }
}

/// Reads sources into a builder, and again when one of them changed under the reading.
fn build(
    source: &SourceArgs,
    builder: &dyn Fn() -> anyhow::Result<Builder>,
    purpose: Purpose<'_>,
) -> anyhow::Result<(Loaded, Option<Fingerprint>)> {
    let loader = SourceLoader::new(source)?;
    let options = options(source);
    let mut tries = READ_TRIES;
    loop {
        let mut builder = builder()?;
        let recorder = Recorder::new(&loader, &source.sources, &options);
        let mut progress = Progress::over(&mut builder, loader.bytes.begin());
        let report = catalog::read(&source.sources, &options, &recorder, &mut progress);
        progress.finish();
        let report = report?;
        tries -= 1;
        match recorder.finish() {
            Ok(known) => {
                check_worth(&report, purpose)?;
                let documents = report.documents.into_iter().map(|one| one.document);
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
    let Purpose::Again(served) = purpose else {
        return Ok(());
    };
    if report.counts.published == 0 {
        bail!("the sources publish no operation any more");
    }
    // A source that is gone was taken away on purpose; one that is there and cannot be read was not.
    let lost = report.diagnostics.iter().find(|found| {
        served.contains(&found.document)
            && !report
                .documents
                .iter()
                .any(|read| read.document == found.document)
    });
    match lost {
        Some(found) => bail!("a document that serves can no longer be read: {found}"),
        None => Ok(()),
    }
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
mod tests {
    use std::fs;

    use super::*;

    fn document(title: &str, operations: usize) -> String {
        use std::fmt::Write as _;
        let mut text = format!("openapi: 3.1.0\ninfo: {{title: {title}, version: '1'}}\npaths:\n");
        if operations == 0 {
            text.push_str("  {}\n");
        }
        for number in 0..operations {
            write!(
                text,
                "  /{number}:\n    get: {{operationId: {title}{number}, responses: {{'200': {{description: fine}}}}}}\n"
            )
            .unwrap();
        }
        text
    }

    struct Here {
        root: tempfile::TempDir,
        source: SourceArgs,
    }

    impl Here {
        fn new() -> Self {
            let root = tempfile::tempdir().unwrap();
            fs::create_dir(root.path().join("apis")).unwrap();
            let sources = vec![root.path().join("apis").display().to_string()];
            let source = SourceArgs {
                sources,
                base_url: None,
                prefix: None,
                build: crate::config::BuildArgs::default(),
            };
            let here = Self { root, source };
            here.write("a.yaml", &document("a", 3));
            here
        }

        fn write(&self, name: &str, text: &str) {
            fs::write(self.root.path().join("apis").join(name), text).unwrap();
        }

        fn out(&self) -> PathBuf {
            self.root.path().join("index")
        }

        fn build(&self) -> Loaded {
            build_on_disk(&self.source, &self.out(), false).unwrap()
        }
    }

    fn sentence(result: anyhow::Result<Option<Loaded>>) -> String {
        format!("{:#}", result.err().unwrap())
    }

    #[test]
    fn an_index_is_built_once_for_the_same_sources() {
        let here = Here::new();
        let first = here.build();
        assert!(!first.is_reused);
        let second = here.build();
        assert!(second.is_reused);
        assert_eq!(second.reader.manifest(), first.reader.manifest());
        assert!(second.bytes > 0);
        let rebuilt = build_on_disk(&here.source, &here.out(), true).unwrap();
        assert!(!rebuilt.is_reused, "it was asked for");
        here.write("b.yaml", &document("b", 2));
        let third = here.build();
        assert!(!third.is_reused);
        assert_eq!(third.reader.len(), 5);
        assert!(here.build().is_reused);
        let mut other = here.source.clone();
        other.prefix = Some(crate::config::NamePrefix::Never);
        let fourth = build_on_disk(&other, &here.out(), false).unwrap();
        assert!(!fourth.is_reused, "another option");
        assert!(!here.build().is_reused, "and back");
    }

    #[test]
    fn serving_takes_the_index_that_was_built() {
        let here = Here::new();
        here.build();
        let supply = Supply::new(&here.source, Some(&here.out()));
        assert!(supply.first().unwrap().is_reused);
        assert!(supply.again().unwrap().is_none(), "nothing changed");
        here.write("b.yaml", &document("b", 2));
        let again = supply.again().unwrap().unwrap();
        assert!(!again.is_reused);
        assert_eq!(again.reader.len(), 5);
        assert!(
            here.build().is_reused,
            "what the reload built is there for others"
        );
    }

    #[test]
    fn a_damaged_index_is_not_reused() {
        let here = Here::new();
        here.build();
        let damaged = index::current(&here.out()).unwrap().join("definitions");
        let mut bytes = fs::read(&damaged).unwrap();
        bytes[0] ^= 1;
        fs::write(&damaged, bytes).unwrap();
        let again = here.build();
        assert!(!again.is_reused);
        index::verify(&here.out()).unwrap();
        // Serving sees what it can see without reading every byte.
        fs::write(index::current(&here.out()).unwrap().join("cards"), "").unwrap();
        let supply = Supply::new(&here.source, Some(&here.out()));
        assert!(!supply.first().unwrap().is_reused);
    }

    #[test]
    fn in_memory_nothing_is_read_again_for_nothing() {
        let here = Here::new();
        let supply = Supply::new(&here.source, None);
        assert_eq!(supply.first().unwrap().reader.len(), 3);
        assert!(supply.again().unwrap().is_none());
        here.write("a.yaml", &document("a", 4));
        assert_eq!(supply.again().unwrap().unwrap().reader.len(), 4);
        assert!(supply.again().unwrap().is_none());
    }

    #[test]
    fn what_must_not_serve_leaves_the_index_as_it_was() {
        let here = Here::new();
        let supply = Supply::new(&here.source, Some(&here.out()));
        supply.first().unwrap();
        let serving = index::current(&here.out()).unwrap();
        here.write("a.yaml", "openapi: [");
        let why = sentence(supply.again());
        assert!(why.starts_with("no source could be read"), "{why}");
        here.write("a.yaml", &document("a", 0));
        assert_eq!(
            sentence(supply.again()),
            "the sources publish no operation any more"
        );
        assert_eq!(index::current(&here.out()).unwrap(), serving);
        assert_eq!(index::open_current(&here.out()).unwrap().len(), 3);
        assert!(fs::read_dir(here.out()).unwrap().all(|entry| {
            let name = entry.unwrap().file_name();
            !name.to_string_lossy().starts_with(".build")
        }));
        here.write("a.yaml", &document("a", 1));
        assert_eq!(supply.again().unwrap().unwrap().reader.len(), 1);
    }

    #[test]
    fn an_index_in_its_own_source_is_refused() {
        let here = Here::new();
        let inside = here.root.path().join("apis/deep/index");
        let why = build_on_disk(&here.source, &inside, false).err().unwrap();
        assert!(
            why.to_string().contains("would lie in its own source"),
            "{why}"
        );
        assert!(!inside.exists());
        let hidden = here.root.path().join("apis/.index");
        build_on_disk(&here.source, &hidden, false).unwrap();
        assert!(
            build_on_disk(&here.source, &hidden, false)
                .unwrap()
                .is_reused
        );
    }

    /// A half-written file must not take its tools away while the others serve; a file that was taken away
    /// is meant to be gone.
    #[test]
    fn a_document_that_serves_is_not_lost_to_a_fault() {
        let here = Here::new();
        here.write("b.yaml", &document("b", 2));
        let supply = Supply::new(&here.source, None);
        assert_eq!(supply.first().unwrap().reader.len(), 5);
        for broken in ["openapi: [", "", "hello: 1"] {
            here.write("b.yaml", broken);
            let refused = sentence(supply.again());
            assert!(refused.contains("b.yaml"), "{broken:?}: {refused}");
        }
        here.write("b.yaml", &document("b", 1));
        assert_eq!(supply.again().unwrap().unwrap().reader.len(), 4);
        fs::remove_file(here.root.path().join("apis/b.yaml")).unwrap();
        assert_eq!(supply.again().unwrap().unwrap().reader.len(), 3);
        // One that never served does not hold the others up.
        here.write("c.yaml", "openapi: [");
        here.write("a.yaml", &document("a", 4));
        assert_eq!(supply.again().unwrap().unwrap().reader.len(), 4);
    }
}
