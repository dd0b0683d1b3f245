//! Reloading: one at a time, whoever asks.
//!
//! Owns: the order of reloads, joining those that are asked for meanwhile, swapping or refusing what was built,
//! and what is told of it. Must never read a source itself: how a generation is made is handed in.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

use tokio::sync::watch;

use crate::clock;
use crate::index::Reader;
use crate::tools::Generations;

/// Who asked for a reload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// The signal SIGHUP.
    Hangup,
    /// The admin endpoint.
    Admin,
    /// A watched source changed.
    Watch,
}

impl Trigger {
    /// The trigger's name in logs and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hangup => "hangup",
            Self::Admin => "admin",
            Self::Watch => "watch",
        }
    }
}

/// How a reload ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Another generation serves.
    Swapped {
        /// Its number.
        generation: u64,
    },
    /// What was read equals what serves.
    Unchanged,
    /// What was read must not serve; the generation before goes on.
    Refused {
        /// Why, for the operator.
        reason: String,
    },
}

impl Outcome {
    /// The outcome's name in logs and answers.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Swapped { .. } => "swapped",
            Self::Unchanged => "unchanged",
            Self::Refused { .. } => "refused",
        }
    }
}

/// A reload that is over.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// Who asked for it; the last one where several did.
    pub trigger: Trigger,
    /// How it ended.
    pub outcome: Outcome,
    /// When it ended.
    pub at: SystemTime,
    /// How long it took.
    pub seconds: f64,
}

/// What a gateway says of itself to its operator.
#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    /// The number of the serving generation.
    pub generation: u64,
    /// The first 16 digits of its revision.
    pub revision: String,
    /// How many operations it holds.
    pub operations: u32,
    /// Whether a reload is running.
    pub is_reloading: bool,
    /// The last reload that is over.
    pub last: Option<Finished>,
}

/// Makes the next generation, away from the reactor: `None` when the sources did not change, or the reason why
/// there is none.
pub type Make = dyn Fn() -> Result<Option<Reader>, String> + Send + Sync;

/// Through this every reload goes. Cheap to clone.
#[derive(Clone)]
pub struct Reloader(Arc<Shared>);

struct Shared {
    generations: Arc<Generations>,
    make: Box<Make>,
    queue: Mutex<Queue>,
    /// How many requests are answered, and by which reload.
    finished: watch::Sender<Answered>,
}

/// Requests are counted; a reload answers all that came before it began.
#[derive(Debug, Default)]
struct Queue {
    requested: u64,
    last_trigger: Option<Trigger>,
    is_running: bool,
}

#[derive(Debug, Clone, Default)]
struct Answered {
    upto: u64,
    last: Option<Finished>,
}

