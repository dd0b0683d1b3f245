//! Generations on disk: one directory each, `CURRENT` names the live one and is changed by rename.
//!
//! `OUT/CURRENT` holds the generation's directory name and the SHA-256 of its manifest; the manifest holds
//! size and SHA-256 of every other file. A build works in `OUT/.build-PID` under a lock and becomes visible
//! in one step, so a killed build leaves the old generation untouched.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use sha2::{Digest, Sha256};
use tantivy::Directory;
use tantivy::directory::MmapDirectory;

use super::manifest::{FileEntry, MANIFEST_FILE, Manifest};
use super::{IndexError, Reader};
use crate::json::sha256_hex;

/// The definition store: version and operation, compressed.
pub(super) const DEFINITIONS_FILE: &str = "definitions";
/// The card file: name and card.
pub(super) const CARDS_FILE: &str = "cards";
/// What stands for the engine's own files where it does not say which one is damaged.
const SEGMENT: &str = "the segment";

/// The impact table of a segment, by its place in the manifest.
pub(super) fn impacts_file(segment: usize) -> String {
    format!("impacts.{segment}")
}

const CURRENT_FILE: &str = "CURRENT";
const LOCK_FILE: &str = "LOCK";
pub(super) const BUILD_PREFIX: &str = ".build-";
const GENERATION_PREFIX: &str = "g-";
const SPOOL_FILE: &str = "spool";

/// How often opening is tried again when the generation is replaced between reading its name and opening it.
const OPEN_TRIES: usize = 5;

/// A directory in which a generation is being built.
pub(super) struct BuildDirectory {
    out: PathBuf,
    path: PathBuf,
    /// Held until the build is over; the system releases it when the process dies.
    _lock: File,
}

impl BuildDirectory {
    pub(super) fn create(out: &Path) -> Result<Self, IndexError> {
        fs::create_dir_all(out).map_err(IndexError::file("create", out))?;
        let lock_path = out.join(LOCK_FILE);
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&lock_path)
            .map_err(IndexError::file("create", &lock_path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                return Err(IndexError::Busy {
                    path: out.to_owned(),
                });
            }
            Err(fs::TryLockError::Error(error)) => {
                return Err(IndexError::file("lock", lock_path)(error));
            }
        }
        // Whoever left these was killed: the lock was free.
        remove_entries(out, |name| name.starts_with(BUILD_PREFIX))?;
        let path = build_path(out);
        fs::create_dir(&path).map_err(IndexError::file("create", &path))?;
        Ok(Self {
            out: out.to_owned(),
            path,
            _lock: lock,
        })
    }

    pub(super) fn spool_path(&self) -> PathBuf {
        self.path.join(SPOOL_FILE)
    }

    pub(super) fn open(&self) -> Result<Box<dyn Directory>, IndexError> {
        open_directory(&self.path)
    }

    /// Seals the files with a manifest and makes them the current generation; answers its path and size.
    pub(super) fn publish(self, mut manifest: Manifest) -> Result<(PathBuf, u64), IndexError> {
        for name in [
            SPOOL_FILE,
            ".tantivy-writer.lock",
            ".tantivy-meta.lock",
            ".managed.json",
        ] {
            let path = self.path.join(name);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(IndexError::file("remove", path)(error));
                }
                _ => {}
            }
        }
        manifest.files = file_entries(&self.path)?;
        let bytes = manifest.files.iter().map(|file| file.bytes).sum();
        let text = manifest.to_bytes();
        let manifest_path = self.path.join(MANIFEST_FILE);
        write_durably(&manifest_path, &text)?;
        sync_directory(&self.path)?;

        let digest = sha256_hex(&text);
        let name = generation_name(&manifest);
        let generation = self.out.join(&name);
        if generation.exists() {
            // The same manifest down to every checksum: what is there is what was built.
            fs::remove_dir_all(&self.path).map_err(IndexError::file("remove", &self.path))?;
        } else {
            fs::rename(&self.path, &generation).map_err(IndexError::file("rename", &self.path))?;
        }
        let previous = read_current(&self.out)
            .ok()
            .map(|current| current.generation);
        let staged = self.out.join(format!("{CURRENT_FILE}.new"));
        let switched =
            write_durably(&staged, format!("{name} {digest}\n").as_bytes()).and_then(|()| {
                let current = self.out.join(CURRENT_FILE);
                fs::rename(&staged, &current).map_err(IndexError::file("rename", &staged))
            });
        if let Err(error) = switched {
            // Nothing names it. On a full disk it must not stay until the next build; what cannot be removed
            // now does.
            if previous.as_ref() != Some(&name) {
                let _ = fs::remove_dir_all(&generation);
            }
            return Err(error);
        }
        sync_directory(&self.out)?;
        // The one before stays for a reader that has just read its name; files that are open live on.
        remove_entries(&self.out, |entry| {
            entry.starts_with(GENERATION_PREFIX)
                && entry != name
                && Some(entry) != previous.as_deref()
        })?;
        Ok((generation, bytes))
    }
}

