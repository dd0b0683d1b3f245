//! `sezzlee check`: what is wrong with documents, grouped so that it can be read.
//!
//! Owns: the summary, the table of documents, what makes the command say no. Must never judge a finding.

use std::io::{IsTerminal as _, stdout};

use anstyle::{AnsiColor, Style};
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::json;
use std::collections::BTreeMap;

use super::Ended;
use super::catalogue;
use super::finding::{Group, groups, listed};
use super::output::{self, line, printable};
use crate::catalog::{Counts, Diagnostic, DiagnosticCode, Report, Severity};
use crate::config::SourceArgs;

/// Of each kind of finding this many are shown unless all are asked for.
const SHOWN_OF_A_KIND: usize = 5;

/// So many documents are shown in the table unless all are asked for: about a screen.
const SHOWN_DOCUMENTS: usize = 40;

/// Text is written in pieces of about this many bytes.
const PIECE_BYTES: usize = 64 * 1024;

/// Read documents and say what is wrong with them.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 nothing is fatal, and with --strict nothing was found at all; 1 a diagnostic is fatal, \
                  or with --strict there is one of any severity (a warning, a dropped operation); 2 no source could be \
                  read, or the command line is wrong. docs/diagnostics.md lists the codes."
)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// Print one JSON object a diagnostic, and last the counts.
    #[arg(long)]
    json: bool,
    /// Exit 1 when there is any diagnostic at all: a warning, or an operation that is dropped.
    #[arg(long)]
    strict: bool,
    /// Show every diagnostic and every document, not only the first of each kind.
    #[arg(long)]
    all: bool,
    /// Say what a diagnostic code means and what to do about it; no source is read.
    #[arg(
        long,
        value_name = "CODE",
        exclusive = true,
        hide_possible_values = true
    )]
    #[arg(value_parser = PossibleValuesParser::new(DiagnosticCode::ALL.iter().map(|code| code.as_str())))]
    explain: Option<String>,
}

pub(super) fn run(args: &CheckArgs) -> anyhow::Result<Ended> {
    if let Some(code) = &args.explain {
        explain(code)?;
        return Ok(Ended::Well);
    }
    let report = catalogue::read_only(&args.source)?;
    if args.json {
        let mut out = Pieces::default();
        for diagnostic in &report.diagnostics {
            out.line(&serde_json::to_string(diagnostic)?)?;
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
        out.line(&last.to_string())?;
        out.end()?;
    } else {
        let mut summary = Summary {
            out: Pieces::default(),
            all: args.all,
            paint: Paint::of_stdout(),
        };
        summary.show(&report)?;
        summary.out.end()?;
    }
    let refused = report.is_fatal() || args.strict && !report.diagnostics.is_empty();
    Ok(if refused { Ended::No } else { Ended::Well })
}

/// The row of a code in the documentation.
fn explain(code: &str) -> anyhow::Result<()> {
    let code = DiagnosticCode::ALL.iter().find(|one| one.as_str() == code);
    let Some((code, row)) = code.and_then(|code| Some((code, code.explanation()?))) else {
        return Ok(());
    };
    line(&format!("{code}: {}", row.meaning))?;
    line(&format!("  what it costs: {}", row.cost))?;
    line(&format!("  what to do: {}", row.remedy))
}

/// What a person reads.
struct Summary {
    out: Pieces,
    all: bool,
    paint: Paint,
}

impl Summary {
    fn show(&mut self, report: &Report) -> anyhow::Result<()> {
        let groups = groups(&report.diagnostics);
        for group in &groups {
            self.group(group)?;
        }
        if report.diagnostics_left_out > 0 {
            self.out.line(&format!(
                "{} more, of sources with so many that they are counted only",
                report.diagnostics_left_out
            ))?;
        }
        if !self.out.is_unused {
            self.out.line("")?;
        }
        self.documents(report)?;
        let lossy: Vec<String> = report
            .lossy()
            .iter()
            .map(|(code, count)| format!("{count} {code}"))
            .collect();
        if !lossy.is_empty() {
            let lossy = lossy.join(", ");
            self.out
                .line(&format!("conversions that lost meaning: {lossy}"))?;
        }
        let counts = report.counts;
        self.out.line(&format!(
            "{} found, {} selected, {} published, {} dropped",
            counts.found, counts.selected, counts.published, counts.dropped
        ))
    }

    /// What kind, how many, what it means; then the places.
    fn group(&mut self, group: &Group<'_>) -> anyhow::Result<()> {
        if !self.out.is_unused {
            self.out.line("")?;
        }
        let severity = self.paint.severity(group.severity);
        let (code, count) = (group.code, group.found.len());
        let meaning = group.code.explanation().map_or("", |row| row.meaning);
        self.out
            .line(&format!("{severity}[{code}] × {count}: {meaning}"))?;
        let shown = if self.all { count } else { SHOWN_OF_A_KIND };
        for found in group.found.iter().take(shown) {
            self.out.line(&printable(&listed(found)))?;
        }
        if count > shown {
            let more = count - shown;
            self.out
                .line(&format!("and {more} more; --all shows each"))?;
        }
        Ok(())
    }

    /// One row a document where there are several, those with most to say when there are many.
    fn documents(&mut self, report: &Report) -> anyhow::Result<()> {
        let mut rows = rows(report);
        if rows.len() < 2 {
            return Ok(());
        }
        let left_out = if self.all || rows.len() <= SHOWN_DOCUMENTS {
            0
        } else {
            rows.sort_by_key(|row| {
                let dropped = row.counts.map_or(u64::MAX, |counts| counts.dropped);
                std::cmp::Reverse((dropped, row.warnings))
            });
            rows.len() - SHOWN_DOCUMENTS
        };
        rows.truncate(rows.len() - left_out);
        self.out
            .line("   found selected published  dropped warnings  document")?;
        for row in &rows {
            let numbers = match row.counts {
                Some(counts) => format!(
                    "{:>8} {:>8} {:>9} {:>8}",
                    counts.found, counts.selected, counts.published, counts.dropped
                ),
                None => format!("{:>36}", "not read"),
            };
            let document = printable(&row.document.replace('\n', " "));
            self.out
                .line(&format!("{numbers} {:>8}  {document}", row.warnings))?;
        }
        if left_out > 0 {
            self.out.line(&format!(
                "and {left_out} more with less to say; --all shows each"
            ))?;
        }
        self.out.line("")
    }
}

/// A row of the table of documents.
struct Row<'r> {
    document: &'r str,
    /// None of one that could not be read.
    counts: Option<Counts>,
    warnings: u64,
}

