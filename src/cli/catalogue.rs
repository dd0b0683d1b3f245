//! The sources of a command line: how they are opened, what is told of them, and an open generation of them.

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use tokio::runtime::Runtime;

use super::finding::{self, listed, sentence};
use super::progress::{Bytes, Progress};
use super::supply::{Loaded, Supply};
use crate::access::{Caller, OnUnknown, View};
use crate::catalog::{
    self, FileLoader, LoadError, Loader, OpenedSource, Operation, Report, Severity, Sink,
    SinkError, SourceTarget, Stamp,
};
use crate::config::{AnswerArgs, CallArgs, Outbound, SourceArgs};
use crate::http::{self, AllowedHosts, Client, Validators};
use crate::index::{self, BuildOptions, Builder, IndexError, Reader};
use crate::tools::{Generation, Generations, MetaTools};

/// A document that is fetched must be there within this.
const FETCH_DEADLINE: Duration = Duration::from_mins(1);

/// The most bytes of a source that is fetched when its reader sets no limit.
const FETCH_BYTES_MAX: u64 = 1 << 30;

/// At most this many findings are named by an error; `check` lists them all.
const TOLD_MAX: usize = 20;

/// At most this many findings of a kind that costs operations are told when a catalogue is opened.
const DROPPED_TOLD_MAX: usize = 3;

/// Opens an index directory, or says what to do about it.
pub(super) fn open_index(directory: &Path) -> anyhow::Result<Reader> {
    let shown = directory.display();
    index::open_current(directory).map_err(|error| match &error {
        // What the engine says of a damaged file is pages long and of its own insides.
        IndexError::Engine { source, .. } => {
            tracing::debug!(source = %source, "the engine cannot open the index");
            anyhow::anyhow!(
                "the index `{shown}` cannot be opened: {error}; `sezzlee verify {shown}` finds damage, \
                 `sezzlee index` builds it again"
            )
        }
        _ => anyhow::Error::from(error).context(format!("the index `{shown}` cannot be opened")),
    })
}

/// The generation of some sources, in memory or as it lies there, for a command that answers and ends.
pub(super) fn open(source: &SourceArgs) -> anyhow::Result<Opened> {
    let loaded = Supply::new(source, None).first()?;
    let generations = Arc::new(Generations::new(loaded.reader));
    Ok(Opened {
        generation: generations.current(),
        generations,
    })
}

/// A generation in memory of one document that is a text of the program.
pub(super) fn load_text(name: &str, text: &str, source: &SourceArgs) -> anyhow::Result<Loaded> {
    let loader = TextLoader {
        text: text.to_owned(),
    };
    let named = SourceArgs {
        sources: vec![format!("{name}.yaml")],
        ..source.clone()
    };
    let mut builder = Builder::in_memory(BuildOptions::default());
    let report = catalog::read(&named.sources, &named.read_options(), &loader, &mut builder)?;
    accept(&report)?;
    Ok(builder.finish()?.into())
}

/// Reads sources for their findings only.
pub(super) fn read_only(source: &SourceArgs) -> anyhow::Result<Report> {
    let source = &source.settled()?;
    if let Some(directory) = index_directory(source)? {
        bail!(
            "`{}` is an index, not a document: check it with `sezzlee verify`",
            directory.display()
        );
    }
    let mut counter = Counter::default();
    let loader = SourceLoader::new(source)?;
    let mut progress = Progress::over(&mut counter, loader.bytes.begin());
    let report = catalog::read(
        &source.sources,
        &source.read_options(),
        &loader,
        &mut progress,
    )?;
    progress.finish();
    if report.documents.is_empty() {
        return Err(nothing_read(&report));
    }
    Ok(report)
}

/// The one source that is an index directory, if that is what there is; beside others it is refused.
pub(super) fn index_directory(source: &SourceArgs) -> anyhow::Result<Option<PathBuf>> {
    let mut paths = source.sources.iter().map(PathBuf::from);
    let found = paths.find(|path| path.join("CURRENT").is_file());
    if let (Some(directory), true) = (&found, source.sources.len() > 1) {
        bail!(
            "`{}` is an index and serves by itself only: name it alone, or name the documents it was built from",
            directory.display()
        );
    }
    Ok(found)
}

