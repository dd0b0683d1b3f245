//! A gateway with everything wired, for the commands that serve or answer.
//!
//! Owns: which settings go to which room. Must never read a source.

use std::sync::Arc;

use anyhow::Context as _;

use crate::access::Caller;
use crate::config::{AnswerArgs, CallArgs, ListenArgs, Outbound};
use crate::invoke::Invoker;
use crate::mcp::{self, Dispatcher, Stopper};
use crate::server;
use crate::tools::{self, Generations, MetaTools};

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
        outbound: &Outbound,
    ) -> anyhow::Result<Self> {
        let mut settings = answers.settings()?;
        if let Some(threads) = listen.search_threads {
            settings.search_threads = threads.get();
        }
        let tools = with_settings(generations, settings, calls, outbound)?;
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

    /// One who hears when this gateway is to stop.
    pub(super) fn stop(&self) -> mcp::Stop {
        self.stopper.listener()
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

    /// Serves stdin and stdout until a signal says stop or the input ends.
    pub(super) async fn serve_stdio(&self) -> anyhow::Result<()> {
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
    outbound: &Outbound,
) -> anyhow::Result<MetaTools> {
    with_settings(generations, answers.settings()?, calls, outbound)
}

fn with_settings(
    generations: &Arc<Generations>,
    settings: tools::Settings,
    calls: &CallArgs,
    outbound: &Outbound,
) -> anyhow::Result<MetaTools> {
    let client = crate::http::Client::new(calls.client(outbound)?)?;
    let invoker = Invoker::new(client, calls.invoker(settings.budget)?);
    Ok(MetaTools::new(Arc::clone(generations), invoker, settings))
}
