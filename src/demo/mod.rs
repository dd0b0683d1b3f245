//! The demo: a small shop that exists to be called through a gateway.
//!
//! Owns: a backend with its own rows, rules, delays and faults, and the OpenAPI document that describes it.
//! Must never know that a gateway is in front of it: it is a backend like any other, over HTTP.
//!
//! Reading order: [`backend`] takes a request off the wire, `routes` says who answers it, the desks
//! (`products`, `customers`, `orders`, …) answer over the rows of `shop`, and `reply` writes it.

pub mod backend;

mod calendar;
mod call;
mod customers;
mod invoices;
mod order_parts;
mod orders;
mod page;
mod products;
mod reply;
mod reports;
mod routes;
mod rows;
mod seed;
mod shipments;
mod shop;
mod words;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// The OpenAPI document of the shop. It names no host: whoever serves the shop gives the base URL.
pub const DOCUMENT: &str = include_str!("../../examples/shop/openapi.yaml");

/// How long answers in flight may take once the shop is told to stop; held-back ones are cut short anyway.
const STOP_GRACE: Duration = Duration::from_secs(2);

/// 2026-10-01T09:00:00Z, a few days after the last seed order.
const OPENING_SECONDS: u64 = 1_790_845_200;

/// What a shop can be told.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How long the sales and stock reports take.
    pub report_delay: Duration,
    /// How long the audit takes: longer than callers are expected to wait.
    pub audit_delay: Duration,
    /// What the shop takes the time to be.
    pub clock: Clock,
}

impl Default for Settings {
    /// Reports of two seconds, an audit of a minute, and a clock that stands still.
    fn default() -> Self {
        Self {
            report_delay: Duration::from_secs(2),
            audit_delay: Duration::from_mins(1),
            clock: Clock::standing(SystemTime::UNIX_EPOCH + Duration::from_secs(OPENING_SECONDS)),
        }
    }
}

/// Where the shop has the time from. It reads no clock itself, so that its answers can be repeated.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> SystemTime + Send + Sync>);

impl Clock {
    /// A clock that is asked once a request.
    pub fn new(read: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    /// A clock that stands still.
    pub fn standing(at: SystemTime) -> Self {
        Self::new(move || at)
    }

    /// Seconds since 1970; 0 before.
    fn seconds(&self) -> u64 {
        (self.0)()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs()
    }
}

impl std::fmt::Debug for Clock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Clock({})", self.seconds())
    }
}

/// One operation of the shop, as the table of routes has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteName {
    /// `GET`, `POST`, …
    pub method: &'static str,
    /// The route template in OpenAPI spelling, such as `/orders/{order_id}`.
    pub path: &'static str,
}

/// Every operation the shop answers, in the order of its table.
pub fn route_names() -> Vec<RouteName> {
    routes::ROUTES
        .iter()
        .map(|route| RouteName {
            method: route.verb.as_str(),
            path: route.path,
        })
        .collect()
}

/// The shop could not be opened.
#[derive(Debug, thiserror::Error)]
#[error("the demo shop cannot listen on a free loopback port")]
pub struct StartError(#[source] std::io::Error);

/// A shop that answers. Dropping it stops it without waiting; [`Running::stop`] waits.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    stopping: watch::Sender<bool>,
    server: JoinHandle<std::io::Result<()>>,
}

impl Running {
    /// Where it listens: a loopback address with a port the system chose.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base URL of its operations, without a trailing slash.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Takes no more requests, cuts held-back answers short, and waits a little for the rest.
    pub async fn stop(mut self) {
        self.stopping.send_replace(true);
        // Whether it ended or is cut off here, there is nothing left to tell anybody.
        let _ = tokio::time::timeout(STOP_GRACE, &mut self.server).await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stopping.send_replace(true);
        self.server.abort();
    }
}

/// Opens a shop on a free port of 127.0.0.1.
///
/// # Errors
///
/// When the system gives no loopback port.
pub async fn start(settings: Settings) -> Result<Running, StartError> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .map_err(StartError)?;
    let address = listener.local_addr().map_err(StartError)?;
    let (stopping, mut stopped) = watch::channel(false);
    let router = backend::router_until(settings, stopping.subscribe());
    let server = axum::serve(listener, router).with_graceful_shutdown(async move {
        // An error means that the sender is gone, which is a stop as well.
        let _ = stopped.wait_for(|stopped| *stopped).await;
    });
    Ok(Running {
        address,
        stopping,
        server: tokio::spawn(server.into_future()),
    })
}