/// Tells what was found, and refuses a catalogue that must not serve.
pub(super) fn accept(report: &Report) -> anyhow::Result<()> {
    if report.is_fatal() {
        let fatal = report
            .diagnostics
            .iter()
            .filter(|found| found.severity == Severity::Fatal)
            .map(sentence);
        bail!("the catalogue is refused: {}", joined(fatal));
    }
    if report.documents.is_empty() {
        return Err(nothing_read(report));
    }
    tell(report);
    Ok(())
}

/// Tells the log what reading came to: the counts, and of every kind of finding the first ones.
fn tell(report: &Report) {
    let counts = report.counts;
    tracing::info!(
        found = counts.found,
        selected = counts.selected,
        published = counts.published,
        dropped = counts.dropped,
        "the sources are read"
    );
    let (mut dropped, mut warnings) = (0, 0);
    for group in finding::groups(&report.diagnostics) {
        let (severity, code) = (group.severity, group.code);
        let all = group.found.len();
        let told = if severity > Severity::Warning {
            DROPPED_TOLD_MAX
        } else {
            1
        };
        let mut lines: Vec<String> = group.found.iter().take(told).map(|f| listed(f)).collect();
        if all > told {
            let more = all - told;
            lines.push(format!("{more} more of {severity}[{code}]"));
        }
        for line in lines {
            // Whoever searches a catalogue wants to know what is missing from it, and no more.
            if severity > Severity::Warning {
                tracing::warn!("{line}");
            } else {
                tracing::info!("{line}");
            }
        }
        if severity > Severity::Warning {
            dropped += all;
        } else {
            warnings += all;
        }
    }
    if dropped + warnings > 0 {
        tracing::warn!(
            dropped,
            warnings,
            "the sources are not without fault; `sezzlee check` lists everything"
        );
    }
}

fn nothing_read(report: &Report) -> anyhow::Error {
    let found = report.diagnostics.iter().map(sentence);
    anyhow::anyhow!("no source could be read: {}", joined(found))
}

fn joined(found: impl Iterator<Item = String>) -> String {
    let mut lines: Vec<String> = found.take(TOLD_MAX + 1).collect();
    if lines.len() > TOLD_MAX {
        lines.truncate(TOLD_MAX);
        lines.push("and more".to_owned());
    }
    lines.join("; ")
}

/// An open generation and the means to answer from it.
pub(super) struct Opened {
    generations: Arc<Generations>,
    generation: Arc<Generation>,
}

impl Opened {
    /// The catalogue.
    pub(super) fn reader(&self) -> &Reader {
        &self.generation.reader
    }

    /// The meta-tools of a command that calls no backend.
    pub(super) fn tools(&self, answers: &AnswerArgs) -> anyhow::Result<MetaTools> {
        let calls = CallArgs::default();
        super::gateway::meta_tools(&self.generations, answers, &calls, &Outbound::default())
    }

    /// The meta-tools of a command that calls backends.
    pub(super) fn tools_that_call(
        &self,
        answers: &AnswerArgs,
        calls: &CallArgs,
        source: &SourceArgs,
    ) -> anyhow::Result<MetaTools> {
        let outbound = source.settled()?.outbound();
        super::gateway::meta_tools(&self.generations, answers, calls, &outbound)
    }

    /// A view that hides nothing anonymous callers are shown by default.
    pub(super) fn view(&self) -> View {
        View::new(
            self.reader().audiences(),
            &Caller::anonymous(),
            OnUnknown::Show,
        )
    }
}

/// Counts operations and keeps none.
#[derive(Default)]
struct Counter {
    operations: u32,
}

impl Sink for Counter {
    fn operation(&mut self, _operation: Operation) -> Result<u32, SinkError> {
        let ordinal = self.operations;
        self.operations = ordinal.saturating_add(1);
        Ok(ordinal)
    }

    fn rename(&mut self, _ordinal: u32, _name: &str) -> Result<(), SinkError> {
        Ok(())
    }
}

