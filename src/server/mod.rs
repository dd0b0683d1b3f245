//! The process as a server: sockets, limits, health, reloading, stopping.
//!
//! Owns: binding, the accept loop, deadlines and limits of connections, requests in flight, `/healthz` and
//! `/readyz`, the one reloader with what triggers it (signals, the admin endpoint, watched files), the graceful
//! stop, and signals. Must never know what a request asks for, nor how a source is read.

mod admin;
mod gate;
mod guarded;
mod health;
mod reload;
mod serve;
mod settings;
mod signals;
mod watching;

pub use admin::{Token, TokenError, admin_routes};
pub use reload::{Finished, Make, Outcome, Reloader, Status, Trigger};
pub use serve::{BindError, Bound, Drained, bind};
pub use settings::Settings;
pub use signals::{Hangups, Interrupt, Interrupts, stop_on_signals};
pub use watching::{Listing, Watched, watch};
