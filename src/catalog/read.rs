//! Reading sources: the one entrance from what an operator names to operations in a sink.
//!
//! Owns: batches, threads, the order operations arrive in. Must never stop for a fault
//! of one source while others can be read.

use std::collections::HashSet;
use std::io::Read;

use rayon::prelude::*;
use serde_json::Value;

use super::document::Document;
use super::finding::Finding;
use super::lines::{self, Entry, Fault, Line, Lines};
use super::openapi::{self, Faults, Matched, Plan, Settings};
use super::parse::{DOCUMENT_BYTES_MAX, Original, Position};
use super::planning::{Parsed, key, linked, parsed};
use super::registry::{Admission, Identity, Moved, Registry};
use super::report::Notes;
use super::sources::{Compression, Expanded, Form, Item, expand};
use super::unused;
use super::{
    Counts, Diagnostic, DiagnosticCode, DocumentCounts, LoadError, Loader, Operation, Prefix,
    ReadOptions, Report, Severity, Sink, SinkError, SourceTarget, naming,
};
use crate::json::Pointer;

/// The stack of a reading thread: a document at the depth limit is parsed, converted and dropped by
/// recursion, and an unoptimised build takes some ten kilobytes a level.
const STACK_BYTES: usize = 64 * 1024 * 1024;

/// Documents are parsed together up to this many bytes of text; a larger one is parsed alone.
const BATCH_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Documents are parsed together up to this many.
const BATCH_DOCUMENTS_MAX: usize = 64;

/// The schemas of one document are published up to about this many bytes together, and finding out what to leave
/// out of them counts a share: a small document in which many operations share a vast schema would otherwise
/// take hours, and all the memory there is (a catalogue in memory costs some three times the text of its
/// schemas). The largest of people's, of a thousand operations, take a twentieth.
const DOCUMENT_SCHEMAS_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// Operations are converted together up to this many: they are held until all of them are made.
const BATCH_OPERATIONS: usize = 64;

/// Why reading stopped altogether.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// An operation could not be stored.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// The operating system gave no threads.
    #[error("no threads to read with: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// An operator's name is no legal one.
    #[error("the name {0:?} is not 1 to 128 of A-Z, a-z, 0-9, _, . and -")]
    IllegalName(String),
}

/// Reads sources into a sink: files, directories, globs, URLs, JSON Lines catalogues.
///
/// Operations arrive in the order of the sources, their paths, and within a path of the methods. What could
/// not be read is in the report; whether nothing at all could is for the caller to see.
///
/// # Errors
///
/// Only when the sink fails, no threads are to be had, or an operator's name is illegal.
pub fn read(
    sources: &[String],
    options: &ReadOptions,
    loader: &dyn Loader,
    sink: &mut dyn Sink,
) -> Result<Report, ReadError> {
    if let Some(bad) = options
        .given_names()
        .find(|name| !naming::is_given_name(name))
    {
        return Err(ReadError::IllegalName(bad.to_owned()));
    }
    let Expanded {
        items,
        diagnostics,
        is_single,
    } = expand(sources);
    let documents = items
        .iter()
        .filter(|item| matches!(item.form, Form::Document { .. }));
    let settings = Settings {
        options,
        prefix: match options.prefix {
            Prefix::Unset => !is_single,
            Prefix::Always => true,
            Prefix::Never => false,
        },
        several: documents.count() > 1,
    };
    let mut reading = Reading {
        settings,
        loader,
        sink,
        pool: rayon::ThreadPoolBuilder::new()
            .num_threads(options.threads.unwrap_or(0))
            .stack_size(STACK_BYTES)
            .thread_name(|number| format!("catalog-{number}"))
            .build()?,
        registry: Registry::default(),
        report: Report {
            diagnostics,
            ..Report::default()
        },
        labels: Vec::new(),
        matched: Matched::default(),
    };
    let mut unused = unused::documents(options, sources, &items);
    reading.all(items)?;
    unused.extend(unused::for_all(options, &reading.matched));
    reading.report.diagnostics.extend(unused);
    Ok(reading.report)
}

struct Reading<'a> {
    settings: Settings<'a>,
    loader: &'a dyn Loader,
    sink: &'a mut dyn Sink,
    pool: rayon::ThreadPool,
    registry: Registry,
    report: Report,
    /// The labels of sources whose operations were handed on, by their number in the registry.
    labels: Vec<String>,
    /// Which of the settings for all documents matched something so far.
    matched: Matched,
}