impl Drop for BuildDirectory {
    fn drop(&mut self) {
        // A build that failed leaves nothing; one that succeeded was renamed away. What cannot be removed
        // now is removed by the next build.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Where this process builds; the lock admits one build at a time.
fn build_path(out: &Path) -> PathBuf {
    out.join(format!("{BUILD_PREFIX}{}", std::process::id()))
}

/// The directory name of a generation, by its manifest.
pub(super) fn generation_name(manifest: &Manifest) -> String {
    let digest = sha256_hex(&manifest.to_bytes());
    format!("{GENERATION_PREFIX}{}", &digest[..16])
}

/// Takes away what this process is building in an index directory, for a process that is about to end.
/// Answers whether there was something. The build fails at its next file; a generation that was complete
/// stays what it was.
pub fn abandon_build(out: &Path) -> bool {
    let path = build_path(out);
    // Renamed first: from here on the build can neither publish it nor put files into it.
    let gone = path.with_extension("gone");
    if fs::rename(&path, &gone).is_err() {
        return false;
    }
    // What cannot be removed now is removed by the next build.
    let _ = fs::remove_dir_all(&gone);
    true
}

pub(super) struct Current {
    pub(super) generation: String,
    digest: String,
}

pub(super) fn read_current(out: &Path) -> Result<Current, IndexError> {
    let path = out.join(CURRENT_FILE);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(IndexError::NoIndex {
                path: out.to_owned(),
            });
        }
        Err(error) => return Err(IndexError::file("read", path)(error)),
    };
    let mut words = text.split_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some(generation), Some(digest), None)
            if generation.starts_with(GENERATION_PREFIX) && !generation.contains(['/', '\\']) =>
        {
            Ok(Current {
                generation: generation.to_owned(),
                digest: digest.to_owned(),
            })
        }
        _ => Err(IndexError::damaged(
            CURRENT_FILE,
            "it does not name a generation",
        )),
    }
}

/// The path of the current generation of an index directory.
pub fn current(out: &Path) -> Result<PathBuf, IndexError> {
    read_current(out).map(|current| out.join(current.generation))
}

/// Opens the current generation of an index directory.
pub fn open_current(out: &Path) -> Result<Reader, IndexError> {
    let mut tries = OPEN_TRIES;
    loop {
        let current = read_current(out)?;
        let path = out.join(&current.generation);
        let opened = check_manifest(&path, &current.digest).and_then(|()| open_generation(&path));
        tries -= 1;
        match opened {
            // The generation went away because a newer one took its place meanwhile.
            Err(_) if tries > 0 && !path.exists() => {}
            opened => return opened,
        }
    }
}

fn check_manifest(path: &Path, digest: &str) -> Result<(), IndexError> {
    let file = path.join(MANIFEST_FILE);
    let bytes = fs::read(&file).map_err(IndexError::file("read", &file))?;
    // The manifest of another format is told as such, not as damage.
    Manifest::read(&bytes)?;
    if sha256_hex(&bytes) == digest {
        return Ok(());
    }
    Err(IndexError::damaged(
        MANIFEST_FILE,
        "it does not match the checksum in CURRENT",
    ))
}

