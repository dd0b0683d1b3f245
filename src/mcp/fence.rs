//! Which hosts a request may name and which origins may send one.
//!
//! Owns: the check that keeps a web page from reaching a loopback server through a name of its own
//! (DNS rebinding). Must never authenticate anyone: it only tells browsers apart.

use std::net::{Ipv4Addr, Ipv6Addr};

use axum::http::uri::{Authority, Uri};
use axum::http::{HeaderMap, header};

/// Hosts or origins that are let through.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Allowed {
    /// `localhost`, 127.0.0.0/8 and `[::1]`, any port.
    #[default]
    Loopback,
    /// Only these. Built by [`Allowed::hosts`] or [`Allowed::origins`], which check the entries.
    Listed(Vec<Place>),
    /// Every one: something in front of this server checks.
    Any,
}

/// One entry of a list: where a request may go to or come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Only of an origin.
    scheme: Option<String>,
    /// In lower case, IPv6 in brackets.
    host: String,
    /// `None` is any port.
    port: Option<u16>,
}

/// An entry that is neither `host` nor `host:port`, or no origin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AllowedError {
    /// Not a host.
    #[error("`{0}` is not a host; write `name`, `name:port` or `*`")]
    Host(String),
    /// Not an origin.
    #[error("`{0}` is not an origin; write `https://name`, with a port if it has one, or `*`")]
    Origin(String),
}

impl Allowed {
    /// A list of hosts: `name` (any port), `name:port`, or `*` for all.
    pub fn hosts<'a>(entries: impl IntoIterator<Item = &'a str>) -> Result<Self, AllowedError> {
        list(entries, |entry| {
            host(entry).ok_or_else(|| AllowedError::Host(entry.to_owned()))
        })
    }

    /// A list of origins: `https://name` or `http://name:port`, or `*` for all.
    pub fn origins<'a>(entries: impl IntoIterator<Item = &'a str>) -> Result<Self, AllowedError> {
        list(entries, |entry| {
            origin(entry).ok_or_else(|| AllowedError::Origin(entry.to_owned()))
        })
    }

    fn admits(&self, asked: &Place) -> bool {
        match self {
            Self::Any => true,
            Self::Loopback => is_loopback(&asked.host),
            Self::Listed(places) => places.iter().any(|place| {
                place.host == asked.host
                    && place.scheme == asked.scheme
                    && (place.port.is_none() || place.port == asked.port)
            }),
        }
    }

    /// Whether a request's host is let through. HTTP/2 names it in the target, HTTP/1.1 in a header;
    /// where both are there both must pass.
    pub(super) fn admits_host(&self, target: &Uri, headers: &HeaderMap) -> bool {
        if *self == Self::Any {
            return true;
        }
        let named = one(headers, &header::HOST);
        let Ok(named) = named else { return false };
        let mut asked = [target.authority().map(Authority::as_str), named]
            .into_iter()
            .flatten()
            .peekable();
        asked.peek().is_some()
            && asked.all(|text| host(text).is_some_and(|place| self.admits(&place)))
    }

    /// Whether a request's origin is let through. Without one it does not come from a web page.
    pub(super) fn admits_origin(&self, headers: &HeaderMap) -> bool {
        match one(headers, &header::ORIGIN) {
            Ok(None) => true,
            Ok(Some(text)) => {
                *self == Self::Any || origin(text).is_some_and(|place| self.admits(&place))
            }
            Err(()) => false,
        }
    }
}

fn list<'a>(
    entries: impl IntoIterator<Item = &'a str>,
    read: impl Fn(&'a str) -> Result<Place, AllowedError>,
) -> Result<Allowed, AllowedError> {
    let mut places = Vec::new();
    for entry in entries {
        if entry == "*" {
            return Ok(Allowed::Any);
        }
        places.push(read(entry)?);
    }
    Ok(Allowed::Listed(places))
}

/// The one readable value of a header, if it is there.
fn one<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Result<Option<&'a str>, ()> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(());
    }
    value.to_str().map(Some).map_err(|_| ())
}

