//! `sezzlee serve`: the gateway over HTTP or stdio, with reload.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use url::Url;

use super::Ended;
use super::catalogue::{self, Loaded};
use super::output::stderr_line;
use crate::access::Caller;
use crate::config::{AnswerArgs, CallArgs, ListenArgs, SourceArgs};
use crate::invoke::Invoker;
use crate::mcp::{self, Dispatcher, Stopper};
use crate::server;
use crate::tools::{Generations, MetaTools};

/// Serve a catalogue.
#[derive(Debug, Args)]
#[command(
    after_help = "SIGHUP reads the sources again and swaps the new catalogue in; a broken one changes nothing. \
                        SIGTERM finishes what is in flight and exits."
)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// Speak MCP over stdin and stdout instead of HTTP.
    #[arg(long)]
    stdio: bool,
    /// Keep the index in this directory instead of in memory.
    #[arg(long, value_name = "DIR")]
    index: Option<PathBuf>,
    #[command(flatten)]
    listen: ListenArgs,
    #[command(flatten)]
    answers: AnswerArgs,
    #[command(flatten)]
    calls: CallArgs,
}

pub(super) fn run(args: &ServeArgs) -> anyhow::Result<Ended> {
    check_settings(args)?;
    let runtime = runtime()?;
    runtime.block_on(async {
        // Caught from here on: one that comes while the sources are read is a reload after them.
        let hangups = server::Hangups::new().context("cannot catch SIGHUP")?;
        let loaded = load(args).await?;
        tracing::info!(operations = loaded.reader.len(), "the catalogue is ready");
        let generations = Arc::new(Generations::new(loaded.reader));
        let gateway = Gateway::new(
            &generations,
            &args.listen,
            &args.answers,
            &args.calls,
            args.source.base_url.as_ref(),
        )?;
        let reloads = reload_on_hangup(hangups, args.clone_for_reload(), generations);
        let reloads = tokio::spawn(reloads);
        let ended = if args.stdio {
            gateway.catch_stops()?;
            gateway.serve_stdio().await
        } else {
            let bound = gateway.bind()?;
            // Whoever reads that it serves may tell it to stop.
            gateway.catch_stops()?;
            stderr_line(&format!("gateway: http://{}{}", bound.addr(), mcp::PATH));
            gateway.serve(bound).await
        };
        reloads.abort();
        ended
    })?;
    if args.stdio {
        // A thread of the runtime may still wait for a line that never comes; it must not hold the exit.
        std::process::exit(0);
    }
    Ok(Ended::Well)
}

/// Refuses what the flags say before the sources are read, which may take long.
fn check_settings(args: &ServeArgs) -> anyhow::Result<()> {
    let answers = args.answers.settings()?;
    args.calls.client(args.source.base_url.as_ref())?;
    args.calls.invoker(answers.budget)?;
    args.listen.protocol()?;
    args.listen.server()?;
    Ok(())
}

/// A runtime for serving.
pub(super) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")
}

/// What a reload needs of the command line.
struct ReloadArgs {
    source: SourceArgs,
    index: Option<PathBuf>,
}

impl ServeArgs {
    fn clone_for_reload(&self) -> ReloadArgs {
        ReloadArgs {
            source: self.source.clone(),
            index: self.index.clone(),
        }
    }
}

/// Reads the sources away from the reactor.
async fn load(args: &ServeArgs) -> anyhow::Result<Loaded> {
    read(args.clone_for_reload()).await
}

async fn read(args: ReloadArgs) -> anyhow::Result<Loaded> {
    tokio::task::spawn_blocking(move || catalogue::load(&args.source, args.index.as_deref()))
        .await
        .context("reading the sources stopped unexpectedly")?
}

/// Reads the sources again at every SIGHUP. What fails changes nothing and is told to the log.
async fn reload_on_hangup(
    mut hangups: server::Hangups,
    args: ReloadArgs,
    generations: Arc<Generations>,
) {
    loop {
        hangups.next().await;
        let again = ReloadArgs {
            source: args.source.clone(),
            index: args.index.clone(),
        };
        match read(again).await {
            Ok(loaded) => {
                let operations = loaded.reader.len();
                if let Some(generation) = generations.replace(loaded.reader) {
                    tracing::info!(generation, operations, "reloaded");
                } else {
                    tracing::info!(operations, "reloaded; nothing changed");
                }
            }
            Err(error) => tracing::error!(
                error = format!("{error:#}"),
                "the reload failed; the catalogue that serves is unchanged"
            ),
        }
    }
}

/// A gateway with everything wired.
pub(super) struct Gateway {
    dispatcher: Arc<Dispatcher>,
    server: server::Settings,
    stopper: Stopper,
}

impl Gateway {
    pub(super) fn new(
        generations: &Arc<Generations>,
        listen: &ListenArgs,
        answers: &AnswerArgs,
        calls: &CallArgs,
        base_url: Option<&Url>,
    ) -> anyhow::Result<Self> {
        let tools = meta_tools(generations, answers, calls, base_url)?;
        Ok(Self {
            dispatcher: Arc::new(Dispatcher::new(Arc::new(tools), listen.protocol()?)),
            server: listen.server()?,
            stopper: Stopper::new(),
        })
    }

    /// Takes the socket; must be called inside the runtime.
    pub(super) fn bind(&self) -> anyhow::Result<server::Bound> {
        Ok(server::bind(self.server.clone())?)
    }

    /// From here on a signal says stop; must be called inside the runtime.
    pub(super) fn catch_stops(&self) -> anyhow::Result<()> {
        server::stop_on_signals(self.stopper.clone()).context("cannot catch signals")
    }

    /// Serves HTTP until a signal says stop.
    pub(super) async fn serve(&self, bound: server::Bound) -> anyhow::Result<()> {
        let stop = self.stopper.listener();
        let routes = mcp::router(mcp::PATH, Arc::clone(&self.dispatcher), stop.clone());
        // A generation serves before the socket is bound.
        let drained = bound.serve(routes, || true, stop).await;
        if drained == server::Drained::CutOff {
            tracing::warn!("calls in flight were cut off");
        }
        Ok(())
    }

    async fn serve_stdio(&self) -> anyhow::Result<()> {
        let served = mcp::serve_stdio(
            Arc::clone(&self.dispatcher),
            Caller::anonymous(),
            tokio::io::stdin(),
            tokio::io::stdout(),
            self.stopper.listener(),
            self.server.drain_deadline,
        );
        Ok(served.await?)
    }
}

/// The meta-tools over some generations, with a client of their own.
pub(super) fn meta_tools(
    generations: &Arc<Generations>,
    answers: &AnswerArgs,
    calls: &CallArgs,
    base_url: Option<&Url>,
) -> anyhow::Result<MetaTools> {
    let settings = answers.settings()?;
    let client = crate::http::Client::new(calls.client(base_url)?)?;
    let invoker = Invoker::new(client, calls.invoker(settings.budget)?);
    Ok(MetaTools::new(Arc::clone(generations), invoker, settings))
}
