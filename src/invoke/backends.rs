//! How many calls each backend has in flight. Must never remember a backend that nobody calls for long.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use url::Url;

/// How many backends are remembered before those without a call are forgotten.
const REMEMBERED_MAX: usize = 1024;

/// The limits by origin: scheme, host and port.
#[derive(Debug)]
pub(super) struct Backends {
    in_flight_max: usize,
    by_origin: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl Backends {
    pub(super) fn new(in_flight_max: usize) -> Self {
        Self {
            in_flight_max: in_flight_max.clamp(1, Semaphore::MAX_PERMITS),
            by_origin: Mutex::default(),
        }
    }

    /// Waits for a place; it is held until the permit is dropped.
    pub(super) async fn enter(&self, url: &Url) -> Option<OwnedSemaphorePermit> {
        // Only a closed semaphore gives none, and none is ever closed.
        self.places(url).acquire_owned().await.ok()
    }

    fn places(&self, url: &Url) -> Arc<Semaphore> {
        let origin = url.origin().ascii_serialization();
        let mut by_origin = self
            .by_origin
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if by_origin.len() >= REMEMBERED_MAX && !by_origin.contains_key(&origin) {
            // A backend with a call in flight or waiting is held by that call as well.
            by_origin.retain(|_, places| Arc::strong_count(places) > 1);
        }
        let places = by_origin
            .entry(origin)
            .or_insert_with(|| Arc::new(Semaphore::new(self.in_flight_max)));
        Arc::clone(places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[tokio::test]
    async fn places_are_counted_by_origin() {
        let backends = Backends::new(1);
        let held = backends.enter(&url("https://a.test/x")).await.unwrap();
        assert_eq!(
            backends
                .places(&url("https://a.test:443/y"))
                .available_permits(),
            0
        );
        assert_eq!(
            backends.places(&url("http://a.test/x")).available_permits(),
            1
        );
        assert_eq!(
            backends
                .places(&url("https://a.test:444/"))
                .available_permits(),
            1
        );
        drop(held);
        assert_eq!(
            backends.places(&url("https://a.test/")).available_permits(),
            1
        );
    }

    #[tokio::test]
    async fn idle_backends_are_forgotten_and_busy_ones_are_not() {
        let backends = Backends::new(2);
        let held = backends.enter(&url("https://busy.test/")).await.unwrap();
        for number in 0..3 * REMEMBERED_MAX {
            drop(backends.places(&url(&format!("https://h{number}.test/"))));
        }
        assert!(backends.by_origin.lock().unwrap().len() <= REMEMBERED_MAX);
        assert_eq!(
            backends
                .places(&url("https://busy.test/"))
                .available_permits(),
            1
        );
        drop(held);
    }
}
