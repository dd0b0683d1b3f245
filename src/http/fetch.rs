//! Fetching one document whole, under a size and a deadline. Never follows a redirect.

use std::time::Duration;

use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::{
    ACCEPT, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE,
    IF_NONE_MATCH, LAST_MODIFIED,
};
use url::Url;

use super::{Client, Request, SendError};

/// A document that was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The whole (decompressed) body.
    pub bytes: Bytes,
    /// The Content-Type header, when it is text.
    pub content_type: Option<String>,
    /// What the server said of it, to ask with the next time.
    pub validators: Validators,
}

/// What a server said of a document it sent: both as they were sent (RFC 9110, section 8.8).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Validators {
    /// The ETag header, strong or weak.
    pub etag: Option<String>,
    /// The Last-Modified header.
    pub last_modified: Option<String>,
}

/// A validator over this many bytes is not kept: servers' have a few dozen.
const VALIDATOR_BYTES_MAX: usize = 1_024;

impl Validators {
    /// Whether there is nothing to ask with.
    pub fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }

    fn of(headers: &HeaderMap) -> Self {
        let kept = |name| {
            text(headers, name).filter(|text| !text.is_empty() && text.len() <= VALIDATOR_BYTES_MAX)
        };
        Self {
            etag: kept(ETAG),
            last_modified: kept(LAST_MODIFIED),
        }
    }

    /// The headers to ask with; an entity tag alone where there is one, since it tells more.
    fn ask(&self, headers: &mut HeaderMap) -> bool {
        let asked = match (&self.etag, &self.last_modified) {
            (Some(etag), _) => (IF_NONE_MATCH, etag),
            (None, Some(time)) => (IF_MODIFIED_SINCE, time),
            (None, None) => return false,
        };
        // What came as a header can go as one, unless the note of it was changed by hand.
        HeaderValue::from_str(asked.1).is_ok_and(|value| {
            headers.insert(asked.0, value);
            true
        })
    }
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    headers
        .get(name)
        .and_then(|value| value.to_str().ok())
        .map(str::to_owned)
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
        let nothing = Validators::default();
        let fetched = self
            .fetch_unless(url, bytes_max, deadline, &nothing)
            .await?;
        // Nothing was asked about, so that the answer is never that nothing changed.
        fetched.ok_or(FetchError::Status(StatusCode::NOT_MODIFIED))
    }

    /// Like [`Self::fetch`], but nothing when the server says that the document is what `known` was said of.
    pub async fn fetch_unless(
        &self,
        url: &Url,
        bytes_max: usize,
        deadline: Duration,
        known: &Validators,
    ) -> Result<Option<Fetched>, FetchError> {
        tokio::time::timeout(deadline, self.fetch_whole(url, bytes_max, known))
            .await
            .unwrap_or(Err(FetchError::Timeout(deadline)))
    }

    async fn fetch_whole(
        &self,
        url: &Url,
        bytes_max: usize,
        known: &Validators,
    ) -> Result<Option<Fetched>, FetchError> {
        let mut request = Request::get(url.clone());
        request.headers.insert(
            ACCEPT,
            HeaderValue::from_static("application/json, application/yaml, */*;q=0.5"),
        );
        let is_conditional = known.ask(&mut request.headers);
        let mut response = self.send(request).await?;
        if is_conditional && response.status == StatusCode::NOT_MODIFIED {
            return Ok(None);
        }
        if response.status != StatusCode::OK {
            return Err(FetchError::Status(response.status));
        }
        let content_type = text(&response.headers, CONTENT_TYPE);
        let validators = Validators::of(&response.headers);
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            if chunk.len() > bytes_max - bytes.len() {
                return Err(FetchError::TooLarge { bytes_max });
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(Some(Fetched {
            bytes: bytes.into(),
            content_type,
            validators,
        }))
    }
}
