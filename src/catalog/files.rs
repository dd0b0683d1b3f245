//! The files behind sources as the file system tells of them, without reading one.
//!
//! Owns: the state of a file, the stamp of all of them, and the directories in which changes show. Must never
//! decide whether to read again: a stamp only says that something may have changed.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use super::SourceTarget;
use super::sources::{Expanded, as_url, expand, glob_root};

/// What the file system says of a file. Two equal states are the same bytes as far as it can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileState {
    pub(super) bytes: u64,
    pub(super) modified: Option<SystemTime>,
    /// Where there is one: the number of the file, and when anything about it last changed. A file that was
    /// replaced by one of the same size and time, or whose time was set back, shows here.
    identity: Option<(u64, u64, i64, i64)>,
}

impl FileState {
    /// The state of a file; `None` when there is none to be read.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        Some(Self {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            identity: identity(&metadata),
        })
    }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have none")]
fn identity(metadata: &fs::Metadata) -> Option<(u64, u64, i64, i64)> {
    use std::os::unix::fs::MetadataExt as _;
    Some((
        metadata.dev(),
        metadata.ino(),
        metadata.ctime(),
        metadata.ctime_nsec(),
    ))
}

#[cfg(not(unix))]
fn identity(_metadata: &fs::Metadata) -> Option<(u64, u64, i64, i64)> {
    None
}

/// All files of some sources with their states. Unequal stamps: something was changed, added or taken away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stamp(Vec<(PathBuf, Option<FileState>)>);

impl Stamp {
    /// The stamp of the files that sources name now. URLs have none: only fetching tells.
    pub fn of_sources(sources: &[String]) -> Self {
        let Expanded { items, .. } = expand(sources);
        let files = items.into_iter().filter_map(|item| match item.target {
            SourceTarget::File(path) => Some(path),
            SourceTarget::Url(_) => None,
        });
        Self::of_files(files)
    }

    /// The stamp of single files.
    pub fn of_files(files: impl IntoIterator<Item = PathBuf>) -> Self {
        let stamped = files.into_iter().map(|path| {
            let state = FileState::of(&path);
            (path, state)
        });
        Self(stamped.collect())
    }

    /// The files with their states as they were seen.
    pub(super) fn of_seen(seen: Vec<(PathBuf, Option<FileState>)>) -> Self {
        Self(seen)
    }

    /// The same files as they are now.
    #[must_use]
    pub fn again(&self) -> Self {
        Self::of_files(self.0.iter().map(|(path, _)| path.clone()))
    }

    /// This, and what `other` says of files that this says nothing of.
    #[must_use]
    pub fn beside(mut self, other: Self) -> Self {
        let known: HashSet<PathBuf> = self.0.iter().map(|(path, _)| path.clone()).collect();
        let more = other.0.into_iter();
        self.0
            .extend(more.filter(|(path, _)| !known.contains(path)));
        self
    }

    /// Whether it is about the same files as another.
    pub fn is_of_the_files_of(&self, other: &Self) -> bool {
        let mut pairs = self.0.iter().zip(&other.0);
        self.0.len() == other.0.len() && pairs.all(|(one, other)| one.0 == other.0)
    }

    /// What this says of the files that `other` names, and where it says nothing, what `other` says.
    #[must_use]
    pub fn carried_to(&self, other: &Self) -> Self {
        let known: HashMap<&PathBuf, &Option<FileState>> =
            self.0.iter().map(|(path, state)| (path, state)).collect();
        let carried = other.0.iter().map(|(path, state)| {
            let state = known.get(path).map_or(state, |known| *known);
            (path.clone(), *state)
        });
        Self(carried.collect())
    }

    /// How many bytes the files have together.
    pub fn bytes(&self) -> u64 {
        self.0
            .iter()
            .filter_map(|(_, state)| *state)
            .map(|state| state.bytes)
            .sum()
    }
}

/// The files that what serves refers to, as they were when they were read. Clones share it: whoever reads tells
/// whoever watches.
#[derive(Debug, Clone, Default)]
pub struct Referenced(Arc<Mutex<Stamp>>);

impl Referenced {
    /// Tells what was read last.
    pub fn set(&self, stamp: Stamp) {
        // What it guards is replaced as a whole.
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = stamp;
    }

    /// What was read last.
    pub fn get(&self) -> Stamp {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// A directory in which changes of sources show.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The directory.
    pub path: PathBuf,
    /// Whether everything below it counts too.
    pub is_tree: bool,
}

impl Place {
    /// The places of some sources that exist now.
    ///
    /// A file shows in its directory, not only in itself: editors write a new file and rename it over the old
    /// one. A link shows where it points to as well. A tree's own directory shows in the one above, so that
    /// it may be taken away and come back.
    pub fn of_sources(sources: &[String]) -> Vec<Self> {
        let mut places = BTreeSet::new();
        for source in sources {
            if as_url(source).is_some() {
                continue;
            }
            let path = Path::new(source);
            let root = glob_root(source);
            let tree = if path.is_dir() {
                Some(path)
            } else if path.exists() {
                None
            } else {
                root.as_deref()
            };
            if let Some(tree) = tree {
                places.insert(Self {
                    path: tree.to_owned(),
                    is_tree: true,
                });
            }
            Self::add_directory(tree.unwrap_or(path), &mut places);
        }
        places
            .into_iter()
            .filter(|place| place.path.is_dir())
            .collect()
    }

