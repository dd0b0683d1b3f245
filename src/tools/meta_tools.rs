//! The search-first surface: three tools, whatever the catalogue holds.

use std::num::NonZero;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use tokio::sync::watch;

use super::published::{INVOKE_TOOL, LOAD_TOOL, SEARCH_TOOLS};
use super::ranking::{Overloaded, Ranking};
use super::{Generation, Generations, InvalidCursor, Listing, Surface, UnknownTool};
use super::{invoke_tool, load_tool, search_tools};
use crate::access::{Caller, OnUnknown, View};
use crate::contract::{Budget, Envelope, ErrorEnvelope, ToolResult, emit};
use crate::index::IndexError;
use crate::invoke::{self, Invoker};

/// A search that has waited this long for its turn is refused: its agent does better to come back than to hold
/// a request, and whoever waits behind it is served sooner.
const SEARCH_WAIT_MAX: Duration = Duration::from_secs(2);

/// When a refused search may come again, in seconds: searches take milliseconds, so a queue that was too long
/// is short by then.
const SEARCH_RETRY_AFTER_SECONDS: u64 = 1;

/// What the operator decides about answers.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// The most bytes of an answer.
    pub budget: Budget,
    /// The tag vocabulary is left out of an answer when it is longer than this.
    pub vocabulary_limit: usize,
    /// Whether operations with an unknown decision are shown.
    pub on_unknown: OnUnknown,
    /// Searches that run at the same time, each on a thread of its own. Default: one a core.
    pub search_threads: usize,
    /// The longest a search waits for its turn before it is refused. Default 2 s.
    pub search_wait_max: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            budget: Budget::default(),
            vocabulary_limit: crate::search::VOCABULARY_LIMIT_DEFAULT,
            on_unknown: OnUnknown::default(),
            search_threads: std::thread::available_parallelism().map_or(1, NonZero::get),
            search_wait_max: SEARCH_WAIT_MAX,
        }
    }
}

/// The three meta-tools over the serving generation; cheap to clone.
#[derive(Clone)]
pub struct MetaTools(Arc<Shared>);

struct Shared {
    generations: Arc<Generations>,
    invoker: Invoker,
    settings: Settings,
    ranking: Ranking,
}

/// Why a verb has no answer of its own.
pub(super) enum Fault {
    /// The request was refused; the envelope says why.
    Refused(ErrorEnvelope),
    /// The index failed; the log says why.
    Index(IndexError),
}

impl From<IndexError> for Fault {
    fn from(error: IndexError) -> Self {
        Self::Index(error)
    }
}

impl MetaTools {
    /// Publishes the generations under the operator's settings.
    pub fn new(generations: Arc<Generations>, invoker: Invoker, settings: Settings) -> Self {
        Self(Arc::new(Shared {
            generations,
            invoker,
            settings,
            ranking: Ranking::new(settings.search_threads, settings.search_wait_max),
        }))
    }

    /// `search_tools`.
    pub fn search(&self, caller: &Caller, arguments: &Map<String, Value>) -> ToolResult {
        self.compute(caller, |generation, view| {
            let request = search_tools::Request::read(arguments).map_err(Fault::Refused)?;
            request.answer(generation, view, &self.0.settings)
        })
    }

    /// `search_tools` off the reactor, so that other requests go on meanwhile.
    async fn search_aside(&self, caller: Caller, arguments: Map<String, Value>) -> ToolResult {
        let tools = self.clone();
        let searched = self
            .0
            .ranking
            .run(move || tools.search(&caller, &arguments));
        let refusal = match searched.await {
            Ok(Some(result)) => return result,
            Ok(None) => ErrorEnvelope::internal(),
            Err(Overloaded) => ErrorEnvelope::searches_busy(SEARCH_RETRY_AFTER_SECONDS),
        };
        self.settle(Ok(Err(Fault::Refused(refusal))))
    }

    /// `load_tool`.
    pub fn load(&self, caller: &Caller, arguments: &Map<String, Value>) -> ToolResult {
        self.compute(caller, |generation, view| {
            let request = load_tool::Request::read(arguments).map_err(Fault::Refused)?;
            request.answer(generation, view, &self.0.settings)
        })
    }

