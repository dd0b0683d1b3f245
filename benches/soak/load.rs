//! Searches at a steady rate. Owns: what is asked, when, and whether the answers are of one generation.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use sezzlee::synthetic::{Class, queries};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use crate::Args;
use crate::client::Client;
use crate::gateway::{Gateway, mark, operations};

/// Queries of each class.
const QUERIES: usize = 200;

/// What the searches of a while came to.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    latencies: Vec<Duration>,
    pub(crate) errors: Vec<String>,
}

impl Tally {
    pub(crate) fn searches(&self) -> usize {
        self.latencies.len()
    }

    /// The latency that this share of the searches did not exceed, in milliseconds.
    pub(crate) fn percentile(&mut self, share: f64) -> f64 {
        self.latencies.sort_unstable();
        let last = self.latencies.len().saturating_sub(1);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a place in the list"
        )]
        let at = (last as f64 * share).round() as usize;
        self.latencies
            .get(at)
            .map_or(0.0, |latency| latency.as_secs_f64() * 1e3)
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.latencies.extend(other.latencies);
        self.errors.extend(other.errors);
    }
}

/// Searches that go on until this is stopped.
pub(crate) struct Load {
    tally: Arc<Mutex<Tally>>,
    is_over: Arc<AtomicBool>,
    clients: JoinSet<()>,
}

impl Load {
    pub(crate) async fn start(args: &Args, gateway: &Gateway) -> Self {
        let mut load = Self {
            tally: Arc::default(),
            is_over: Arc::default(),
            clients: JoinSet::new(),
        };
        let step = Duration::from_secs_f64(args.connections as f64 / args.rate);
        let mut mixed = Vec::new();
        let lists = Class::ALL.map(|class| queries(args.seed, class, QUERIES));
        for at in 0..QUERIES {
            mixed.extend(lists.iter().map(|list| list[at].clone()));
        }
        let mixed: Arc<[String]> = mixed.into();
        for number in 0..args.connections {
            let mut client = Client::connect(gateway.addr).await;
            let (tally, is_over) = (Arc::clone(&load.tally), Arc::clone(&load.is_over));
            let mixed = Arc::clone(&mixed);
            let count = args.operations;
            // Connections take turns.
            let begin = Instant::now() + step.mul_f64(number as f64 / args.connections as f64);
            load.clients.spawn(async move {
                let mut due = interval_at(begin, step);
                due.set_missed_tick_behavior(MissedTickBehavior::Burst);
                for at in number * QUERIES.. {
                    let query = &mixed[at % mixed.len()];
                    let due = due.tick().await;
                    if is_over.load(Ordering::Relaxed) {
                        return;
                    }
                    let answer = client.search(query).await;
                    let latency = due.elapsed();
                    let fault = answer.and_then(|page| check(&page, count)).err();
                    let mut tally = tally.lock().unwrap();
                    tally.latencies.push(latency);
                    tally.errors.extend(fault);
                }
            });
        }
        load
    }

    /// What came together since this was last asked.
    pub(crate) fn take(&self) -> Tally {
        std::mem::take(&mut self.tally.lock().unwrap())
    }

    pub(crate) async fn stop(self) -> Tally {
        self.is_over.store(true, Ordering::Relaxed);
        self.clients.join_all().await;
        std::mem::take(&mut self.tally.lock().unwrap())
    }
}

/// Holds that total and names of a page are one generation's.
fn check(page: &Value, count: usize) -> Result<(), String> {
    let total = page["total"].as_u64().unwrap_or(0);
    let variant = (0..2).find(|&variant| operations(variant, count) as u64 == total);
    let names = page["results"].as_array().map_or(&[][..], Vec::as_slice);
    let is_one = variant.is_some_and(|variant| {
        let names = names.iter().map(|card| card["name"].as_str());
        names
            .into_iter()
            .all(|name| name.is_some_and(|name| name.ends_with(mark(variant))))
    });
    if is_one {
        Ok(())
    } else {
        Err(format!("mixed: {page}"))
    }
}
