//! The Model Context Protocol over raw JSON: one dispatcher, two transports.
//!
//! Owns: reading JSON-RPC messages, choosing the era of each request, the methods of both eras, the
//! table of protocol errors, Streamable HTTP, stdio and subscriptions. Must never know tantivy or
//! OpenAPI, nor look inside a tool result: it carries what a [`crate::tools::Surface`] gives it.
//!
//! The way of one request: [`Message::read`] turns bytes into a request; `era` decides which revision it
//! speaks and checks its headers; [`Dispatcher::answer`] finds the method and writes the bytes of the
//! answer; `streamable` or `stdio` carries them.

mod dispatch;
mod era;
mod fence;
mod headers;
mod message;
mod refusal;
mod reply;
mod settings;
mod stdio;
mod stop;
mod streamable;
mod subscription;
mod written;

pub use dispatch::{Answer, Dispatcher};
pub use era::{LEGACY_VERSIONS, MODERN_VERSION, SUPPORTED_VERSIONS};
pub use fence::{Allowed, AllowedError};
pub use message::{Id, Message, Notification, Params, Request};
pub use refusal::Refusal;
pub use settings::Settings;
pub use stdio::{StdioError, serve as serve_stdio};
pub use stop::{Stop, Stopper};
pub use streamable::{PATH, router};
pub use subscription::Subscription;
