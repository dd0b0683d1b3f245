//! The command: what a person types and reads.
//!
//! Owns: the subcommands, their help, exit codes, and everything written to stdout. Must never hold rules
//! of its own: what a subcommand shows is what the rooms answer.

mod catalogue;
mod check;
mod config;
mod demo;
mod finding;
mod gateway;
mod index;
mod interrupt;
mod invoke;
mod load;
mod output;
mod progress;
mod search;
mod serve;
mod supply;
mod synthesize;

use std::panic::AssertUnwindSafe;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::config::LogArgs;
use crate::telemetry;

/// A search-first gateway between AI agents and HTTP APIs.
///
/// sezzlee reads OpenAPI documents, indexes every operation, and publishes three MCP tools whatever the
/// catalogue holds: search_tools finds operations, load_tool shows one, invoke_tool calls it.
#[derive(Debug, Parser)]
#[command(
    name = "sezzlee",
    version,
    after_help = "Start with `sezzlee demo`. Exit codes: 0 done; 1 the answer is no (a fatal diagnostic, a failed call, \
                  an unknown name); 2 the command could not be carried out; 130 and \
                  143 interrupted."
)]
pub struct Cli {
    #[command(flatten)]
    log: LogArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve an embedded demo shop through the gateway, and say what to try.
    Demo(demo::DemoArgs),
    /// Serve a catalogue over MCP: Streamable HTTP at /mcp, or stdio.
    Serve(serve::ServeArgs),
    /// Build an index directory that serves without reading the documents again.
    Index(index::IndexArgs),
    /// Read documents and say what is wrong with them.
    Check(check::CheckArgs),
    /// Print the schema or an example of the configuration file, or check one.
    Config(config::ConfigArgs),
    /// Rank the operations of a catalogue for a query, as search_tools does.
    Search(search::SearchArgs),
    /// Show one operation's definition, as load_tool does.
    Load(load::LoadArgs),
    /// Call one operation, as invoke_tool does, or print the request it would send.
    Invoke(invoke::InvokeArgs),
    /// Take the score of one operation for a query apart.
    Explain(search::ExplainArgs),
    /// Check every byte of an index directory against its checksums.
    Verify(index::VerifyArgs),
    /// Write a seeded catalogue as JSON Lines, for benches and load tests.
    #[command(hide = true)]
    Synthesize(synthesize::SynthesizeArgs),
    /// Write a shell's completion script to stdout.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// How a subcommand ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// Done.
    Well,
    /// Carried out, and the answer is no.
    No,
}

/// Runs the command line of this process.
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    let serves = matches!(cli.command, Command::Serve(_));
    if let Err(error) = telemetry::set_up(cli.log.level(serves), cli.log.form(serves)) {
        return complain(&error.into());
    }
    // A panic was told by its hook; what is left is to end as every failure does.
    match std::panic::catch_unwind(AssertUnwindSafe(|| cli.command.run())) {
        Ok(Ok(Ended::Well)) => ExitCode::SUCCESS,
        Ok(Ok(Ended::No)) => ExitCode::from(1),
        Ok(Err(error)) => complain(&error),
        Err(_) => complain(&anyhow::anyhow!("the command failed by a fault of its own")),
    }
}

/// The command line as `clap` knows it, for completions and the documentation's tests.
pub fn command() -> clap::Command {
    Cli::command()
}

/// One line on stderr: what is wrong, each cause after a colon.
fn complain(error: &anyhow::Error) -> ExitCode {
    if output::is_broken_pipe(error) {
        // Whoever read the output has read enough.
        return ExitCode::SUCCESS;
    }
    let told = format!("sezzlee: {error:#}").replace('\n', " ");
    output::stderr_line(&output::printable(&told));
    ExitCode::from(2)
}

impl Command {
    fn run(self) -> anyhow::Result<Ended> {
        match self {
            Self::Demo(args) => demo::run(&args),
            Self::Serve(args) => serve::run(&args),
            Self::Index(args) => index::run(&args),
            Self::Check(args) => check::run(&args),
            Self::Config(args) => config::run(&args),
            Self::Search(args) => search::run(&args),
            Self::Load(args) => load::run(&args),
            Self::Invoke(args) => invoke::run(&args),
            Self::Explain(args) => search::explain(&args),
            Self::Verify(args) => index::verify(&args),
            Self::Synthesize(args) => synthesize::run(&args),
            Self::Completions { shell } => {
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut command(), "sezzlee", &mut script);
                output::stdout(&script)?;
                Ok(Ended::Well)
            }
        }
    }
}
