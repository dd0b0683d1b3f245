//! Saying "stop" once, to everyone who serves.
//!
//! Owns: the two phases of stopping. Must never decide when to stop or do the stopping itself.

use std::future::pending;
use std::sync::Arc;

use tokio::sync::watch;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Serving,
    Draining,
    Now,
}

/// The one who says stop. Clones speak with one voice; dropping all of them is not a stop.
#[derive(Debug, Clone)]
pub struct Stopper(Arc<watch::Sender<Phase>>);

/// One who is told to stop.
#[derive(Debug, Clone)]
pub struct Stop(watch::Receiver<Phase>);

impl Default for Stopper {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(Phase::Serving)))
    }
}

impl Stopper {
    /// A stopper that has not said stop.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stop gracefully: nothing new is begun, what is in flight is finished under its deadlines.
    pub fn stop(&self) {
        self.advance(Phase::Draining);
    }

    /// Stop at once: nothing more is waited for.
    pub fn stop_now(&self) {
        self.advance(Phase::Now);
    }

    /// One who hears this stopper.
    pub fn listener(&self) -> Stop {
        Stop(self.0.subscribe())
    }

    fn advance(&self, to: Phase) {
        self.0.send_if_modified(|phase| {
            let later = *phase < to;
            *phase = to.max(*phase);
            later
        });
    }
}

impl Stop {
    /// Whether stop was said.
    pub fn is_stopping(&self) -> bool {
        *self.0.borrow() >= Phase::Draining
    }

    /// Waits until stop is said; at once when it was.
    pub async fn stopping(&mut self) {
        self.reached(Phase::Draining).await;
    }

    /// Waits until stopping at once is asked for.
    pub async fn now(&mut self) {
        self.reached(Phase::Now).await;
    }

    async fn reached(&mut self, wanted: Phase) {
        if self.0.wait_for(|phase| *phase >= wanted).await.is_err() {
            // Nobody is left who could say stop.
            pending::<()>().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn stop_is_said_once_and_never_taken_back() {
        let stopper = Stopper::new();
        let mut early = stopper.listener();
        assert!(!early.is_stopping());
        stopper.stop_now();
        stopper.stop();
        early.stopping().await;
        early.now().await;
        let mut late = stopper.listener();
        late.now().await;
        assert!(late.is_stopping());
    }

    #[tokio::test]
    async fn a_dropped_stopper_is_not_a_stop() {
        let mut stop = Stopper::new().listener();
        let waited = tokio::time::timeout(std::time::Duration::from_millis(20), stop.stopping());
        assert!(waited.await.is_err());
    }
}