/// Files from disk, URLs through the one outbound client.
pub(super) struct SourceLoader {
    /// There only when a source is a URL.
    fetcher: Option<(Runtime, Client)>,
    /// How far the files were read.
    pub(super) bytes: Bytes,
}

impl SourceLoader {
    pub(super) fn new(source: &SourceArgs) -> anyhow::Result<Self> {
        let urls = source
            .sources
            .iter()
            .filter_map(|text| match url::Url::parse(text) {
                Ok(url) if matches!(url.scheme(), "http" | "https") => Some(url),
                _ => None,
            });
        // Whoever names a URL as a source names its host.
        let mut allowed = AllowedHosts::none();
        let mut any = false;
        for url in urls {
            allowed.allow_url(&url);
            any = true;
        }
        // Whoever allows references to a host names it for its documents only; its address must be public.
        any |= source.has_reference_hosts();
        if !any {
            return Ok(Self {
                fetcher: None,
                bytes: Bytes::of(Stamp::of_sources(&source.sources).bytes()),
            });
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .context("cannot start the runtime")?;
        let client = Client::new(http::Settings {
            allowed,
            ..http::Settings::default()
        })?;
        Ok(Self {
            fetcher: Some((runtime, client)),
            // Nobody says how large what is fetched will be.
            bytes: Bytes::of(0),
        })
    }
}

impl Loader for SourceLoader {
    fn open(
        &self,
        target: &SourceTarget,
        bytes_max: Option<u64>,
    ) -> Result<Box<dyn Read + Send>, LoadError> {
        let opened = self.open_unless(target, bytes_max, &Validators::default())?;
        opened.map(|opened| opened.stream).ok_or_else(|| {
            LoadError::Refused("the server sent nothing where something was asked for".to_owned())
        })
    }

    fn open_unless(
        &self,
        target: &SourceTarget,
        bytes_max: Option<u64>,
        known: &Validators,
    ) -> Result<Option<OpenedSource>, LoadError> {
        let (SourceTarget::Url(url), Some((runtime, client))) = (target, &self.fetcher) else {
            let file = open_file(target, bytes_max)?;
            return Ok(Some(OpenedSource {
                stream: self.bytes.count(file),
                validators: Validators::default(),
            }));
        };
        let limit = bytes_max.unwrap_or(FETCH_BYTES_MAX);
        let limit_here = usize::try_from(limit).unwrap_or(usize::MAX);
        let fetched = runtime.block_on(client.fetch_unless(url, limit_here, FETCH_DEADLINE, known));
        match fetched {
            Ok(fetched) => Ok(fetched.map(|document| OpenedSource {
                stream: Box::new(Cursor::new(document.bytes)),
                validators: document.validators,
            })),
            Err(http::FetchError::TooLarge { .. }) => Err(LoadError::TooLarge { bytes_max: limit }),
            Err(error) => {
                let cause = anyhow::Error::from(error);
                Err(LoadError::Refused(format!(
                    "it cannot be fetched: {cause:#}"
                )))
            }
        }
    }
}

/// A file, or why there is none in words that help more than the system's.
fn open_file(
    target: &SourceTarget,
    bytes_max: Option<u64>,
) -> Result<Box<dyn Read + Send>, LoadError> {
    FileLoader.open(target, bytes_max).map_err(|error| {
        let (LoadError::Io(cause), SourceTarget::File(path)) = (&error, target) else {
            return error;
        };
        if cause.kind() != std::io::ErrorKind::NotFound {
            return error;
        }
        LoadError::Refused(if path.to_string_lossy().contains("://") {
            "only http and https URLs are fetched".to_owned()
        } else {
            "there is no such file or directory; check the path".to_owned()
        })
    })
}

/// One text, whatever is asked for.
struct TextLoader {
    text: String,
}

impl Loader for TextLoader {
    fn open(
        &self,
        _target: &SourceTarget,
        _bytes_max: Option<u64>,
    ) -> Result<Box<dyn Read + Send>, LoadError> {
        Ok(Box::new(Cursor::new(self.text.clone())))
    }
}
