//! The swaps: latencies during swaps to prebuilt generations against those just before.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sezzlee::index;
use sezzlee::server::{Outcome, Trigger};
use tokio::time::sleep;

use crate::Args;
use crate::gateway::{Gateway, build};
use crate::load::{Load, Tally};
use crate::soak::told;

/// Swaps in a window.
const SWAPS: u32 = 5;

pub(crate) async fn run(args: &Args) -> bool {
    let directory = tempfile::tempdir().unwrap();
    let outs = [0, 1].map(|variant| {
        let out = directory.path().join(variant.to_string());
        build(&out, args.seed, variant, args.operations);
        out
    });
    let first = index::open_current(&outs[0]).unwrap();
    let variant = AtomicU64::new(0);
    let gateway = Gateway::serve(first, move || {
        let next = variant.fetch_add(1, Ordering::Relaxed) + 1;
        let out = &outs[usize::from(next % 2 == 1)];
        index::open_current(out)
            .map(Some)
            .map_err(|error| error.to_string())
    });
    println!(
        "{} operations, {} searches a second over {} connections, {} pairs of {} s without and with {SWAPS} swaps",
        args.operations, args.rate, args.connections, args.pairs, args.window
    );
    let load = Load::start(args, &gateway).await;
    let window = Duration::from_secs_f64(args.window);
    // Both generations are in the page cache, and every thread has searched, before anything counts.
    swap_within(&gateway, window).await;
    told(&load.take());
    let (mut without, mut with) = (Tally::default(), Tally::default());
    let (mut ratios, mut errors) = (Vec::new(), 0);
    for pair in 1..=args.pairs {
        sleep(window).await;
        let mut before = load.take();
        let opened = swap_within(&gateway, window).await;
        let mut during = load.take();
        errors += told(&before) + told(&during);
        let ratio = during.percentile(0.99) / before.percentile(0.99);
        println!(
            "pair {pair}: before p50 {:.2} p99 {:.2} ms, during p50 {:.2} p99 {:.2} ms, ratio of p99 {ratio:.2}; open and swap {:.1} ms",
            before.percentile(0.5),
            before.percentile(0.99),
            during.percentile(0.5),
            during.percentile(0.99),
            opened * 1e3,
        );
        ratios.push(ratio);
        without.merge(before);
        with.merge(during);
    }
    errors += told(&load.stop().await);
    ratios.sort_unstable_by(f64::total_cmp);
    println!(
        "all pairs: before p99 {:.2} ms, during p99 {:.2} ms, ratio {:.2}; median ratio of a pair {:.2}; {} searches, {errors} errors or mixed answers",
        without.percentile(0.99),
        with.percentile(0.99),
        with.percentile(0.99) / without.percentile(0.99),
        ratios.get(ratios.len() / 2).copied().unwrap_or(0.0),
        without.searches() + with.searches(),
    );
    errors == 0
}

/// Swaps a few times, spread over a window; answers the mean seconds from the request to the swap.
async fn swap_within(gateway: &Gateway, window: Duration) -> f64 {
    let mut seconds = 0.0;
    for _ in 0..SWAPS {
        sleep(window / (SWAPS + 1)).await;
        let finished = gateway.reloader.reload(Trigger::Admin).await;
        assert!(
            matches!(finished.outcome, Outcome::Swapped { .. }),
            "{finished:?}"
        );
        seconds += finished.seconds;
    }
    sleep(window / (SWAPS + 1)).await;
    seconds / f64::from(SWAPS)
}
