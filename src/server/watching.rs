//! Watching sources: a change that has come to rest asks for a reload.
//!
//! Owns: when a change counts. Must never trust an event: the file system's events only wake, what changed is
//! seen by looking. So nothing is missed that replaces files, moves links or comes over a network, and nothing
//! is reloaded because somebody read a file.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use super::reload::{Reloader, Trigger};
use crate::catalog::{Place, Referenced, Stamp};

/// A source that changed must then stay as it is for this long: writing a large file takes a while, and an
/// editor that saves five files saves them together.
const QUIET: Duration = Duration::from_secs(1);

/// Sources are looked at this often even when no event came: some file systems send none.
const LOOK_INTERVAL: Duration = Duration::from_secs(30);

/// What is watched.
#[derive(Debug, Clone)]
pub enum Watched {
    /// Documents, directories, patterns and catalogues.
    Sources {
        /// As they were named.
        named: Vec<String>,
        /// The files that the documents refer to.
        referenced: Referenced,
    },
    /// The same where a configuration says what they are, which may change with every reload.
    Configured {
        /// Says what they are now.
        listing: Listing,
        /// The files that the documents refer to.
        referenced: Referenced,
    },
    /// An index directory, which changes when another generation becomes current.
    Index(PathBuf),
}

/// Says what the sources are now.
#[derive(Clone)]
pub struct Listing(Arc<dyn Fn() -> Vec<String> + Send + Sync>);

impl Listing {
    /// A listing that is asked whenever something is looked at.
    pub fn new(list: impl Fn() -> Vec<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(list))
    }
}

impl std::fmt::Debug for Listing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Listing").finish_non_exhaustive()
    }
}

/// Where events may tell of a change.
fn places(named: &[String], referenced: &Referenced) -> Vec<Place> {
    let mut places = Place::of_sources(named);
    places.extend(Place::of_stamp(&referenced.get()));
    places
}

impl Watched {
    /// What there is now, apart from files that documents refer to.
    pub fn stamp(&self) -> Stamp {
        match self {
            Self::Sources { named, .. } => Stamp::of_sources(named),
            Self::Configured { listing, .. } => Stamp::of_sources(&(listing.0)()),
            Self::Index(directory) => Stamp::of_files([directory.join("CURRENT")]),
        }
    }

    /// The files that documents refer to, as they were when they were read last.
    fn referenced(&self) -> Stamp {
        match self {
            Self::Sources { referenced, .. } | Self::Configured { referenced, .. } => {
                referenced.get()
            }
            Self::Index(_) => Stamp::default(),
        }
    }

    fn places(&self) -> Vec<Place> {
        match self {
            Self::Sources { named, referenced } => places(named, referenced),
            Self::Configured {
                listing,
                referenced,
            } => places(&(listing.0)(), referenced),
            Self::Index(directory) => vec![Place {
                path: directory.clone(),
                is_tree: false,
            }],
        }
    }
}

/// What was seen at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    named: Stamp,
    referenced: Stamp,
}

/// Asks for a reload whenever what is watched is no longer what `seen` was and has come to rest. Runs until it
/// is dropped; must be called inside a runtime.
///
/// Files that documents refer to are compared with what they were when they were read, until they were seen to
/// change once: a reload that was refused because of one is not tried again before something moves.
pub async fn watch(watched: Watched, seen: Stamp, reloader: Reloader) {
    let watched = Arc::new(watched);
    let wake = Arc::new(Notify::new());
    let mut seen = Seen {
        named: seen,
        referenced: watched.referenced(),
    };
    let mut events = listen(&watched, &wake).await;
    let mut listened = seen.referenced.clone();
    loop {
        // Whether an event came or the time is up: what counts is what is there.
        let _ = timeout(LOOK_INTERVAL, wake.notified()).await;
        let Some(mut now) = look(&watched).await else {
            return;
        };
        // Another generation may refer to other files.
        let read = watched.referenced();
        seen.referenced = seen.referenced.carried_to(&read);
        if now != seen {
            loop {
                sleep(QUIET).await;
                let Some(again) = look(&watched).await else {
                    return;
                };
                if again == now {
                    break;
                }
                now = again;
            }
            // A reload that was asked for otherwise may have been done meanwhile.
            seen.referenced = seen.referenced.carried_to(&now.referenced);
            if now != seen {
                seen = now;
                reloader.request(Trigger::Watch);
            }
        } else if read.is_of_the_files_of(&listened) {
            continue;
        }
        // Directories may have come, or gone and come back.
        drop(events);
        listened = read;
        events = listen(&watched, &wake).await;
    }
}

/// Looks at what is watched, away from the reactor; `None` when the runtime is ending.
async fn look(watched: &Arc<Watched>) -> Option<Seen> {
    let watched = Arc::clone(watched);
    tokio::task::spawn_blocking(move || Seen {
        named: watched.stamp(),
        referenced: watched.referenced().again(),
    })
    .await
    .ok()
}

/// Listens for events in every place. Where that cannot be had, looking at intervals remains.
async fn listen(watched: &Arc<Watched>, wake: &Arc<Notify>) -> Option<RecommendedWatcher> {
    let (watched, wake) = (Arc::clone(watched), Arc::clone(wake));
    let listening = tokio::task::spawn_blocking(move || {
        let waking = Arc::clone(&wake);
        let on_event = move |event: notify::Result<notify::Event>| {
            // Reading is no change, and this process reads.
            if !event.is_ok_and(|event| event.kind.is_access()) {
                waking.notify_one();
            }
        };
        let mut events = match notify::recommended_watcher(on_event) {
            Ok(events) => events,
            Err(error) => {
                tracing::warn!(%error, "no events of the file system: sources are looked at every 30 s");
                return None;
            }
        };
        for place in watched.places() {
            let mode = if place.is_tree {
                RecursiveMode::Recursive
            } else {
                RecursiveMode::NonRecursive
            };
            if let Err(error) = events.watch(&place.path, mode) {
                let path = place.path.display();
                tracing::warn!(%error, %path, "no events of this directory: it is looked at every 30 s");
            }
        }
        // What happened between the last look and now.
        wake.notify_one();
        Some(events)
    });
    listening.await.ok().flatten()
}
