//! Where bytes come from: the loader that is handed in, and the plain one for files.
//!
//! Owns: the contract of loaders. Must never open a network connection.

use std::fs::{self, File};
use std::io::Read;
use std::path::PathBuf;

use url::Url;

use crate::http::Validators;

/// One thing to load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceTarget {
    /// A local file.
    File(PathBuf),
    /// An http or https URL.
    Url(Url),
}

/// A source that was opened.
pub struct OpenedSource {
    /// Its bytes from the start.
    pub stream: Box<dyn Read + Send>,
    /// What a server said of them.
    pub validators: Validators,
}

/// Opens sources. Called from several threads at once; may block.
pub trait Loader: Sync {
    /// Opens a source for one reading from its start. `bytes_max`, where there is one, is the most the
    /// reader will take: a loader that knows the size refuses early with [`LoadError::TooLarge`].
    fn open(
        &self,
        target: &SourceTarget,
        bytes_max: Option<u64>,
    ) -> Result<Box<dyn Read + Send>, LoadError>;

    /// Opens a source unless it is still what `known` was said of: then there is nothing. Without validators
    /// it is always opened. A loader that cannot tell opens it, too.
    fn open_unless(
        &self,
        target: &SourceTarget,
        bytes_max: Option<u64>,
        known: &Validators,
    ) -> Result<Option<OpenedSource>, LoadError> {
        let _ = known;
        Ok(Some(OpenedSource {
            stream: self.open(target, bytes_max)?,
            validators: Validators::default(),
        }))
    }
}

/// Why a source could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file system, or the connection, failed.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The source is larger than asked for.
    #[error("it is over {bytes_max} bytes")]
    TooLarge {
        /// The limit, in bytes.
        bytes_max: u64,
    },
    /// The loader does not load this; the sentence says why and what to do.
    #[error("{0}")]
    Refused(String),
}

/// Loads local files and nothing else.
#[derive(Debug, Clone, Copy, Default)]
pub struct FileLoader;

impl Loader for FileLoader {
    fn open(
        &self,
        target: &SourceTarget,
        bytes_max: Option<u64>,
    ) -> Result<Box<dyn Read + Send>, LoadError> {
        let SourceTarget::File(path) = target else {
            let message = "URLs are not fetched here; name a file";
            return Err(LoadError::Refused(message.to_owned()));
        };
        // Asked before it is opened: opening a pipe waits for a writer, which may never come.
        if !fs::metadata(path)?.is_file() {
            let message =
                "it is no regular file; save it as one, for it is read again at every reload";
            return Err(LoadError::Refused(message.to_owned()));
        }
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        match bytes_max {
            Some(bytes_max) if metadata.len() > bytes_max => Err(LoadError::TooLarge { bytes_max }),
            _ => Ok(Box::new(file)),
        }
    }
}
