//! What an operator may choose about the protocol, with the values used otherwise.
//!
//! Owns: the defaults and their reasons. Must never read a file or the environment.

use std::time::Duration;

use super::Allowed;

/// One message. Arguments with an inline file are the largest thing an agent sends.
const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The whole body must arrive within this; 4 MiB at a slow uplink of 1 Mbit/s takes about as long.
const BODY_DEADLINE: Duration = Duration::from_secs(30);

/// Open `subscriptions/listen` streams; each costs a connection, a task and a few kilobytes.
const STREAMS_MAX: usize = 1024;

/// Proxies commonly cut connections that are silent for 30 or 60 seconds.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Requests of one stdio client that run at the same time.
const STDIO_REQUESTS_MAX: usize = 256;

/// What an operator may choose about the protocol.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The name in `serverInfo`. Default `sezzlee`.
    pub server_name: String,
    /// The version in `serverInfo`. Default: this crate's.
    pub server_version: String,
    /// A text for the model, sent by `server/discover` and `initialize`. Default: none.
    pub instructions: Option<String>,
    /// The largest message in bytes: an HTTP body or a line of stdio. Default 4 MiB.
    pub body_bytes_max: usize,
    /// The time in which the whole body of a request must arrive. Default 30 s.
    pub body_deadline: Duration,
    /// The hosts a request may name. Default: loopback names, any port.
    pub allowed_hosts: Allowed,
    /// The origins a browser may call from. Default: loopback names, any port, http or https.
    pub allowed_origins: Allowed,
    /// Open `subscriptions/listen` streams over HTTP. Default 1024.
    pub streams_max: usize,
    /// The time between keep-alive comments on a silent stream. Default 15 s.
    pub keep_alive: Duration,
    /// How long a client may reuse `tools/list` and `server/discover` without asking, in milliseconds.
    /// Default 0: a reload is seen at the next list.
    pub list_ttl_ms: u64,
    /// Requests of one stdio client that may run at the same time. Default 256.
    pub stdio_requests_max: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            server_name: "sezzlee".to_owned(),
            server_version: env!("CARGO_PKG_VERSION").to_owned(),
            instructions: None,
            body_bytes_max: BODY_BYTES_MAX,
            body_deadline: BODY_DEADLINE,
            allowed_hosts: Allowed::Loopback,
            allowed_origins: Allowed::Loopback,
            streams_max: STREAMS_MAX,
            keep_alive: KEEP_ALIVE,
            list_ttl_ms: 0,
            stdio_requests_max: STDIO_REQUESTS_MAX,
        }
    }
}
