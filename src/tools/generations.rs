//! The serving generation: swapped in one step, kept by every request that began with it.

use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio::sync::watch;

use super::published;
use crate::index::Reader;

/// One generation as it serves.
#[derive(Debug)]
pub struct Generation {
    /// Counts swaps of this process, from 0.
    pub number: u64,
    /// The catalogue and its index.
    pub reader: Reader,
    /// The `tools` array of this generation, serialized once.
    pub(super) tools_json: Arc<str>,
}

/// The generations of one process; exactly one serves.
#[derive(Debug)]
pub struct Generations {
    current: ArcSwap<Generation>,
    number: watch::Sender<u64>,
}

impl Generations {
    /// Starts with generation 0.
    pub fn new(reader: Reader) -> Self {
        Self {
            current: ArcSwap::from_pointee(Generation::new(0, reader)),
            number: watch::Sender::new(0),
        }
    }

    /// The serving generation. Take it once a request and keep it to the end.
    pub fn current(&self) -> Arc<Generation> {
        self.current.load_full()
    }

    /// Swaps another generation in and tells listeners once; answers its number. Nothing is bumped, and
    /// `None` answered, when it equals the serving one in everything it holds.
    ///
    /// Reloads of one process are made one after another; this is not the place where two may race.
    pub fn replace(&self, reader: Reader) -> Option<u64> {
        let before = self.current();
        if before.reader.manifest().revision == reader.manifest().revision {
            return None;
        }
        let number = before.number + 1;
        self.current
            .store(Arc::new(Generation::new(number, reader)));
        self.number.send_replace(number);
        Some(number)
    }

    /// The number of the serving generation, as it changes.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.number.subscribe()
    }
}

impl Generation {
    fn new(number: u64, reader: Reader) -> Self {
        Self {
            number,
            reader,
            tools_json: published::tools_json(number).into(),
        }
    }
}