impl Reloader {
    /// Reloads these generations with what `make` makes.
    pub fn new(
        generations: Arc<Generations>,
        make: impl Fn() -> Result<Option<Reader>, String> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(Shared {
            generations,
            make: Box::new(make),
            queue: Mutex::default(),
            finished: watch::Sender::default(),
        }))
    }

    /// Asks for a reload and waits for one that began after this was called. Those who ask while one is
    /// running share the next. Dropping the future leaves the reload to go on. Must be called inside a runtime.
    pub async fn reload(&self, trigger: Trigger) -> Finished {
        let ticket = self.request(trigger);
        let mut finished = self.0.finished.subscribe();
        loop {
            let answered = finished.borrow_and_update().clone();
            if let (true, Some(last)) = (answered.upto >= ticket, answered.last) {
                return last;
            }
            if finished.changed().await.is_err() {
                // The sender lives in what `self` holds.
                std::future::pending::<()>().await;
            }
        }
    }

    /// Asks for a reload without waiting. Must be called inside a runtime.
    pub fn request(&self, trigger: Trigger) -> u64 {
        let mut queue = self.queue();
        queue.requested += 1;
        queue.last_trigger = Some(trigger);
        if !queue.is_running {
            queue.is_running = true;
            tokio::spawn(self.clone().run());
        }
        queue.requested
    }

    /// What is served now, and how the last reload went.
    pub fn status(&self) -> Status {
        let generation = self.0.generations.current();
        let revision = &generation.reader.manifest().revision;
        Status {
            generation: generation.number,
            revision: revision.get(..16).unwrap_or(revision).to_owned(),
            operations: generation.reader.len(),
            is_reloading: self.queue().is_running,
            last: self.0.finished.borrow().last.clone(),
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        // Every change to the queue is one assignment.
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reloads until every request is answered.
    async fn run(self) {
        loop {
            let (upto, trigger) = {
                let mut queue = self.queue();
                let trigger = queue.last_trigger.take().unwrap_or(Trigger::Hangup);
                (queue.requested, trigger)
            };
            let began = Instant::now();
            let shared = Arc::clone(&self.0);
            let made = tokio::task::spawn_blocking(move || shared.one()).await;
            let outcome = made.unwrap_or_else(|_| Outcome::Refused {
                // The panic hook has written message and place already.
                reason: "reading the sources ended in a panic; the log has its place".to_owned(),
            });
            let finished = Finished {
                trigger,
                outcome,
                at: clock::now(),
                seconds: began.elapsed().as_secs_f64(),
            };
            let is_done = {
                let mut queue = self.queue();
                queue.is_running = queue.requested > upto;
                !queue.is_running
            };
            self.0.finished.send_replace(Answered {
                upto,
                last: Some(finished.clone()),
            });
            // Whoever reads the log and asks for the status is told the same.
            self.tell(&finished);
            if is_done {
                return;
            }
        }
    }

    fn tell(&self, finished: &Finished) {
        let trigger = finished.trigger.as_str();
        let seconds = finished.seconds;
        match &finished.outcome {
            Outcome::Swapped { generation } => {
                let operations = self.0.generations.current().reader.len();
                tracing::info!(generation, operations, trigger, seconds, "reloaded");
            }
            Outcome::Unchanged => tracing::info!(trigger, seconds, "reloaded; nothing changed"),
            Outcome::Refused { reason } => tracing::error!(
                reason,
                trigger,
                seconds,
                "the reload failed; the catalogue that serves is unchanged"
            ),
        }
    }
}

impl Shared {
    /// One reload. The generation that is replaced is dropped here, unless a request still reads it.
    fn one(&self) -> Outcome {
        let reader = match (self.make)() {
            Ok(Some(reader)) => reader,
            Ok(None) => return Outcome::Unchanged,
            Err(reason) => return Outcome::Refused { reason },
        };
        if reader.is_empty() && !self.generations.current().reader.is_empty() {
            return Outcome::Refused {
                reason: "the sources publish no operation any more".to_owned(),
            };
        }
        match self.generations.replace(reader) {
            Some(generation) => Outcome::Swapped { generation },
            None => Outcome::Unchanged,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    use serde_json::json;

    use super::*;
    use crate::catalog::{Annotations, Definition, Operation, Security};
    use crate::index::{BuildOptions, Builder};

    fn reader(names: &[&str]) -> Reader {
        let mut builder = Builder::in_memory(BuildOptions::default());
        for name in names {
            let operation = Operation {
                definition: Definition {
                    name: (*name).to_owned(),
                    description: String::new(),
                    input_schema: json!({"type": "object"}),
                    output_schema: None,
                    annotations: Annotations::of_method("GET"),
                    deprecated: false,
                },
                tags: Vec::new(),
                search_terms: Vec::new(),
                route: None,
                alternate_routes: Vec::new(),
                grouped_parameters: Vec::new(),
                security: Security::default(),
                template: None,
            };
            builder.push(operation).unwrap();
        }
        builder.finish().unwrap().reader
    }

    fn generations() -> Arc<Generations> {
        Arc::new(Generations::new(reader(&["a"])))
    }

    async fn outcome(
        generations: &Arc<Generations>,
        made: impl Fn() -> Result<Option<Reader>, String> + Send + Sync + 'static,
    ) -> Outcome {
        let reloader = Reloader::new(Arc::clone(generations), made);
        reloader.reload(Trigger::Admin).await.outcome
    }

    #[tokio::test]
    async fn what_changed_is_swapped_and_nothing_else() {
        let generations = generations();
        let mut told = generations.subscribe();
        told.mark_unchanged();
        let refused = |reason: &str| Outcome::Refused {
            reason: reason.to_owned(),
        };
        let same = || Ok(Some(reader(&["a"])));
        assert_eq!(outcome(&generations, same).await, Outcome::Unchanged);
        assert_eq!(outcome(&generations, || Ok(None)).await, Outcome::Unchanged);
        assert_eq!(
            outcome(&generations, || Err("broken".to_owned())).await,
            refused("broken")
        );
        assert_eq!(
            outcome(&generations, || Ok(Some(reader(&[])))).await,
            refused("the sources publish no operation any more")
        );
        let panics = || -> Result<Option<Reader>, String> { panic!("asked to panic") };
        assert!(matches!(
            outcome(&generations, panics).await,
            Outcome::Refused { .. }
        ));
        assert_eq!(generations.current().number, 0);
        assert!(!told.has_changed().unwrap(), "nobody was told");
        assert_eq!(
            outcome(&generations, || Ok(Some(reader(&["b"])))).await,
            Outcome::Swapped { generation: 1 }
        );
        assert_eq!(generations.current().number, 1);
        assert!(told.has_changed().unwrap());
    }

    #[tokio::test]
    async fn an_empty_catalogue_may_stay_empty() {
        let generations = Arc::new(Generations::new(reader(&[])));
        let empty = || Ok(Some(reader(&[])));
        assert_eq!(outcome(&generations, empty).await, Outcome::Unchanged);
    }

    /// Two that never overlap, whoever asks: the first that is running, and one for all who asked meanwhile.
    #[tokio::test]
    async fn requests_during_a_reload_share_the_next() {
        let (tell, begun) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        let released = Mutex::new(released);
        let running = AtomicUsize::new(0);
        let reloader = Reloader::new(generations(), move || {
            assert_eq!(running.fetch_add(1, Ordering::SeqCst), 0, "two at once");
            tell.send(()).unwrap();
            released.lock().unwrap().recv().unwrap();
            running.fetch_sub(1, Ordering::SeqCst);
            Ok(None)
        });
        let asked = |trigger| {
            let reloader = reloader.clone();
            tokio::spawn(async move { reloader.reload(trigger).await })
        };
        let first = asked(Trigger::Hangup);
        let begun = tokio::task::spawn_blocking(move || {
            begun.recv().unwrap();
            begun
        });
        let begun = begun.await.unwrap();
        assert!(reloader.status().is_reloading);
        let others: Vec<_> = (0..10).map(|_| asked(Trigger::Watch)).collect();
        // They have asked when their requests are counted.
        while reloader.queue().requested < 11 {
            tokio::task::yield_now().await;
        }
        release.send(()).unwrap();
        assert_eq!(first.await.unwrap().trigger, Trigger::Hangup);
        assert!(others.iter().all(|other| !other.is_finished()));
        release.send(()).unwrap();
        for other in others {
            assert_eq!(other.await.unwrap().trigger, Trigger::Watch);
        }
        begun.recv().unwrap();
        let status = reloader.status();
        assert!(!status.is_reloading);
        assert_eq!(status.last.unwrap().outcome, Outcome::Unchanged);
        assert!(begun.try_recv().is_err(), "there was no third");
    }

    #[tokio::test]
    async fn the_old_generation_lives_as_long_as_its_last_reader() {
        let generations = generations();
        let reading = generations.current();
        let old = Arc::downgrade(&reading);
        outcome(&generations, || Ok(Some(reader(&["b"])))).await;
        assert_eq!(reading.reader.len(), 1, "still whole");
        assert!(reading.reader.find("a").unwrap().is_some());
        drop(reading);
        assert!(old.upgrade().is_none(), "freed with its last reader");
    }
}
