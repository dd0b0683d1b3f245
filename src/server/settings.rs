//! What an operator may choose about the server, with the values used otherwise.
//!
//! Owns: the defaults and their reasons. Must never read a file or the environment.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

/// Nobody outside the machine is served unless the operator says so.
const LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8848);

/// Sockets and buffers: about 64 KiB each at worst before a body is read.
const CONNECTIONS_MAX: usize = 2048;

/// Requests beyond this would only wait for the cores; a client that comes back is served sooner.
const REQUESTS_MAX: usize = 512;

/// A head is one packet; who needs longer holds a connection without using it. Also how long an idle
/// connection is kept.
const HEAD_DEADLINE: Duration = Duration::from_secs(30);

/// A client that takes nothing of its answer for this long is gone or means harm.
const STALL_DEADLINE: Duration = Duration::from_secs(30);

/// Longer than a call may take by default, shorter than what process managers wait before they kill.
const DRAIN_DEADLINE: Duration = Duration::from_secs(35);

/// What an operator may choose about the server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where to listen; port 0 takes a free one. Default 127.0.0.1:8848.
    pub listen: SocketAddr,
    /// Connections at the same time; one more is answered 503 and closed. Default 2048.
    pub connections_max: usize,
    /// Requests at the same time, open streams not counted; one more is answered 503. Default 512.
    pub requests_max: usize,
    /// The time for the head of a request, and for the next one on an idle connection. Default 30 s.
    pub head_deadline: Duration,
    /// The time a client may take nothing of what is sent to it. Default 30 s.
    pub stall_deadline: Duration,
    /// The time calls in flight get after a stop. Default 35 s.
    pub drain_deadline: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: LISTEN,
            connections_max: CONNECTIONS_MAX,
            requests_max: REQUESTS_MAX,
            head_deadline: HEAD_DEADLINE,
            stall_deadline: STALL_DEADLINE,
            drain_deadline: DRAIN_DEADLINE,
        }
    }
}
