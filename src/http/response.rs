//! An answer as it streams, and what can go wrong on the way. Never buffers a body.

use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;

use super::fence::Fenced;

/// The head of an answer, and its body as chunks. Dropping it closes what was not read.
#[derive(Debug)]
pub struct Response {
    /// The status.
    pub status: StatusCode,
    /// The headers; without Content-Encoding and Content-Length when the body was compressed and is read
    /// decompressed.
    pub headers: HeaderMap,
    inner: reqwest::Response,
}

impl Response {
    pub(super) fn new(mut inner: reqwest::Response) -> Self {
        Self {
            status: inner.status(),
            headers: std::mem::take(inner.headers_mut()),
            inner,
        }
    }

    /// The next part of the (decompressed) body, or nothing when it ended as its framing says it must.
    ///
    /// A body that ends early is an error, never an end.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, SendError> {
        self.inner.chunk().await.map_err(SendError::of_body)
    }
}

/// A request that got no whole answer. The texts name neither address nor URL.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// Not http or https.
    #[error("only http and https URLs can be requested")]
    Scheme,
    /// The URL names no host.
    #[error("the URL names no host")]
    NoHost,
    /// The URL carries a user name or password.
    #[error("a URL with user name or password is not requested; configure a credential instead")]
    UserInfo,
    /// The fence does not let the request out.
    #[error(
        "the host has no address that may be connected to; loopback and private addresses need the host to be allowed"
    )]
    Fenced,
    /// The request has parts that HTTP cannot carry.
    #[error("the request cannot be written as HTTP")]
    Unwritable(#[source] reqwest::Error),
    /// No connection: name resolution, TCP or TLS failed.
    #[error("no connection could be made")]
    Connect(#[source] reqwest::Error),
    /// The connection broke, or what came was not HTTP, after the request may have been sent.
    #[error("the connection broke before the answer was complete")]
    Broken(#[source] reqwest::Error),
}

impl SendError {
    pub(super) fn of_sending(error: reqwest::Error) -> Self {
        if has_source::<Fenced>(&error) {
            return Self::Fenced;
        }
        // The URL may hold arguments and credentials, and sources are logged.
        let error = error.without_url();
        if error.is_builder() {
            Self::Unwritable(error)
        } else if error.is_connect() {
            Self::Connect(error)
        } else {
            Self::Broken(error)
        }
    }

    fn of_body(error: reqwest::Error) -> Self {
        Self::Broken(error.without_url())
    }

    /// Whether the backend may have seen the request.
    pub fn may_have_arrived(&self) -> bool {
        matches!(self, Self::Broken(_))
    }
}

/// Whether an error of this type is among the sources.
fn has_source<T: std::error::Error + 'static>(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if error.is::<T>() {
            return true;
        }
        next = error.source();
    }
    false
}