    /// `invoke_tool`. Dropping the future drops the request to the backend.
    pub async fn invoke(&self, caller: &Caller, arguments: &Map<String, Value>) -> ToolResult {
        let call = async {
            let request = invoke_tool::Request::read(arguments).map_err(Fault::Refused)?;
            let operation = {
                let generation = self.0.generations.current();
                let view = self.view(&generation, caller);
                request.operation(&generation, &view)?
            };
            request
                .answer(&operation, &self.0.invoker, &self.0.settings)
                .await
        };
        let outcome = AssertUnwindSafe(call).catch_unwind().await;
        self.settle(outcome)
    }

    /// The request that `invoke_tool` would send, after the same checks; nothing is sent.
    pub fn compose(
        &self,
        caller: &Caller,
        arguments: &Map<String, Value>,
    ) -> Result<invoke::Request, ToolResult> {
        let composed = std::panic::catch_unwind(AssertUnwindSafe(|| {
            let request = invoke_tool::Request::read(arguments).map_err(Fault::Refused)?;
            let generation = self.0.generations.current();
            let view = self.view(&generation, caller);
            let operation = request.operation(&generation, &view)?;
            request.compose(&operation, self.0.invoker.limits())
        }));
        match composed {
            Ok(Ok(request)) => Ok(request),
            Ok(Err(fault)) => Err(self.settle(Ok(Err(fault)))),
            Err(panic) => Err(self.settle(Err(panic))),
        }
    }

    fn view(&self, generation: &Generation, caller: &Caller) -> View {
        View::new(
            generation.reader.audiences(),
            caller,
            self.0.settings.on_unknown,
        )
    }

    /// Answers from one generation, whatever is swapped in meanwhile.
    fn compute(
        &self,
        caller: &Caller,
        answer: impl FnOnce(&Generation, &View) -> Result<ToolResult, Fault>,
    ) -> ToolResult {
        let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| {
            let generation = self.0.generations.current();
            let view = self.view(&generation, caller);
            answer(&generation, &view)
        }));
        self.settle(outcome)
    }

    /// What failed inside is told to the log and not to the caller.
    fn settle(&self, outcome: std::thread::Result<Result<ToolResult, Fault>>) -> ToolResult {
        let refusal = match outcome {
            Ok(Ok(result)) => return result,
            Ok(Err(Fault::Refused(refusal))) => refusal,
            Ok(Err(Fault::Index(error))) => {
                let error: &(dyn std::error::Error + 'static) = &error;
                tracing::error!(error, "the index could not answer");
                ErrorEnvelope::internal()
            }
            // The panic hook has written message and place already.
            Err(_) => ErrorEnvelope::internal(),
        };
        emit(&Envelope::Error(refusal), self.0.settings.budget)
    }
}

impl Surface for MetaTools {
    fn list(&self, _caller: &Caller, cursor: Option<&str>) -> Result<Listing, InvalidCursor> {
        if cursor.is_some() {
            // There is one page; no cursor was ever handed out.
            return Err(InvalidCursor);
        }
        Ok(Listing {
            tools_json: Arc::clone(&self.0.generations.current().tools_json),
            next_cursor: None,
        })
    }

    fn call<'a>(
        &'a self,
        caller: &'a Caller,
        name: &'a str,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'a, Result<ToolResult, UnknownTool>> {
        async move {
            match name {
                SEARCH_TOOLS => Ok(self.search_aside(caller.clone(), arguments).await),
                LOAD_TOOL => Ok(self.load(caller, &arguments)),
                INVOKE_TOOL => Ok(self.invoke(caller, &arguments).await),
                _ => Err(UnknownTool),
            }
        }
        .boxed()
    }

    fn generation(&self) -> watch::Receiver<u64> {
        self.0.generations.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{BuildOptions, Builder};

    fn empty() -> MetaTools {
        let built = Builder::in_memory(BuildOptions::default())
            .finish()
            .unwrap();
        let generations = Arc::new(Generations::new(built.reader));
        let client = crate::http::Client::new(crate::http::Settings::default()).unwrap();
        let invoker = Invoker::new(client, invoke::Settings::default());
        MetaTools::new(generations, invoker, Settings::default())
    }

    #[test]
    fn a_panic_is_an_internal_error_that_says_nothing_of_it() {
        let tools = empty();
        let answer = tools.compute(&Caller::anonymous(), |_, _| panic!("s3cret"));
        assert!(answer.is_error());
        assert!(answer.text().starts_with("{\"error\":\"internal_error\""));
        assert!(!answer.text().contains("s3cret"));
        let after = tools.search(&Caller::anonymous(), &Map::new());
        assert_eq!(after.text(), "{\"total\":0,\"results\":[]}");
    }
}
