//! What can go wrong with an index, in sentences for the person who runs it.

use std::path::PathBuf;

use tantivy::TantivyError;
use tantivy::directory::error::OpenWriteError;

/// Why an index could not be built, opened or read.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// A file could not be read or written.
    #[error("cannot {what} `{path}`")]
    File {
        /// What was tried (`create`, `read`, …).
        what: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The search engine failed while it read or wrote its files.
    #[error("the search engine failed while it tried to {what}")]
    Engine {
        /// What was tried.
        what: &'static str,
        /// What it said.
        #[source]
        source: tantivy::TantivyError,
    },
    /// The directory holds no index.
    #[error("`{path}` holds no index: it has no file CURRENT; build one with `sezzlee index`")]
    NoIndex {
        /// The directory.
        path: PathBuf,
    },
    /// The index is of a format this build does not read.
    #[error(
        "the index is of format {found}, tokenizer {found_tokenizer}; this build reads format {expected}, \
         tokenizer {expected_tokenizer}: build it again with `sezzlee index`"
    )]
    Format {
        /// The format of the index.
        found: u32,
        /// The tokenizer of the index.
        found_tokenizer: u32,
        /// The format of this build.
        expected: u32,
        /// The tokenizer of this build.
        expected_tokenizer: u32,
    },
    /// A file of the index is not what the manifest says, or not what its own checksum says.
    #[error(
        "`{file}` of the index is damaged: {reason}; build the index again with `sezzlee index`"
    )]
    Damaged {
        /// The file's name inside the generation.
        file: String,
        /// What does not fit.
        reason: String,
    },
    /// Two operations were handed over under one name.
    #[error("two operations are named `{name}`; names are unique in a catalogue")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// More operations than a document number can count.
    #[error("the catalogue holds more than {max} operations, which is more than one index takes")]
    TooMany {
        /// The limit.
        max: u32,
    },
    /// Another process is building into the same directory.
    #[error(
        "another process is building an index in `{path}`; wait for it or use another directory"
    )]
    Busy {
        /// The directory.
        path: PathBuf,
    },
}

impl IndexError {
    /// Whether the disk is full, or the process may not write as much.
    pub fn is_for_lack_of_room(&self) -> bool {
        use std::io::ErrorKind;
        let kind = match self {
            Self::File { source, .. } => source.kind(),
            Self::Engine {
                source:
                    TantivyError::IoError(error)
                    | TantivyError::OpenWriteError(OpenWriteError::IoError {
                        io_error: error, ..
                    }),
                ..
            } => error.kind(),
            _ => return false,
        };
        matches!(
            kind,
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
        )
    }

    pub(super) fn file(
        what: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { what, path, source }
    }

    pub(super) fn engine<E: Into<tantivy::TantivyError>>(
        what: &'static str,
    ) -> impl FnOnce(E) -> Self {
        move |source| Self::Engine {
            what,
            source: source.into(),
        }
    }

    pub(super) fn damaged(file: &str, reason: impl Into<String>) -> Self {
        Self::Damaged {
            file: file.to_owned(),
            reason: reason.into(),
        }
    }
}