fn host(text: &str) -> Option<Place> {
    let authority: Authority = text.parse().ok()?;
    if authority.as_str().contains('@') || authority.host().is_empty() {
        return None;
    }
    // `name:` and `name:99999` parse as an authority without a port; they name no place.
    let port = authority.port_u16();
    let bare = authority.as_str() == authority.host();
    (bare || port.is_some()).then(|| Place {
        scheme: None,
        host: authority.host().to_ascii_lowercase(),
        port,
    })
}

fn origin(text: &str) -> Option<Place> {
    let (scheme, rest) = text.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let default_port = match scheme.as_str() {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    let place = host(rest)?;
    Some(Place {
        scheme: Some(scheme),
        port: place.port.or(Some(default_port)),
        ..place
    })
}

fn is_loopback(host: &str) -> bool {
    let v6 = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .and_then(|inner| inner.parse::<Ipv6Addr>().ok());
    host == "localhost"
        || host
            .parse::<Ipv4Addr>()
            .is_ok_and(|address| address.is_loopback())
        || v6.is_some_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn headers(name: &header::HeaderName, values: &[&str]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for value in values {
            map.append(name.clone(), HeaderValue::from_str(value).unwrap());
        }
        map
    }

    fn host_passes(allowed: &Allowed, values: &[&str]) -> bool {
        allowed.admits_host(&Uri::from_static("/mcp"), &headers(&header::HOST, values))
    }

    fn origin_passes(allowed: &Allowed, values: &[&str]) -> bool {
        allowed.admits_origin(&headers(&header::ORIGIN, values))
    }

    #[test]
    fn loopback_hosts_pass_by_default() {
        for host in [
            "localhost",
            "LOCALHOST:1",
            "127.0.0.1:8080",
            "127.9.9.9",
            "[::1]:80",
            "[0:0::1]",
        ] {
            assert!(host_passes(&Allowed::Loopback, &[host]), "{host}");
        }
        for host in [
            "evil.com",
            "localhost.evil.com",
            "evil.com:80",
            "127.0.0.1.nip.io",
            "0.0.0.0",
            "[::2]",
            "",
            "localhost:",
            "localhost:99999",
            "a@localhost",
            "localhost/x",
            "10.0.0.1",
        ] {
            assert!(!host_passes(&Allowed::Loopback, &[host]), "{host}");
        }
        assert!(!host_passes(&Allowed::Loopback, &[]));
        assert!(!host_passes(
            &Allowed::Loopback,
            &["localhost", "localhost"]
        ));
    }

    #[test]
    fn the_target_of_the_request_is_a_host_too() {
        let target = Uri::from_static("http://evil.com/mcp");
        let named = headers(&header::HOST, &["localhost"]);
        assert!(!Allowed::Loopback.admits_host(&target, &named));
        let target = Uri::from_static("http://localhost/mcp");
        assert!(Allowed::Loopback.admits_host(&target, &HeaderMap::new()));
    }

    #[test]
    fn a_list_replaces_the_loopback_names() {
        let hosts = Allowed::hosts(["api.example.com", "Other.example:8443"]).unwrap();
        assert!(host_passes(&hosts, &["API.example.com:9"]));
        assert!(host_passes(&hosts, &["other.example:8443"]));
        assert!(!host_passes(&hosts, &["other.example"]));
        assert!(!host_passes(&hosts, &["localhost"]));
        assert_eq!(Allowed::hosts(["x", "*"]), Ok(Allowed::Any));
        assert!(Allowed::hosts(["https://x"]).is_err());
        assert!(Allowed::hosts([""]).is_err());
    }

    #[test]
    fn origins_need_their_scheme() {
        let loopback = &Allowed::Loopback;
        assert!(origin_passes(loopback, &[]));
        assert!(origin_passes(loopback, &["http://localhost:3000"]));
        assert!(origin_passes(loopback, &["https://[::1]"]));
        for origin in [
            "null",
            "",
            "http://evil.com",
            "file://localhost",
            "localhost",
            "http://localhost/",
        ] {
            assert!(!origin_passes(loopback, &[origin]), "{origin}");
        }
        let listed = Allowed::origins(["https://app.example.com"]).unwrap();
        assert!(origin_passes(&listed, &["https://app.example.com:443"]));
        assert!(!origin_passes(&listed, &["http://app.example.com"]));
        assert!(!origin_passes(&listed, &["https://app.example.com:444"]));
        assert!(Allowed::origins(["app.example.com"]).is_err());
    }
}
