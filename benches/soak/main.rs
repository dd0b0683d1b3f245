//! Searches for a long time while generations are swapped: errors, mixed answers, latency, memory.
//!
//! Owns: the measurements of a gateway that serves over loopback in this process.
//!
//! - The soak (`cargo bench --bench soak -- --minutes 30 --operations 100000 --reload-every 60`): searches at a
//!   steady rate while the catalogue is built anew and swapped in, over and over. Prints a line each interval.
//!   Fails when an answer is an error or mixes generations, or when private memory in the last third is over
//!   that of the middle third by more than a tenth.
//! - The swaps (`cargo bench --bench soak -- --swaps --operations 1000000`): latencies during five swaps to
//!   prebuilt generations against those just before, in pairs. Fails on errors and mixed answers only; the
//!   ratio is told, since the machine may be shared.
//! - The lists (`cargo bench --bench soak -- --lists`): the time of answers that are written once.
//!
//! Latency is counted from the moment a search was due, not from when its turn came, so a stall is not hidden
//! by the searches it held up. The searches, the gateway and the builds share the cores.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod client;
mod gateway;
mod lists;
mod load;
mod memory;
mod soak;
mod swaps;

use std::process::ExitCode;

use clap::Parser;

/// What is measured and how long.
#[derive(Debug, Clone, Parser)]
struct Args {
    /// Minutes of the soak.
    #[arg(long, default_value_t = 1.0)]
    minutes: f64,
    /// Operations of a generation.
    #[arg(long, default_value_t = 10_000)]
    operations: usize,
    /// Seconds from one reload to the next in the soak.
    #[arg(long, default_value_t = 10.0)]
    reload_every: f64,
    /// Seconds from one line to the next in the soak.
    #[arg(long)]
    report_every: Option<f64>,
    /// Connections that search.
    #[arg(long, default_value_t = 8)]
    connections: usize,
    /// Searches a second, over all connections.
    #[arg(long, default_value_t = 200.0)]
    rate: f64,
    /// Measure swaps to prebuilt generations instead.
    #[arg(long)]
    swaps: bool,
    /// Measure `tools/list` and `server/discover` instead.
    #[arg(long)]
    lists: bool,
    /// Pairs of windows, each without and with five swaps.
    #[arg(long, default_value_t = 5)]
    pairs: usize,
    /// Seconds of one such window.
    #[arg(long, default_value_t = 5.0)]
    window: f64,
    /// The seed of catalogues and queries.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Given by `cargo bench`.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let is_well = runtime.block_on(async {
        if args.lists {
            lists::run(&args).await
        } else if args.swaps {
            swaps::run(&args).await
        } else {
            soak::run(&args).await
        }
    });
    if is_well {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