/// Opens one generation, checking that every file is there in its size.
pub(super) fn open_generation(path: &Path) -> Result<Reader, IndexError> {
    let file = path.join(MANIFEST_FILE);
    let bytes = fs::read(&file).map_err(IndexError::file("read", &file))?;
    for entry in &Manifest::read(&bytes)?.files {
        let size = fs::metadata(path.join(&entry.name)).map(|data| data.len());
        match size {
            Ok(size) if size == entry.bytes => {}
            Ok(size) => {
                let reason = format!("it has {size} bytes instead of {}", entry.bytes);
                return Err(IndexError::damaged(&entry.name, reason));
            }
            Err(error) => return Err(IndexError::damaged(&entry.name, error.to_string())),
        }
    }
    let directory = open_directory(path)?;
    // The engine trusts its files: numbers of a damaged one can make it panic while it opens them.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| Reader::open(&*directory)))
        .unwrap_or_else(|_| Err(IndexError::damaged(SEGMENT, "the engine cannot open it")))
}

/// Checks every byte of the current generation against its checksums; answers how many bytes.
pub fn verify(out: &Path) -> Result<u64, IndexError> {
    let current = read_current(out)?;
    let path = out.join(&current.generation);
    check_manifest(&path, &current.digest)?;
    let file = path.join(MANIFEST_FILE);
    let manifest = Manifest::read(&fs::read(&file).map_err(IndexError::file("read", &file))?)?;
    let found = file_entries(&path)?;
    for expected in &manifest.files {
        match found.iter().find(|file| file.name == expected.name) {
            Some(file) if file == expected => {}
            Some(_) => {
                return Err(IndexError::damaged(
                    &expected.name,
                    "its bytes do not match the checksum in the manifest",
                ));
            }
            None => return Err(IndexError::damaged(&expected.name, "it is missing")),
        }
    }
    Ok(manifest.files.iter().map(|file| file.bytes).sum())
}

fn open_directory(path: &Path) -> Result<Box<dyn Directory>, IndexError> {
    let directory = MmapDirectory::open(path).map_err(|error| {
        IndexError::engine("open a directory")(tantivy::TantivyError::from(error))
    })?;
    Ok(Box::new(directory))
}

/// Every file but the manifest, by name, with size and digest.
fn file_entries(path: &Path) -> Result<Vec<FileEntry>, IndexError> {
    let mut names = Vec::new();
    for entry in fs::read_dir(path).map_err(IndexError::file("read", path))? {
        let entry = entry.map_err(IndexError::file("read", path))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name != MANIFEST_FILE {
            names.push(name);
        }
    }
    names.sort_unstable();
    names
        .into_par_iter()
        .map(|name| file_entry(path, name))
        .collect()
}

fn file_entry(path: &Path, name: String) -> Result<FileEntry, IndexError> {
    let path = path.join(&name);
    let mut file = File::open(&path).map_err(IndexError::file("read", &path))?;
    let mut digest = DigestWriter(Sha256::new());
    let bytes = io::copy(&mut file, &mut digest).map_err(IndexError::file("read", &path))?;
    let sha256 = digest
        .0
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Ok(FileEntry {
        name,
        bytes,
        sha256,
    })
}

/// Bytes written here are hashed.
struct DigestWriter(Sha256);

impl Write for DigestWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(super) fn write_durably(path: &Path, bytes: &[u8]) -> Result<(), IndexError> {
    let write = || -> io::Result<()> {
        let mut file = File::create(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(IndexError::file("write", path))
}

pub(super) fn sync_directory(path: &Path) -> Result<(), IndexError> {
    File::open(path)
        .and_then(|directory| directory.sync_all())
        .map_err(IndexError::file("sync", path))
}

/// Removes the entries of a directory whose name is chosen, whatever they are.
fn remove_entries(out: &Path, chosen: impl Fn(&str) -> bool) -> Result<(), IndexError> {
    for entry in fs::read_dir(out).map_err(IndexError::file("read", out))? {
        let entry = entry.map_err(IndexError::file("read", out))?;
        if !chosen(&entry.file_name().to_string_lossy()) {
            continue;
        }
        let path = entry.path();
        let removed = if path.is_dir() {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(IndexError::file("remove", path)(error));
            }
            _ => {}
        }
    }
    Ok(())
}
