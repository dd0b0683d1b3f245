//! The process as a server: sockets, limits, health, stopping.
//!
//! Owns: binding, the accept loop, deadlines and limits of connections, requests in flight, `/healthz` and
//! `/readyz`, the graceful stop, and signals. Must never know what a request asks for.

mod gate;
mod guarded;
mod health;
mod serve;
mod settings;
mod signals;

pub use serve::{BindError, Bound, Drained, bind};
pub use settings::Settings;
pub use signals::{Hangups, stop_on_signals};