    /// The places of single files, that exist now.
    pub fn of_stamp(stamp: &Stamp) -> Vec<Self> {
        let mut places = BTreeSet::new();
        for (path, _) in &stamp.0 {
            Self::add_directory(path, &mut places);
        }
        places
            .into_iter()
            .filter(|place| place.path.is_dir())
            .collect()
    }

    /// The directory a path stands in, and the one that what it points to stands in.
    fn add_directory(path: &Path, places: &mut BTreeSet<Self>) {
        for path in [Some(path.to_owned()), path.canonicalize().ok()] {
            let Some(path) = path else { continue };
            let parent = match path.parent() {
                Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
                Some(parent) => parent.to_owned(),
                None => continue,
            };
            places.insert(Self {
                path: parent,
                is_tree: false,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(path: &Path) -> Stamp {
        Stamp::of_sources(&[path.display().to_string()])
    }

    #[test]
    fn a_stamp_tells_every_kind_of_change_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("a.yaml");
        fs::write(&file, "one").unwrap();
        let before = stamp(root.path());
        assert_eq!(before, stamp(root.path()), "nothing happened");
        fs::read(&file).unwrap();
        fs::write(root.path().join("notes.md"), "no source").unwrap();
        assert_eq!(before, stamp(root.path()), "nothing that counts happened");

        // Replaced by a file of the same size and time.
        let other = root.path().join("other");
        fs::write(&other, "two").unwrap();
        let modified = fs::metadata(&file).unwrap().modified().unwrap();
        fs::File::options()
            .write(true)
            .open(&other)
            .unwrap()
            .set_modified(modified)
            .unwrap();
        fs::rename(&other, &file).unwrap();
        let replaced = stamp(root.path());
        assert_ne!(before, replaced, "replaced");
        fs::write(root.path().join("b.json"), "{}").unwrap();
        let added = stamp(root.path());
        assert_ne!(replaced, added, "added");
        fs::remove_file(&file).unwrap();
        assert_ne!(added, stamp(root.path()), "taken away");
        assert_ne!(
            stamp(&file),
            Stamp::of_files([]),
            "a file that is not there is told too"
        );
    }

    #[test]
    fn what_was_seen_is_carried_over_to_other_files() {
        let root = tempfile::tempdir().unwrap();
        let paths = ["a", "b", "c"].map(|name| root.path().join(name));
        let of =
            |indexes: &[usize]| Stamp::of_files(indexes.iter().map(|&index| paths[index].clone()));
        let seen = of(&[0, 1]);
        fs::write(&paths[0], "now").unwrap();
        fs::write(&paths[2], "now").unwrap();
        let read = of(&[0, 2]);
        let carried = seen.carried_to(&read);
        assert!(carried.is_of_the_files_of(&read) && !carried.is_of_the_files_of(&seen));
        assert_ne!(
            carried, read,
            "what was seen of the first was that it is not there"
        );
        assert_ne!(carried, carried.again());
        assert_eq!(read, read.again());
        let all = read.clone().beside(seen);
        assert_eq!(all, of(&[0, 2, 1]), "of the first, what was read");
    }

    #[test]
    fn changes_show_in_directories() {
        let root = tempfile::tempdir().unwrap();
        let tree = root.path().join("tree");
        fs::create_dir(&tree).unwrap();
        fs::write(tree.join("a.yaml"), "").unwrap();
        let at = |path: PathBuf| path.display().to_string();
        let places = |source: String| -> Vec<(PathBuf, bool)> {
            Place::of_sources(&[source])
                .into_iter()
                .map(|place| (place.path, place.is_tree))
                .collect()
        };
        let above = (root.path().to_owned(), false);
        assert_eq!(
            places(at(tree.join("a.yaml"))),
            [(tree.clone(), false)],
            "a file in its directory"
        );
        assert_eq!(
            places(at(tree.join("gone.yaml"))),
            [(tree.clone(), false)],
            "also one that is not there yet"
        );
        assert_eq!(
            places(at(tree.clone())),
            [above.clone(), (tree.clone(), true)]
        );
        assert_eq!(places(at(tree.join("*.yaml"))), [above, (tree, true)]);
        assert_eq!(places("https://h.test/a.yaml".to_owned()), []);
        assert_eq!(places("a.yaml".to_owned()), [(PathBuf::from("."), false)]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_shows_where_it_points() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for directory in ["real", "links"] {
            fs::create_dir(root.join(directory)).unwrap();
        }
        fs::write(root.join("real/a.yaml"), "").unwrap();
        let link = root.join("links/a.yaml");
        std::os::unix::fs::symlink(root.join("real/a.yaml"), &link).unwrap();
        let places = Place::of_sources(&[link.display().to_string()]);
        let paths: Vec<_> = places.into_iter().map(|place| place.path).collect();
        assert_eq!(paths, [root.join("links"), root.join("real")]);
    }
}
