//! Fetching one document whole, under a size and a deadline. Never follows a redirect.

use std::time::Duration;

use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use url::Url;

use super::{Client, Request, SendError};

/// A document that was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The whole (decompressed) body.
    pub bytes: Bytes,
    /// The Content-Type header, when it is text.
    pub content_type: Option<String>,
}

/// A document that could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The request failed.
    #[error(transparent)]
    Send(#[from] SendError),
    /// The server answered something other than the document.
    #[error("the server answered {0} in place of the document{hint}", hint = redirect_hint(*.0))]
    Status(StatusCode),
    /// The document is larger than allowed.
    #[error("the document is over {bytes_max} bytes")]
    TooLarge {
        /// The limit.
        bytes_max: usize,
    },
    /// The document was not there in time.
    #[error("the document was not complete after {} ms", .0.as_millis())]
    Timeout(Duration),
}

fn redirect_hint(status: StatusCode) -> &'static str {
    if status.is_redirection() {
        "; redirects are not followed, so give the URL it leads to"
    } else {
        ""
    }
}

impl Client {
    /// Fetches a document of at most `bytes_max` bytes, decompressed, before `deadline` passes.
    pub async fn fetch(
        &self,
        url: &Url,
        bytes_max: usize,
        deadline: Duration,
    ) -> Result<Fetched, FetchError> {
        tokio::time::timeout(deadline, self.fetch_whole(url, bytes_max))
            .await
            .unwrap_or(Err(FetchError::Timeout(deadline)))
    }

    async fn fetch_whole(&self, url: &Url, bytes_max: usize) -> Result<Fetched, FetchError> {
        let mut request = Request::get(url.clone());
        request.headers.insert(
            ACCEPT,
            HeaderValue::from_static("application/json, application/yaml, */*;q=0.5"),
        );
        let mut response = self.send(request).await?;
        if response.status != StatusCode::OK {
            return Err(FetchError::Status(response.status));
        }
        let content_type = response
            .headers
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned);
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            if chunk.len() > bytes_max - bytes.len() {
                return Err(FetchError::TooLarge { bytes_max });
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(Fetched {
            bytes: bytes.into(),
            content_type,
        })
    }
}