/// The rows in the order of the sources; what could not be read comes after what could.
fn rows(report: &Report) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = report
        .documents
        .iter()
        .map(|one| Row {
            document: &one.document,
            counts: Some(one.counts),
            warnings: 0,
        })
        .collect();
    let mut by_name: std::collections::HashMap<&str, usize> = rows
        .iter()
        .enumerate()
        .map(|(index, row)| (row.document, index))
        .collect();
    for found in &report.diagnostics {
        let Diagnostic { document, .. } = found;
        let index = *by_name.entry(document).or_insert_with(|| {
            rows.push(Row {
                document,
                counts: None,
                warnings: 0,
            });
            rows.len() - 1
        });
        rows[index].warnings += u64::from(found.severity == Severity::Warning);
    }
    rows
}

/// Colours, where somebody sees them.
struct Paint {
    on: bool,
}

impl Paint {
    /// Colours on a terminal that has them, unless `NO_COLOR` says not to (no-color.org).
    fn of_stdout() -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        Self {
            on: stdout().is_terminal()
                && set("NO_COLOR").is_none()
                && set("TERM").is_none_or(|term| term != "dumb"),
        }
    }

    fn severity(&self, severity: Severity) -> String {
        let colour = match severity {
            Severity::Warning => AnsiColor::Yellow,
            Severity::Dropped => AnsiColor::Magenta,
            Severity::Fatal => AnsiColor::Red,
        };
        if self.on {
            let style = Style::new().bold().fg_color(Some(colour.into()));
            format!("{style}{severity}{style:#}")
        } else {
            severity.to_string()
        }
    }
}

/// Lines for stdout, written in pieces: there may be very many.
struct Pieces {
    text: String,
    is_unused: bool,
}

impl Default for Pieces {
    fn default() -> Self {
        Self {
            text: String::new(),
            is_unused: true,
        }
    }
}

impl Pieces {
    fn line(&mut self, text: &str) -> anyhow::Result<()> {
        self.is_unused = false;
        self.text.push_str(text);
        self.text.push('\n');
        if self.text.len() >= PIECE_BYTES {
            self.end()?;
        }
        Ok(())
    }

    /// Writes what was not written yet.
    fn end(&mut self) -> anyhow::Result<()> {
        output::stdout(self.text.as_bytes())?;
        self.text.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_only_for_those_who_see_them() {
        let plain = Paint { on: false };
        assert_eq!(plain.severity(Severity::Fatal), "fatal");
        let seen = Paint { on: true }.severity(Severity::Fatal);
        assert!(
            seen.starts_with('\u{1b}') && seen.ends_with("\u{1b}[0m"),
            "{seen:?}"
        );
    }
}
