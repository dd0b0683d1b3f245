//! The gateway under measurement. Owns: its wiring and the generations it is given; must never measure.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use sezzlee::http;
use sezzlee::index::{BuildOptions, Builder, Reader};
use sezzlee::invoke::{self, Invoker};
use sezzlee::mcp::{self, Dispatcher, Stopper};
use sezzlee::server::{self, Reloader};
use sezzlee::synthetic::Catalogue;
use sezzlee::tools::{Generations, MetaTools, Settings};

pub(crate) struct Gateway {
    pub(crate) addr: SocketAddr,
    pub(crate) reloader: Reloader,
}

impl Gateway {
    /// Serves `first` on loopback; `make` makes the next generation at every reload.
    pub(crate) fn serve(
        first: Reader,
        make: impl Fn() -> Result<Option<Reader>, String> + Send + Sync + 'static,
    ) -> Self {
        let generations = Arc::new(Generations::new(first));
        let dispatcher = dispatcher(&generations);
        let stopper = Stopper::new();
        let routes = mcp::router(mcp::PATH, Arc::new(dispatcher), stopper.listener());
        let bound = server::bind(server::Settings {
            listen: ([127, 0, 0, 1], 0).into(),
            ..server::Settings::default()
        });
        let bound = bound.unwrap();
        let addr = bound.addr();
        // Nobody says stop: it serves until the process ends.
        tokio::spawn(bound.serve(routes, || true, stopper.listener()));
        Self {
            addr,
            reloader: Reloader::new(generations, make),
        }
    }
}

/// The protocol over the meta-tools of some generations, set as by default.
pub(crate) fn dispatcher(generations: &Arc<Generations>) -> Dispatcher {
    let client = http::Client::new(http::Settings::default()).unwrap();
    let invoker = Invoker::new(client, invoke::Settings::default());
    let tools = MetaTools::new(Arc::clone(generations), invoker, Settings::default());
    Dispatcher::new(Arc::new(tools), mcp::Settings::default())
}

/// The names of a generation end with its mark, and its size is its own, so that an answer of two shows.
pub(crate) fn mark(variant: u64) -> &'static str {
    ["_even", "_odd"][usize::from(variant % 2 == 1)]
}

/// The size of a generation; never that of the other variant.
pub(crate) fn operations(variant: u64, operations: usize) -> usize {
    operations + usize::from(variant % 2 == 1)
}

/// Builds one variant into a directory.
pub(crate) fn build(out: &Path, seed: u64, variant: u64, count: usize) -> Reader {
    let catalogue = Catalogue::new(seed, operations(variant, count));
    let mut builder = Builder::on_disk(out, BuildOptions::default()).unwrap();
    for mut operation in catalogue.operations() {
        operation.definition.name.push_str(mark(variant));
        builder.push(operation).unwrap();
    }
    builder.finish().unwrap().reader
}
