//! The soak: a steady load, a reload at intervals, a line at intervals.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sezzlee::server::{Outcome, Trigger};
use tokio::time::{Instant, interval_at, sleep};

use crate::Args;
use crate::gateway::{Gateway, build};
use crate::load::{Load, Tally};
use crate::memory::private_mib;

/// Private memory is looked at this often; the least of an interval is what stays when no build runs.
const MEMORY_STEP: Duration = Duration::from_millis(250);

/// Memory of the last third over that of the middle third at most.
const GROWTH_MAX: f64 = 1.1;

/// One interval, as it is printed.
struct Interval {
    private: f64,
}

pub(crate) async fn run(args: &Args) -> bool {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().to_owned();
    let (seed, count) = (args.seed, args.operations);
    let first = build(&out, seed, 0, count);
    let variant = AtomicU64::new(0);
    let gateway = Gateway::serve(first, move || {
        let variant = variant.fetch_add(1, Ordering::Relaxed) + 1;
        Ok(Some(build(&out, seed, variant, count)))
    });
    println!(
        "{count} operations, {} searches a second over {} connections, a reload every {} s, {} minutes",
        args.rate, args.connections, args.reload_every, args.minutes
    );
    let load = Load::start(args, &gateway).await;

    let reloader = gateway.reloader.clone();
    let every = Duration::from_secs_f64(args.reload_every);
    let reloads = tokio::spawn(async move {
        let mut due = interval_at(Instant::now() + every, every);
        loop {
            due.tick().await;
            let finished = reloader.reload(Trigger::Admin).await;
            assert!(
                matches!(finished.outcome, Outcome::Swapped { .. }),
                "{finished:?}"
            );
        }
    });

    let whole = Duration::from_secs_f64(args.minutes * 60.0);
    let line = args.report_every.map_or(
        Duration::from_mins(1).min(whole / 6),
        Duration::from_secs_f64,
    );
    let begin = Instant::now();
    let (mut intervals, mut errors) = (Vec::new(), 0);
    while begin.elapsed() + line / 2 < whole {
        let (private, peak) = watch_memory(line).await;
        let mut tally = load.take();
        errors += told(&tally);
        println!(
            "{:6.1} min: {} searches, {} errors, p50 {:.2} ms, p99 {:.2} ms, private {private:.1} MiB (peak {peak:.1}), generation {}",
            begin.elapsed().as_secs_f64() / 60.0,
            tally.searches(),
            tally.errors.len(),
            tally.percentile(0.5),
            tally.percentile(0.99),
            gateway.reloader.status().generation,
        );
        intervals.push(Interval { private });
    }
    let reloads_failed = reloads.is_finished();
    reloads.abort();
    // One may be building; it ends before its directory goes away.
    gateway.reloader.reload(Trigger::Admin).await;
    errors += told(&load.stop().await);
    let is_flat = is_flat(&intervals);
    println!(
        "{} reloads, {errors} errors or mixed answers, memory {}",
        gateway.reloader.status().generation,
        if is_flat { "flat" } else { "grew" }
    );
    errors == 0 && is_flat && !reloads_failed
}

/// Waits and answers the least and the most private memory seen meanwhile, in MiB.
async fn watch_memory(how_long: Duration) -> (f64, f64) {
    let until = Instant::now() + how_long;
    let (mut least, mut most) = (f64::MAX, 0.0_f64);
    while Instant::now() < until {
        sleep(MEMORY_STEP.min(until - Instant::now())).await;
        let now = private_mib().unwrap_or(0.0);
        least = least.min(now);
        most = most.max(now);
    }
    (least, most)
}

/// How many searches failed; says of the first what it was.
pub(crate) fn told(tally: &Tally) -> usize {
    if let Some(first) = tally.errors.first() {
        let cut: String = first.chars().take(400).collect();
        println!("an answer was wrong: {cut}");
    }
    tally.errors.len()
}

fn is_flat(intervals: &[Interval]) -> bool {
    let third = intervals.len() / 3;
    if third == 0 {
        return true;
    }
    let mean =
        |some: &[Interval]| some.iter().map(|one| one.private).sum::<f64>() / some.len() as f64;
    let middle = mean(&intervals[third..2 * third]);
    let last = mean(&intervals[2 * third..]);
    println!("private memory: middle third {middle:.1} MiB, last third {last:.1} MiB");
    last <= middle * GROWTH_MAX
}
