//! Reading the files a document refers to, under the limits they share.
//!
//! Owns: how many files, bytes, values and seconds one document may take. Must never choose what is read.

use std::io::Read;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::catalog::parse::{DOCUMENT_BYTES_MAX, DOCUMENT_VALUES_MAX, Text, parse};
use crate::catalog::{DiagnosticCode, LoadError, Loader, SourceTarget};

/// A document refers to at most this many files; people's largest refer to a few thousand.
const FILES_MAX: usize = 20_000;

/// The files of a document are at most this many bytes together (128 MiB).
const FILES_BYTES_MAX: u64 = 128 * 1024 * 1024;

/// From one file to the next, at most this many steps: people's chains have a handful.
const FILE_LEVELS_MAX: usize = 100;

/// Fetching the files of one document takes at most this long; each fetch has a deadline of its own.
const FETCHES_MAX: Duration = Duration::from_mins(5);

/// What reading the files of one document took so far.
pub(super) struct Reading<'a> {
    loader: &'a dyn Loader,
    files: usize,
    values_left: u64,
    bytes_left: u64,
    fetching: Duration,
}

/// A code and a sentence.
pub(super) type Fault = (DiagnosticCode, String);

fn too_large(why: String) -> Fault {
    (DiagnosticCode::SourceTooLarge, why)
}

impl<'a> Reading<'a> {
    /// For the files of a document that is in memory already.
    pub(super) fn beside(document: &Value, loader: &'a dyn Loader) -> Self {
        Self {
            loader,
            files: 0,
            values_left: (DOCUMENT_VALUES_MAX as u64).saturating_sub(count(document)),
            bytes_left: FILES_BYTES_MAX,
            fetching: Duration::ZERO,
        }
    }

    /// The text of a file that is some steps away from the document.
    pub(super) fn read(&mut self, target: &SourceTarget, levels: usize) -> Result<Text, Fault> {
        self.files += 1;
        if self.files > FILES_MAX {
            return Err(too_large(format!(
                "the document refers to over {FILES_MAX} files; split it"
            )));
        }
        if levels > FILE_LEVELS_MAX {
            return Err(too_large(format!(
                "it is over {FILE_LEVELS_MAX} files away from the document; refer to it directly"
            )));
        }
        let bytes = self.bytes(target)?;
        let is_json = match target {
            SourceTarget::File(path) => path
                .extension()
                .is_some_and(|it| it.eq_ignore_ascii_case("json")),
            SourceTarget::Url(url) => url.path().to_ascii_lowercase().ends_with(".json"),
        };
        let text = parse(bytes, is_json).map_err(|fault| match fault.code {
            DiagnosticCode::NotOpenapi => {
                (DiagnosticCode::UnresolvableRef, "it is empty".to_owned())
            }
            code => {
                let place = fault.position.map_or(String::new(), |at| {
                    let column = at
                        .column
                        .map_or(String::new(), |it| format!(" column {it}"));
                    format!(" (line {}{column})", at.line)
                });
                (code, format!("it cannot be read{place}: {}", fault.message))
            }
        })?;
        match self.values_left.checked_sub(count(&text.value)) {
            Some(left) => self.values_left = left,
            None => {
                return Err(too_large(format!(
                    "the document and its files hold over {DOCUMENT_VALUES_MAX} values together; split it"
                )));
            }
        }
        Ok(text)
    }

    fn bytes(&mut self, target: &SourceTarget) -> Result<Vec<u8>, Fault> {
        let is_fetched = matches!(target, SourceTarget::Url(_));
        if is_fetched && self.fetching > FETCHES_MAX {
            return Err((
                DiagnosticCode::UnresolvableRef,
                format!(
                    "what the document refers to was not there within {} s; keep it in files",
                    FETCHES_MAX.as_secs()
                ),
            ));
        }
        let bytes_max = DOCUMENT_BYTES_MAX.min(self.bytes_left);
        let began = Instant::now();
        let bytes = whole(self.loader, target, bytes_max);
        if is_fetched {
            self.fetching += began.elapsed();
        }
        let bytes = bytes.map_err(|error| match error {
            LoadError::TooLarge { .. } if bytes_max < DOCUMENT_BYTES_MAX => too_large(format!(
                "the files of the document are over {FILES_BYTES_MAX} bytes together; split it"
            )),
            LoadError::TooLarge { .. } => too_large(format!("it is too large: {error}; split it")),
            error => (
                DiagnosticCode::UnresolvableRef,
                format!("it cannot be read: {error}"),
            ),
        })?;
        self.bytes_left -= bytes.len() as u64;
        Ok(bytes)
    }
}

fn whole(loader: &dyn Loader, target: &SourceTarget, bytes_max: u64) -> Result<Vec<u8>, LoadError> {
    let mut bytes = Vec::new();
    let stream = loader.open(target, Some(bytes_max))?;
    let read = stream.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if read as u64 > bytes_max {
        return Err(LoadError::TooLarge { bytes_max });
    }
    Ok(bytes)
}

/// How many values there are in a value.
fn count(value: &Value) -> u64 {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum::<u64>(),
        Value::Object(map) => map.values().map(count).sum(),
        _ => 0,
    }
}