impl Reading<'_> {
    fn all(&mut self, items: Vec<Item>) -> Result<(), ReadError> {
        let mut batch: Vec<Item> = Vec::new();
        let mut bytes = 0;
        for item in items {
            if let Form::Lines(compression) = item.form {
                self.documents(&std::mem::take(&mut batch))?;
                bytes = 0;
                self.lines(&item, compression)?;
                continue;
            }
            // A size that is not known counts as a whole batch.
            let size = if item.bytes == 0 {
                BATCH_BYTES_MAX
            } else {
                item.bytes
            };
            let is_full = bytes + size > BATCH_BYTES_MAX || batch.len() >= BATCH_DOCUMENTS_MAX;
            if !batch.is_empty() && is_full {
                self.documents(&std::mem::take(&mut batch))?;
                bytes = 0;
            }
            bytes += size;
            batch.push(item);
        }
        self.documents(&batch)?;
        self.forget_fragments();
        Ok(())
    }

    /// What a document refers to is a part of it, and need not be a document itself.
    fn forget_fragments(&mut self) {
        let parts = &self.report.references.read;
        let parts: HashSet<&str> = parts.iter().map(String::as_str).collect();
        self.report.diagnostics.retain(|found| {
            found.code != DiagnosticCode::NotOpenapi
                || found.severity != Severity::Warning
                || !parts.contains(found.document.as_str())
        });
    }

    /// Reads a batch of documents: parsed together, handed on in order.
    fn documents(&mut self, batch: &[Item]) -> Result<(), ReadError> {
        let (settings, loader) = (self.settings, self.loader);
        let all: Vec<Result<Parsed, Diagnostic>> = self.pool.install(|| {
            batch
                .par_iter()
                .map(|item| parsed(item, settings, loader))
                .collect()
        });
        for (item, parsed) in batch.iter().zip(all) {
            let (mut plan, original) = match parsed {
                Ok(Parsed::Whole(plan, original)) => (*plan, original),
                // Its files may be larger than the batch, so they are in memory for one document at a time.
                Ok(Parsed::Referring(referring)) => self
                    .pool
                    .install(|| linked(item, *referring, settings, loader)),
                Err(diagnostic) => {
                    self.report.diagnostics.push(diagnostic);
                    continue;
                }
            };
            let mut odd = std::mem::take(&mut plan.overlay_diagnostics);
            self.report.diagnostics.append(&mut odd);
            self.matched.rules.extend(&plan.matched.rules);
            self.matched.names.extend(&plan.matched.names);
            let handed = self.document(&plan, &original);
            // Dropped where the stack is deep enough for it.
            self.pool.install(move || drop(plan));
            handed?;
        }
        Ok(())
    }

    fn document(&mut self, plan: &Plan, original: &Original) -> Result<(), ReadError> {
        let settings = self.settings;
        let label = &plan.document.label;
        let source = self.source(label);
        let mut notes = Notes::new(label);
        notes.files = plan.document.externals.labels();
        let mut counts = plan.counts;
        for (severity, finding) in &plan.findings {
            if finding.code == DiagnosticCode::UnusedSetting {
                // Several settings may be unused; none has a place in the document.
                notes.add_always(*severity, finding.clone());
            } else {
                notes.add(*severity, finding.clone());
            }
        }
        let mut bytes: u64 = 0;
        // An operation may be several tools; it is published when one of them is.
        let mut published: HashSet<usize> = HashSet::new();
        for chunk in plan.operations.chunks(BATCH_OPERATIONS) {
            if bytes > DOCUMENT_SCHEMAS_BYTES_MAX {
                notes.add_always(Severity::Dropped, too_much(&chunk[0].at, chunk.len()));
                continue;
            }
            let converted: Vec<openapi::Converted> = self.pool.install(|| {
                chunk
                    .par_iter()
                    .map(|planned| openapi::convert(plan, planned, settings))
                    .collect()
            });
            for (planned, converted) in chunk.iter().zip(converted) {
                bytes += converted.bytes as u64;
                for warning in converted.warnings {
                    notes.add(Severity::Warning, warning);
                }
                match converted.operation {
                    Ok(operation) => {
                        let taken = self.hand_on(operation, planned, label, source, &mut notes)?;
                        if taken {
                            published.insert(planned.operation);
                        }
                    }
                    Err(Faults(faults)) => {
                        for (severity, finding) in faults {
                            notes.add_always(severity, named(finding, planned));
                        }
                    }
                }
            }
        }
        counts.published = published.len() as u64;
        counts.dropped = counts.selected - counts.published;
        if counts.published == 0 {
            notes.add(
                Severity::Warning,
                Finding::of_source(
                    DiagnosticCode::NoOperations,
                    nothing_published(&plan.document, counts),
                ),
            );
        }
        notes.locate(label, original);
        for (file, original) in plan.document.externals.originals() {
            notes.locate(file, original);
        }
        self.close(notes, plan.document.key.clone(), counts);
        let references = plan.document.externals.references();
        self.report.references.read.extend(references.read);
        self.report.references.unread.extend(references.unread);
        Ok(())
    }

    /// Gives an operation of a document to the sink under a name of its own.
    fn hand_on(
        &mut self,
        mut operation: Operation,
        planned: &openapi::Planned,
        label: &str,
        source: u32,
        notes: &mut Notes,
    ) -> Result<bool, ReadError> {
        let identity = Identity {
            method: &planned.method,
            route: &planned.route,
            document: label,
        };
        let name = operation.definition.name.clone();
        let collision =
            |message: String| Finding::new(DiagnosticCode::NameCollision, &planned.at, message);
        if planned.is_fixed {
            let (is_free, moved) = self.registry.give(&name, self.sink)?;
            self.note_moved(&name, moved, notes);
            if !is_free {
                notes.add_always(
                    Severity::Fatal,
                    collision(format!(
                        "the name {name:?} given here is taken; give another"
                    )),
                );
                return Ok(false);
            }
            self.sink.operation(operation)?;
            return Ok(true);
        }
        let name = match self.registry.admit(&name, identity, self.sink)? {
            Admission::Free => name,
            Admission::Renamed { to, other } => {
                self.note_moved(&name, other, notes);
                notes.add_always(
                    Severity::Warning,
                    collision(format!(
                        "the name {name:?} meets another source's; this one is {to:?} now"
                    )),
                );
                to
            }
            Admission::Taken => {
                notes.add_always(
                    Severity::Dropped,
                    collision(format!(
                        "the name {name:?} and its longer forms are taken; name each source once"
                    )),
                );
                return Ok(false);
            }
        };
        operation.definition.name.clone_from(&name);
        let ordinal = self.sink.operation(operation)?;
        self.registry.hold(name, identity, source, ordinal);
        Ok(true)
    }

    fn note_moved(&self, name: &str, moved: Option<Moved>, notes: &mut Notes) {
        let Some(moved) = moved else { return };
        let label = usize::try_from(moved.source)
            .ok()
            .and_then(|source| self.labels.get(source));
        notes.add_for(
            label.map_or("", String::as_str),
            Finding::of_source(
                DiagnosticCode::NameCollision,
                format!(
                    "the name {name:?} meets another source's; this one is {:?} now",
                    moved.to
                ),
            ),
        );
    }

    /// Reads a JSON Lines catalogue: batches of lines parsed together, handed on in order.
    fn lines(&mut self, item: &Item, compression: Compression) -> Result<(), ReadError> {
        let mut notes = Notes::new(&item.label);
        let mut counts = Counts::default();
        let key = key(item, None, self.settings.options);
        self.source(&item.label);
        let own = self.settings.options.settings_of(&item.source, &item.label);
        if let Some(finding) = unused::for_lines(self.settings.options, &item.label) {
            notes.add(Severity::Warning, finding);
        }
        let opened = self
            .loader
            .open(&item.target, None)
            .and_then(|stream| Ok(Lines::new(stream, compression)?));
        let mut lines = match opened {
            Ok(lines) => lines,
            Err(error) => {
                self.report.diagnostics.push(unreadable(item, &error));
                return Ok(());
            }
        };
        let mut without_server: u64 = 0;
        loop {
            let (batch, failed) = lines.batch();
            let is_end = batch.is_empty() || failed.is_some();
            let base_url = self.settings.options.base_url.as_ref();
            let base_url = base_url.or(own.base_url.as_ref());
            let entries: Vec<(u64, Result<Entry, Fault>)> = self.pool.install(|| {
                batch
                    .into_par_iter()
                    .map(|line: Line| (line.number, lines::entry(&line, &key, base_url)))
                    .collect()
            });
            for (number, entry) in entries {
                counts.found += 1;
                counts.selected += 1;
                if self.entry(number, entry, &mut without_server, &mut notes)? {
                    counts.published += 1;
                } else {
                    counts.dropped += 1;
                }
            }
            if let Some(error) = failed {
                notes.add_always(Severity::Dropped, broken_off(&error));
            }
            if is_end {
                break;
            }
        }
        if without_server > 0 {
            notes.add(
                Severity::Warning,
                Finding::of_source(
                    DiagnosticCode::NoServer,
                    format!("{without_server} entries have a method and a route but no baseUrl; give a base URL to make them callable"),
                ),
            );
        }
        if counts.published == 0 {
            notes.add(
                Severity::Warning,
                Finding::of_source(
                    DiagnosticCode::NoOperations,
                    "the catalogue publishes no operation; name one with at least one good entry",
                ),
            );
        }
        self.close(notes, key, counts);
        Ok(())
    }

    /// Hands one entry on, when it is one and its name is free.
    fn entry(
        &mut self,
        number: u64,
        entry: Result<Entry, Fault>,
        without_server: &mut u64,
        notes: &mut Notes,
    ) -> Result<bool, ReadError> {
        let line = Position {
            line: number,
            column: None,
        };
        let entry = match entry {
            Ok(entry) => entry,
            Err(Fault { column, message }) => {
                let finding = Finding::of_source(DiagnosticCode::BadEntry, message);
                let at = Position { column, ..line };
                notes.add_always(Severity::Dropped, finding.in_text(at));
                return Ok(false);
            }
        };
        let name = entry.operation.definition.name.clone();
        let (is_free, moved) = self.registry.give(&name, self.sink)?;
        self.note_moved(&name, moved, notes);
        if !is_free {
            let name = super::document::shown(&name);
            let message = format!("the name {name} is taken and the first one counts; rename one");
            let finding = Finding::of_source(DiagnosticCode::DuplicateName, message);
            notes.add_always(Severity::Dropped, finding.in_text(line));
            return Ok(false);
        }
        if entry.has_duplicates {
            let message = "a key stands twice in an object and the last one counts; remove one";
            let finding = Finding::of_source(DiagnosticCode::DuplicateKey, message);
            notes.add_always(Severity::Warning, finding.in_text(line));
        }
        *without_server += u64::from(entry.lacks_server);
        self.sink.operation(entry.operation)?;
        Ok(true)
    }

    /// The number of a source whose operations are handed on next.
    fn source(&mut self, label: &str) -> u32 {
        self.labels.push(label.to_owned());
        u32::try_from(self.labels.len() - 1).unwrap_or(u32::MAX)
    }

    fn close(&mut self, notes: Notes, key: String, counts: Counts) {
        self.report.counts += counts;
        self.report.documents.push(DocumentCounts {
            document: notes.label,
            key,
            counts,
        });
        self.report.diagnostics_left_out += notes.left_out;
        self.report.diagnostics.extend(notes.kept);
    }
}

