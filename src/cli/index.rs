//! `sezzlee index` and `sezzlee verify`.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use serde_json::json;

use super::Ended;
use super::catalogue::open_index;
use super::interrupt::Guard;
use super::output::{grouped, line, sized};
use super::supply::build_on_disk;
use crate::config::SourceArgs;
use crate::index;

/// Build an index directory.
#[derive(Debug, Args)]
pub(super) struct IndexArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// The directory; a generation that is already there serves until the new one is complete.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Build although the index that is there was made from the same sources.
    #[arg(long)]
    rebuild: bool,
    /// Print the figures as one JSON object.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &IndexArgs) -> anyhow::Result<Ended> {
    let started = Instant::now();
    let guard = Guard::over_build_in(&args.out)?;
    let loaded = guard.settle(build_on_disk(&args.source, &args.out, args.rebuild))?;
    let seconds = started.elapsed().as_secs_f64();
    let operations = u64::from(loaded.reader.len());
    let rate = operations as f64 / seconds.max(f64::EPSILON);
    let revision = &loaded.reader.manifest().revision[..16];
    if args.json {
        let figures = json!({
            "operations": operations, "bytes": loaded.bytes, "words": loaded.words,
            "seconds": seconds, "revision": revision, "reused": loaded.is_reused,
        });
        line(&figures.to_string())?;
    } else if loaded.is_reused {
        line(&format!(
            "{} operations, {}, revision {revision}: the sources are what they were, so nothing was built \
             (--rebuild builds anyway)",
            grouped(operations),
            sized(loaded.bytes)
        ))?;
    } else {
        line(&format!(
            "{} operations, {} words, {} in {seconds:.1} s ({rate:.0} operations a second), revision {revision}",
            grouped(operations),
            grouped(loaded.words as u64),
            sized(loaded.bytes)
        ))?;
        line(&format!(
            "serve it with: sezzlee serve {}",
            args.out.display()
        ))?;
    }
    Ok(Ended::Well)
}

/// Check an index directory.
#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// The index directory.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

pub(super) fn verify(args: &VerifyArgs) -> anyhow::Result<Ended> {
    let bytes = index::verify(&args.directory)?;
    let reader = open_index(&args.directory)?;
    line(&format!(
        "{} operations in {}: every file matches its checksum",
        grouped(u64::from(reader.len())),
        sized(bytes)
    ))?;
    Ok(Ended::Well)
}
