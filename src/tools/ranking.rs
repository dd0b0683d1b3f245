//! The threads that searches run on.
//!
//! Owns: how many searches run at once, and how long one may wait for its turn. Must never run on the
//! reactor, nor let a search begin whose caller has gone away or has waited too long.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;

/// The search had to wait too long for its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Overloaded;

type Job = Box<dyn FnOnce() + Send>;

/// Threads of their own, as many as the operator says: a long search never takes one from a reload or from
/// the reactor, and the memory of running searches is that of so many.
pub(super) struct Ranking {
    queue: Arc<Queue>,
    /// A turn is taken before a job is queued, so that whoever goes away while waiting costs nothing, and the
    /// queue is never longer than there are threads to empty it.
    turns: Arc<Semaphore>,
    wait_max: Duration,
}

struct Queue {
    threads: usize,
    jobs: Mutex<Jobs>,
    filled: Condvar,
}

#[derive(Default)]
struct Jobs {
    waiting: VecDeque<Job>,
    /// Threads that were started, and those of them that have nothing to do.
    started: usize,
    idle: usize,
    is_closed: bool,
}

impl Ranking {
    /// At most `threads` threads, at least one, each started when it is first needed. A search waits at most
    /// `wait_max` for one of them.
    pub(super) fn new(threads: usize, wait_max: Duration) -> Self {
        let threads = threads.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            queue: Arc::new(Queue {
                threads,
                jobs: Mutex::default(),
                filled: Condvar::new(),
            }),
            turns: Arc::new(Semaphore::new(threads)),
            wait_max,
        }
    }

    /// Runs a search; `Ok(None)` when it panicked, or the system gave no thread for it.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        search: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Option<T>, Overloaded> {
        let turn = timeout(self.wait_max, Arc::clone(&self.turns).acquire_owned());
        let Ok(Ok(turn)) = turn.await else {
            return Err(Overloaded);
        };
        let (answer, answered) = oneshot::channel();
        self.queue.push(Box::new(move || {
            // Given back when the search is over, also by a panic.
            let _turn = turn;
            // Whoever waited may be gone.
            let _ = answer.send(search());
        }));
        Ok(answered.await.ok())
    }
}

impl Drop for Ranking {
    fn drop(&mut self) {
        // The threads end by themselves: one of them may be what drops this.
        self.queue.lock().is_closed = true;
        self.queue.filled.notify_all();
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Jobs> {
        // Jobs run outside the lock, so what it guards is whole.
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(self: &Arc<Self>, job: Job) {
        let mut jobs = self.lock();
        jobs.waiting.push_back(job);
        if jobs.waiting.len() <= jobs.idle || jobs.started >= self.threads {
            drop(jobs);
            self.filled.notify_one();
            return;
        }
        match self.start(jobs.started) {
            Ok(()) => jobs.started += 1,
            Err(error) if jobs.started > 0 => {
                tracing::warn!(%error, "no thread for another search at the same time");
            }
            Err(error) => {
                tracing::error!(%error, "no thread to search with");
                jobs.waiting.clear();
            }
        }
    }

    fn start(self: &Arc<Self>, number: usize) -> io::Result<()> {
        let queue = Arc::clone(self);
        let name = format!("search-{number}");
        let thread = thread::Builder::new().name(name);
        thread.spawn(move || queue.work()).map(drop)
    }

    /// Runs jobs until the queue is closed and empty.
    fn work(&self) {
        let mut jobs = self.lock();
        loop {
            if let Some(job) = jobs.waiting.pop_front() {
                drop(jobs);
                // The panic hook has told of it; the one who waits learns of it by the dropped sender.
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
                jobs = self.lock();
            } else if jobs.is_closed {
                return;
            } else {
                jobs.idle += 1;
                let woken = self.filled.wait(jobs);
                jobs = woken.unwrap_or_else(PoisonError::into_inner);
                jobs.idle -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    #[tokio::test]
    async fn searches_run_beside_the_reactor() {
        let ranking = Ranking::new(2, PATIENCE);
        let here = thread::current().id();
        for _ in 0..100 {
            let there = ranking.run(|| thread::current().id()).await;
            assert_ne!(there.unwrap().unwrap(), here);
        }
        let name = ranking.run(|| thread::current().name().map(str::to_owned));
        assert!(name.await.unwrap().unwrap().unwrap().starts_with("search-"));
    }

    #[tokio::test]
    async fn a_panic_costs_one_search() {
        let ranking = Ranking::new(1, PATIENCE);
        for _ in 0..3 {
            let panicked = ranking.run(|| -> () { panic!("asked to panic") }).await;
            assert_eq!(panicked, Ok(None));
        }
        assert_eq!(ranking.run(|| 7).await, Ok(Some(7)));
    }

    /// One that waits too long is told so, one that goes away never runs, and the next is served.
    #[tokio::test]
    async fn nobody_waits_for_ever() {
        let ranking = Arc::new(Ranking::new(1, Duration::from_millis(20)));
        let (release, released) = mpsc::channel::<()>();
        let (tell, begun) = oneshot::channel();
        let held = {
            let ranking = Arc::clone(&ranking);
            tokio::spawn(async move {
                ranking
                    .run(move || {
                        tell.send(()).unwrap();
                        released.recv().unwrap();
                    })
                    .await
            })
        };
        begun.await.unwrap();
        assert_eq!(ranking.run(|| ()).await, Err(Overloaded));
        let (tell, told) = mpsc::channel();
        let gone = ranking.run(move || tell.send(()).unwrap());
        assert!(timeout(Duration::from_millis(1), gone).await.is_err());
        release.send(()).unwrap();
        assert_eq!(held.await.unwrap(), Ok(Some(())));
        assert_eq!(ranking.run(|| 7).await, Ok(Some(7)));
        assert!(told.try_recv().is_err());
    }

    /// As many at once as there are threads, each of which waits for all the others.
    #[tokio::test]
    async fn every_thread_is_used() {
        let ranking = Ranking::new(4, PATIENCE);
        let meeting = Arc::new(std::sync::Barrier::new(4));
        for _ in 0..3 {
            let all = (0..4).map(|_| {
                let meeting = Arc::clone(&meeting);
                ranking.run(move || meeting.wait().is_leader())
            });
            let leaders = futures_util::future::join_all(all).await;
            let leaders = leaders
                .into_iter()
                .filter(|leader| *leader == Ok(Some(true)));
            assert_eq!(leaders.count(), 1);
        }
        assert!(ranking.queue.lock().started <= 4);
    }

    #[test]
    fn threads_end_with_their_owner() {
        let ranking = Ranking::new(3, PATIENCE);
        let queue = Arc::downgrade(&ranking.queue);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(ranking.run(|| ())).unwrap().unwrap();
        drop(ranking);
        let mut waited = Duration::ZERO;
        while queue.upgrade().is_some() {
            assert!(waited < PATIENCE, "the threads live on");
            thread::sleep(Duration::from_millis(5));
            waited += Duration::from_millis(5);
        }
    }
}