/// The finding that costs an operation, naming it where the place does not: what is wrong may stand in a
/// component that many share.
fn named(mut finding: Finding, planned: &openapi::Planned) -> Finding {
    let below = finding.at.as_str().strip_prefix(planned.at.as_str());
    if !below.is_some_and(|below| below.is_empty() || below.starts_with('/')) {
        let (method, route) = (&planned.method, &planned.route);
        finding.message = format!(
            "{method} {route} needs what stands here: {}",
            finding.message
        );
    }
    finding
}

/// Why a document publishes nothing.
fn nothing_published(document: &Document, counts: Counts) -> String {
    let Counts {
        found, selected, ..
    } = counts;
    if selected > 0 {
        return format!(
            "the document publishes no operation: each of the {selected} selected is dropped; see why at each"
        );
    }
    if found > 0 {
        return format!(
            "the document publishes no operation: none of the {found} found is selected; check the selection rules"
        );
    }
    let webhooks = document.value.get("webhooks").and_then(Value::as_object);
    if webhooks.is_some_and(|webhooks| !webhooks.is_empty()) {
        return "the document publishes no operation: it has webhooks only, which are calls that a backend makes"
            .to_owned();
    }
    "the document publishes no operation: its paths hold none; name one that describes operations"
        .to_owned()
}

