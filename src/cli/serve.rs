//! `sezzlee serve`: the gateway over HTTP or stdio, with everything that makes it read its sources again.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use tokio::task::{JoinSet, spawn_blocking};

use super::Ended;
use super::gateway::Gateway;
use super::interrupt::Guard;
use super::output::stderr_line;
use super::supply::Supply;
use crate::config::{AdminArgs, AnswerArgs, CallArgs, ListenArgs, SourceArgs};
use crate::server::{self, Reloader, Trigger, Watched};
use crate::tools::Generations;
use crate::{index, mcp};

/// Serve a catalogue.
#[derive(Debug, Args)]
#[command(
    after_help = "SIGHUP, POST /admin/reload and, with --watch, a change of a source read the sources again and \
                  swap the new catalogue in; a broken one changes nothing. SIGTERM finishes what is in flight \
                  and exits."
)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// Speak MCP over stdin and stdout instead of HTTP.
    #[arg(long)]
    stdio: bool,
    /// Keep the index in this directory instead of in memory, and reuse it while its sources are the same.
    #[arg(long, value_name = "DIR")]
    index: Option<PathBuf>,
    /// Reload when files change and then stay as they are for a second.
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    admin: AdminArgs,
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
    let ended = runtime.block_on(serve(args));
    if let Some(out) = &args.index {
        // A reload may be building; whoever said stop does not wait for it.
        index::abandon_build(out);
    }
    if args.stdio {
        ended?;
        // A thread of the runtime may still wait for a line that never comes; it must not hold the exit.
        std::process::exit(0);
    }
    runtime.shutdown_background();
    ended?;
    Ok(Ended::Well)
}

/// Refuses what the flags say before the sources are read, which may take long.
fn check_settings(args: &ServeArgs) -> anyhow::Result<()> {
    let answers = args.answers.settings()?;
    args.calls.client(&args.source.settled()?.outbound())?;
    args.calls.invoker(answers.budget)?;
    args.listen.protocol()?;
    args.listen.server()?;
    args.admin.server()?;
    Ok(())
}

/// A runtime for serving.
pub(super) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")
}

async fn serve(args: &ServeArgs) -> anyhow::Result<()> {
    // Caught from here on: one that comes while the sources are read is a reload after them.
    let hangups = server::Hangups::new().context("cannot catch SIGHUP")?;
    let guard = args
        .index
        .as_deref()
        .map(Guard::over_build_in)
        .transpose()?;
    let source = args.source.settled()?;
    let supply = Arc::new(Supply::new(&args.source, args.index.as_deref()));
    // What changes while the sources are read is a change, too.
    let watched = args.watch.then(|| watched(&source, &supply));
    let seen = watched.clone().map(|watched| watched.stamp());
    let first = Arc::clone(&supply);
    let loaded = spawn_blocking(move || first.first())
        .await
        .context("reading the sources stopped unexpectedly")
        .flatten();
    let loaded = match &guard {
        Some(guard) => guard.settle(loaded),
        None => loaded,
    }?;
    tracing::info!(
        operations = loaded.reader.len(),
        reused = loaded.is_reused,
        "the catalogue is ready"
    );
    let generations = Arc::new(Generations::new(loaded.reader));
    let reloader = Reloader::new(Arc::clone(&generations), move || match supply.again() {
        Ok(loaded) => Ok(loaded.map(|loaded| loaded.reader)),
        Err(error) => Err(format!("{error:#}")),
    });
    let gateway = Gateway::new(
        &generations,
        &args.listen,
        &args.answers,
        &args.calls,
        &source.outbound(),
    )?;
    // Dropped at the end, which ends them.
    let mut beside = JoinSet::new();
    beside.spawn(reload_on_hangup(hangups, reloader.clone()));
    if let (Some(watched), Some(seen)) = (watched, seen) {
        beside.spawn(server::watch(watched, seen, reloader.clone()));
    }
    let bound = if args.stdio {
        None
    } else {
        Some(gateway.bind()?)
    };
    // Whoever reads that it serves may tell it to stop.
    gateway.catch_stops()?;
    drop(guard);
    serve_admin(args, &gateway, reloader, &mut beside)?;
    match bound {
        None => gateway.serve_stdio().await,
        Some(bound) => {
            stderr_line(&format!("gateway: http://{}{}", bound.addr(), mcp::PATH));
            gateway.serve(bound).await
        }
    }
}

/// What of the sources shows a change.
fn watched(source: &SourceArgs, supply: &Arc<Supply>) -> Watched {
    let referenced = supply.referenced();
    match source.sources.as_slice() {
        [one] if PathBuf::from(one).join("CURRENT").is_file() => Watched::Index(one.into()),
        _ if source.config.is_none() => Watched::Sources {
            named: source.looked_at(),
            referenced,
        },
        _ => {
            let supply = Arc::clone(supply);
            Watched::Configured {
                listing: server::Listing::new(move || supply.looked_at()),
                referenced,
            }
        }
    }
}

/// Serves the operator beside the gateway, where that was asked for.
fn serve_admin(
    args: &ServeArgs,
    gateway: &Gateway,
    reloader: Reloader,
    beside: &mut JoinSet<()>,
) -> anyhow::Result<()> {
    let Some((settings, token)) = args.admin.server()? else {
        return Ok(());
    };
    let bound = server::bind(settings)?;
    stderr_line(&format!("admin: http://{}/admin", bound.addr()));
    let stop = gateway.stop();
    let routes = server::admin_routes(reloader, token, stop.clone());
    beside.spawn(async move {
        bound.serve(routes, || true, stop).await;
    });
    Ok(())
}

/// Reloads at every SIGHUP.
async fn reload_on_hangup(mut hangups: server::Hangups, reloader: Reloader) {
    loop {
        hangups.next().await;
        reloader.request(Trigger::Hangup);
    }
}
