//! A request, ready to be sent and to be printed. Never holds what it does not send.

use std::fmt;

use bytes::Bytes;
use reqwest::Method;
use reqwest::header::HeaderMap;
use url::Url;

/// One request: what is sent is what it prints, except for values marked sensitive.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The whole URL; its path and query go out exactly as `Url` holds them.
    pub url: Url,
    /// The headers that the client does not set itself.
    pub headers: HeaderMap,
    /// The body, when there is one.
    pub body: Option<Bytes>,
}

impl Request {
    /// A GET without headers.
    pub fn get(url: Url) -> Self {
        Self {
            method: Method::GET,
            url,
            headers: HeaderMap::new(),
            body: None,
        }
    }

    /// Whether a URL can stand on a request line: the type of HTTP messages takes fewer than `Url` does.
    pub fn can_carry(url: &Url) -> bool {
        url.as_str().parse::<hyper::Uri>().is_ok()
    }

    /// Path and query, as on the request line.
    pub fn target(&self) -> &str {
        &self.url[url::Position::BeforePath..url::Position::AfterQuery]
    }
}

/// What stands for a value that must not be printed.
const MASK: &str = "***";

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.url)?;
        for (name, value) in &self.headers {
            if value.is_sensitive() {
                write!(f, "\n{name}: {MASK}")?;
            } else {
                write!(f, "\n{name}: {}", String::from_utf8_lossy(value.as_bytes()))?;
            }
        }
        match self.body.as_deref().map(std::str::from_utf8) {
            None => Ok(()),
            Some(Ok(text)) => write!(f, "\n\n{text}"),
            Some(Err(_)) => {
                let bytes = self.body.as_ref().map_or(0, Bytes::len);
                write!(f, "\n\n({bytes} bytes that are not text)")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};

    use super::*;

    #[test]
    fn urls_that_http_cannot_carry_are_told() {
        let carried = |text: &str| Request::can_carry(&Url::parse(text).unwrap());
        assert!(carried("https://shop.test:8443/a%2Fb?q=[1]"));
        assert!(carried("https://[::1]/"));
        assert!(!carried(&format!(
            "https://shop.test/{}",
            "a".repeat(70_000)
        )));
    }

    #[test]
    fn sensitive_values_are_not_printed() {
        let mut request = Request::get(Url::parse("https://shop.test/a%2Fb?q=1").unwrap());
        let mut secret = HeaderValue::from_static("Bearer s3cret");
        secret.set_sensitive(true);
        request.headers.insert(AUTHORIZATION, secret);
        request
            .headers
            .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        request.body = Some(Bytes::from_static(b"{\"a\":1}"));
        assert_eq!(
            request.to_string(),
            "GET https://shop.test/a%2Fb?q=1\nauthorization: ***\ncontent-type: application/json\n\n{\"a\":1}"
        );
        assert!(!format!("{request:?}").contains("s3cret"));
        assert_eq!(request.target(), "/a%2Fb?q=1");
        request.body = Some(Bytes::from_static(b"\xff\xfe"));
        assert!(request.to_string().ends_with("(2 bytes that are not text)"));
    }
}