fn too_much(at: &Pointer, operations: usize) -> Finding {
    Finding::new(
        DiagnosticCode::SourceTooLarge,
        at,
        format!(
            "this and the next {operations} operations come after {DOCUMENT_SCHEMAS_BYTES_MAX} bytes of schemas; split the document"
        ),
    )
}

/// All of a file that is parsed as one.
pub(super) fn bytes_of(target: &SourceTarget, loader: &dyn Loader) -> Result<Vec<u8>, LoadError> {
    let mut bytes = Vec::new();
    let stream = loader.open(target, Some(DOCUMENT_BYTES_MAX))?;
    let read = stream
        .take(DOCUMENT_BYTES_MAX + 1)
        .read_to_end(&mut bytes)?;
    if read as u64 > DOCUMENT_BYTES_MAX {
        let bytes_max = DOCUMENT_BYTES_MAX;
        return Err(LoadError::TooLarge { bytes_max });
    }
    Ok(bytes)
}

pub(super) fn unreadable(item: &Item, error: &LoadError) -> Diagnostic {
    let (code, message) = match error {
        LoadError::TooLarge { .. } => (
            DiagnosticCode::SourceTooLarge,
            format!("the source is too large: {error}; split it"),
        ),
        _ => (
            DiagnosticCode::UnreadableSource,
            format!("the source cannot be read: {error}"),
        ),
    };
    Finding::of_source(code, message).into_diagnostic(Severity::Dropped, &item.label)
}

/// A stream that fails midway costs its rest.
fn broken_off(error: &std::io::Error) -> Finding {
    let code = match error.kind() {
        std::io::ErrorKind::FileTooLarge => DiagnosticCode::SourceTooLarge,
        _ => DiagnosticCode::UnreadableSource,
    };
    Finding::of_source(
        code,
        format!("reading broke off: {error}; the entries before it count"),
    )
}
