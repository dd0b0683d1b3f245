//! `sezzlee check`.

use std::collections::BTreeMap;

use clap::Args;
use serde_json::json;

use super::Ended;
use super::catalogue;
use super::finding::listed;
use super::output::{line, printable};
use crate::catalog::{Report, Severity};
use crate::config::SourceArgs;

/// Read documents and say what is wrong with them.
#[derive(Debug, Args)]
#[command(after_help = "Exits 1 when a diagnostic is fatal, or with --strict when there is any.")]
pub(super) struct CheckArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// Print one JSON object a diagnostic, and last the counts.
    #[arg(long)]
    json: bool,
    /// Exit 1 when there is any diagnostic at all.
    #[arg(long)]
    strict: bool,
}

pub(super) fn run(args: &CheckArgs) -> anyhow::Result<Ended> {
    let report = catalogue::read_only(&args.source)?;
    if args.json {
        for diagnostic in &report.diagnostics {
            line(&serde_json::to_string(diagnostic)?)?;
        }
        let mut last = json!({"counts": report.counts});
        let lossy = report.lossy();
        if !lossy.is_empty() {
            let by_code = lossy.iter().map(|(code, &count)| (code.as_str(), count));
            last["lossy"] = json!(by_code.collect::<BTreeMap<_, _>>());
        }
        if report.diagnostics_left_out > 0 {
            last["diagnosticsLeftOut"] = json!(report.diagnostics_left_out);
        }
        line(&last.to_string())?;
    } else {
        show(&report)?;
    }
    let refused = report.is_fatal() || args.strict && !report.diagnostics.is_empty();
    Ok(if refused { Ended::No } else { Ended::Well })
}

/// Every finding on a line of its own, then how many of each kind, then the counts.
fn show(report: &Report) -> anyhow::Result<()> {
    let mut kinds: BTreeMap<(std::cmp::Reverse<Severity>, &str), usize> = BTreeMap::new();
    for found in &report.diagnostics {
        line(&printable(&listed(found)))?;
        *kinds
            .entry((std::cmp::Reverse(found.severity), found.code.as_str()))
            .or_default() += 1;
    }
    if !kinds.is_empty() {
        line("")?;
    }
    for ((severity, code), count) in &kinds {
        line(&format!("{count:>7}  {}  {code}", severity.0))?;
    }
    if report.diagnostics_left_out > 0 {
        line(&format!(
            "{:>7}  more, of sources with so many that they are counted only",
            report.diagnostics_left_out
        ))?;
    }
    let lossy: u64 = report.lossy().values().sum();
    if lossy > 0 {
        line(&format!(
            "{lossy:>7}  of these say that meaning was lost (docs/diagnostics.md)"
        ))?;
    }
    let counts = report.counts;
    line(&format!(
        "{} found, {} selected, {} published, {} dropped",
        counts.found, counts.selected, counts.published, counts.dropped
    ))?;
    Ok(())
}
