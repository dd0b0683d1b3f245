//! Where operations wait, serialized, until their order is known.
//!
//! Records are appended in order of arrival and read back in name order; on disk the memory of a build does
//! not grow with the definitions.

use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::IndexError;
use crate::catalog::{Card, Operation};

/// Bytes of a version at the front of a stored definition.
pub(super) const VERSION_BYTES: usize = 16;

/// What is kept of an operation: its JSON, the version of its definition, its card.
pub(super) struct Record {
    pub(super) version: String,
    pub(super) operation: Vec<u8>,
    pub(super) card: Vec<u8>,
}

impl Record {
    pub(super) fn of(operation: &Operation) -> Result<Self, IndexError> {
        let unwritable = |error: serde_json::Error| IndexError::damaged("spool", error.to_string());
        let card = Card::of(&operation.definition);
        // The name stands in front so that looking a name up compares bytes and parses nothing.
        let name = card.name.as_bytes();
        let mut bytes = u32::try_from(name.len())
            .unwrap_or(u32::MAX)
            .to_le_bytes()
            .to_vec();
        bytes.extend_from_slice(name);
        serde_json::to_writer(&mut bytes, &card).map_err(unwritable)?;
        Ok(Self {
            version: operation.definition.version(),
            operation: serde_json::to_vec(operation).map_err(unwritable)?,
            card: bytes,
        })
    }

    /// The record of the definition store: version, then the operation.
    pub(super) fn stored(&self) -> Vec<u8> {
        [self.version.as_bytes(), &self.operation].concat()
    }
}

/// Reads an operation back from its JSON.
pub(super) fn decode(bytes: &[u8], file: &'static str) -> Result<Operation, IndexError> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    // Documents nest up to the catalogue's own limit, which was enforced when they were read.
    reader.disable_recursion_limit();
    serde::Deserialize::deserialize(&mut reader)
        .map_err(|error: serde_json::Error| IndexError::damaged(file, error.to_string()))
}

/// Where records wait until their order is known.
pub(super) enum Spool {
    Memory(Vec<u8>),
    File {
        file: std::io::BufWriter<std::fs::File>,
        path: std::path::PathBuf,
        end: u64,
        /// Whether the file stands where the next record goes; reading moves it.
        at_end: bool,
    },
}

pub(super) struct SpoolPlace {
    at: u64,
    operation_bytes: u32,
    card_bytes: u32,
}

impl Spool {
    pub(super) fn file(path: &Path) -> Result<Self, IndexError> {
        let file = std::fs::File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)
            .map_err(IndexError::file("create", path))?;
        Ok(Self::File {
            file: std::io::BufWriter::with_capacity(1 << 20, file),
            path: path.to_owned(),
            end: 0,
            at_end: true,
        })
    }

    pub(super) fn write(&mut self, record: &Record) -> Result<SpoolPlace, IndexError> {
        let parts = [record.version.as_bytes(), &record.operation, &record.card];
        let at = match self {
            Self::Memory(bytes) => {
                let at = bytes.len() as u64;
                for part in parts {
                    bytes.extend_from_slice(part);
                }
                at
            }
            Self::File {
                file,
                path,
                end,
                at_end,
            } => {
                let at = *end;
                if !*at_end {
                    file.seek(SeekFrom::Start(at))
                        .map_err(IndexError::file("write", &*path))?;
                    *at_end = true;
                }
                for part in parts {
                    file.write_all(part)
                        .map_err(IndexError::file("write", &*path))?;
                    *end += part.len() as u64;
                }
                at
            }
        };
        let size = |bytes: &[u8]| {
            u32::try_from(bytes.len())
                .map_err(|_| IndexError::damaged("spool", "an operation is over 4 GiB"))
        };
        Ok(SpoolPlace {
            at,
            operation_bytes: size(&record.operation)?,
            card_bytes: size(&record.card)?,
        })
    }

    pub(super) fn read(&mut self, place: &SpoolPlace) -> Result<Record, IndexError> {
        let total = VERSION_BYTES + place.operation_bytes as usize + place.card_bytes as usize;
        let mut bytes = vec![0; total];
        match self {
            Self::Memory(all) => {
                let at = usize::try_from(place.at).unwrap_or(usize::MAX);
                let slice = all
                    .get(at..at.saturating_add(total))
                    .ok_or_else(|| IndexError::damaged("spool", "a record is missing"))?;
                bytes.copy_from_slice(slice);
            }
            Self::File {
                file, path, at_end, ..
            } => {
                *at_end = false;
                file.flush()
                    .and_then(|()| {
                        let file = file.get_mut();
                        file.seek(SeekFrom::Start(place.at))?;
                        file.read_exact(&mut bytes)
                    })
                    .map_err(IndexError::file("read", &*path))?;
            }
        }
        let card = bytes.split_off(VERSION_BYTES + place.operation_bytes as usize);
        let operation = bytes.split_off(VERSION_BYTES);
        let version = String::from_utf8_lossy(&bytes).into_owned();
        Ok(Record {
            version,
            operation,
            card,
        })
    }
}
