//! The one client: a pool behind the fence. Never retries, follows, or asks the environment for a proxy.

use std::sync::Arc;
use std::time::Duration;

use super::Request;
use super::fence::{AllowedHosts, Fence, FencedResolver};
use super::response::{Response, SendError};

/// How the one client connects.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The hosts that may have loopback and private addresses.
    pub allowed: AllowedHosts,
    /// How long a connection may take to open, TLS included.
    pub connect_timeout: Duration,
    /// How long an idle connection is kept.
    pub idle_timeout: Duration,
    /// How many idle connections are kept for each host.
    pub idle_per_host_max: usize,
    /// The User-Agent of every request.
    pub user_agent: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            allowed: AllowedHosts::none(),
            // A host that drops packets must not use up the whole deadline of a call.
            connect_timeout: Duration::from_secs(10),
            // Below the 60 s after which common load balancers close: fewer connections die in use.
            idle_timeout: Duration::from_secs(50),
            // The calls in flight to one backend are limited to 64 by default; half of them stay warm.
            idle_per_host_max: 32,
            user_agent: concat!("sezzlee/", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

/// The client could not be set up; nothing can be fetched or called.
#[derive(Debug, thiserror::Error)]
#[error("the HTTP client could not be set up; look at the trusted certificates and the user agent")]
pub struct ClientError(#[source] reqwest::Error);

/// The one outbound client. Cheap to clone; clones share the pool and the fence.
#[derive(Debug, Clone)]
pub struct Client {
    inner: reqwest::Client,
    fence: Arc<Fence>,
}

impl Client {
    /// Sets up the client.
    pub fn new(settings: Settings) -> Result<Self, ClientError> {
        // TLS looks for its cryptography in one place of the process. Another provider that is already
        // there is as good; the error says no more than that.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let fence = Arc::new(Fence::new(settings.allowed));
        let inner = reqwest::Client::builder()
            .dns_resolver(FencedResolver(Arc::clone(&fence)))
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .connect_timeout(settings.connect_timeout)
            .pool_idle_timeout(settings.idle_timeout)
            .pool_max_idle_per_host(settings.idle_per_host_max)
            .user_agent(settings.user_agent)
            .build()
            .map_err(ClientError)?;
        Ok(Self { inner, fence })
    }

    /// Sends a request and waits for the head of the answer. Dropping the future drops the request.
    pub async fn send(&self, request: Request) -> Result<Response, SendError> {
        self.fence.check_url(&request.url)?;
        let mut outbound = reqwest::Request::new(request.method, request.url);
        *outbound.headers_mut() = request.headers;
        *outbound.body_mut() = request.body.map(reqwest::Body::from);
        let response = self
            .inner
            .execute(outbound)
            .await
            .map_err(SendError::of_sending)?;
        Ok(Response::new(response))
    }
}
