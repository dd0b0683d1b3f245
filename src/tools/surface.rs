//! What a transport publishes: a list of tools and a way to call one.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use tokio::sync::watch;

use crate::access::Caller;
use crate::contract::ToolResult;

/// A way to publish the catalogue over MCP. Implementations are shared by every connection.
pub trait Surface: Send + Sync + 'static {
    /// One page of `tools/list`.
    fn list(&self, caller: &Caller, cursor: Option<&str>) -> Result<Listing, InvalidCursor>;

    /// One `tools/call`. Dropping the future cancels the call.
    ///
    /// Whatever goes wrong inside is a [`ToolResult`]; the only error is a name that is no tool here.
    fn call<'a>(
        &'a self,
        caller: &'a Caller,
        name: &'a str,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'a, Result<ToolResult, UnknownTool>>;

    /// The number of the serving generation; changes once a swap.
    fn generation(&self) -> watch::Receiver<u64>;
}

/// One page of `tools/list`.
#[derive(Debug, Clone)]
pub struct Listing {
    /// The `tools` array, serialized once a generation.
    pub tools_json: Arc<str>,
    /// Where the next page starts, when there is one.
    pub next_cursor: Option<String>,
}

/// The cursor was not made by this surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the cursor is not one that tools/list returned")]
pub struct InvalidCursor;

/// No tool of this surface has the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown tool")]
pub struct UnknownTool;
