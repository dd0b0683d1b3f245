//! The fence: who may be connected to, decided on the address that is used. Never connects itself.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

use super::{Reach, SendError, reach};

/// The hosts that the operator named. To a client they are those that may have loopback and private
/// addresses.
///
/// Addresses that are nobody's (link-local, metadata, multicast) stay out of reach for these too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowedHosts {
    everyone: bool,
    hosts: BTreeSet<String>,
}

/// A host that was named cannot be one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a host: give a name or an IP address without scheme, port or path")]
pub struct InvalidHost(pub String);

impl AllowedHosts {
    /// No host is named: only public addresses.
    pub fn none() -> Self {
        Self::default()
    }

    /// Every host counts as named.
    pub fn all() -> Self {
        Self {
            everyone: true,
            hosts: BTreeSet::new(),
        }
    }

    /// Names one more host: a name or an IP address, in any spelling a URL may hold.
    pub fn allow(&mut self, host: &str) -> Result<(), InvalidHost> {
        let bare_v6 = host.contains(':') && !host.starts_with('[');
        let parsed = if bare_v6 {
            Host::parse(&format!("[{host}]"))
        } else {
            Host::parse(host)
        };
        let host = parsed.map_err(|_| InvalidHost(host.to_owned()))?;
        self.hosts.insert(spelling(&host));
        Ok(())
    }

    /// Names the host of a URL; a URL without one changes nothing.
    pub fn allow_url(&mut self, url: &Url) {
        if let Some(host) = url.host() {
            self.hosts.insert(spelling(&host.to_owned()));
        }
    }

    /// Whether the host of a URL is named.
    pub fn names_url(&self, url: &Url) -> bool {
        url.host()
            .is_some_and(|host| self.names(&spelling(&host.to_owned())))
    }

    fn names(&self, host: &str) -> bool {
        self.everyone || self.hosts.contains(host)
    }
}

/// The one spelling of a host that is compared: no trailing dot, lower case, addresses in normal form.
fn spelling(host: &Host) -> String {
    match host {
        Host::Domain(name) => domain_spelling(name),
        Host::Ipv4(address) => address.to_string(),
        Host::Ipv6(address) => address.to_string(),
    }
}

fn domain_spelling(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

/// Decides for every URL and every address that a name resolved to.
#[derive(Debug)]
pub(super) struct Fence {
    allowed: AllowedHosts,
}

/// Every address of the host is out of reach. Holds nothing, so that nothing can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the host has no address that may be connected to")]
pub(super) struct Fenced;

impl Fence {
    pub(super) fn new(allowed: AllowedHosts) -> Self {
        Self { allowed }
    }

    /// Checks what can be checked before a name is resolved: the scheme, user info, and literal addresses,
    /// which the connector never gives to the resolver.
    pub(super) fn check_url(&self, url: &Url) -> Result<(), SendError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(SendError::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(SendError::UserInfo);
        }
        let (address, host): (IpAddr, String) = match url.host() {
            None => return Err(SendError::NoHost),
            Some(Host::Domain(_)) => return Ok(()),
            Some(Host::Ipv4(address)) => (address.into(), address.to_string()),
            Some(Host::Ipv6(address)) => (address.into(), address.to_string()),
        };
        if self.admits(&host, address) {
            Ok(())
        } else {
            Err(SendError::Fenced)
        }
    }

    fn admits(&self, host: &str, address: IpAddr) -> bool {
        match reach(address) {
            Reach::Open => true,
            Reach::Named => self.allowed.names(host),
            Reach::Never => false,
        }
    }

    fn admitted(
        &self,
        host: &str,
        addresses: impl Iterator<Item = SocketAddr>,
    ) -> Result<Vec<SocketAddr>, Fenced> {
        let host = domain_spelling(host);
        let admitted: Vec<_> = addresses
            .filter(|address| self.admits(&host, address.ip()))
            .collect();
        if admitted.is_empty() {
            Err(Fenced)
        } else {
            Ok(admitted)
        }
    }
}

/// The resolver of the one client: what it answers is what is connected to, so a name that resolves to
/// something else a moment later gains nothing.
#[derive(Debug, Clone)]
pub(super) struct FencedResolver(pub(super) Arc<Fence>);

impl Resolve for FencedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let fence = Arc::clone(&self.0);
        Box::pin(async move {
            let host = name.as_str().to_owned();
            // Port 0 is replaced by the connector.
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
            let admitted = fence.admitted(&host, found)?;
            Ok(Box::new(admitted.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fence(hosts: &[&str]) -> Fence {
        let mut allowed = AllowedHosts::none();
        for host in hosts {
            allowed.allow(host).unwrap();
        }
        Fence::new(allowed)
    }

    #[track_caller]
    fn verdict(fence: &Fence, url: &str) -> Result<(), SendError> {
        fence.check_url(&Url::parse(url).unwrap())
    }

    #[test]
    fn literal_addresses_are_met_in_every_spelling() {
        let fence = fence(&[]);
        for host in [
            "127.0.0.1",
            "127.0.0.1.",
            "127.1",
            "2130706433",
            "0x7f000001",
            "0177.0.0.1",
            "0x7f.0.0.0x1",
            "１２７.0.0.1",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[0:0:0:0:0:0:0:1]",
            "2852039166",
            "[64:ff9b::a9fe:a9fe]",
            "[::]",
            "0",
        ] {
            assert!(
                matches!(
                    verdict(&fence, &format!("http://{host}/")),
                    Err(SendError::Fenced)
                ),
                "{host}"
            );
        }
        assert!(verdict(&fence, "https://1.1.1.1/").is_ok());
        assert!(verdict(&fence, "https://[2606:4700:4700::1111]/").is_ok());
        assert!(verdict(&fence, "https://example.test/").is_ok());
    }

    #[test]
    fn named_hosts_may_be_private_but_never_metadata() {
        let fence = fence(&[
            "127.1",
            "::1",
            "[fd00::5]",
            "169.254.169.254",
            "Shop.Internal.",
        ]);
        for url in [
            "http://127.0.0.1:8080/",
            "http://[::1]/",
            "http://[fd00::5]/",
        ] {
            assert!(verdict(&fence, url).is_ok(), "{url}");
        }
        for url in [
            "http://127.0.0.2/",
            "http://169.254.169.254/",
            "http://[::ffff:127.0.0.1]/",
        ] {
            assert!(
                matches!(verdict(&fence, url), Err(SendError::Fenced)),
                "{url}"
            );
        }
        let private = [SocketAddr::from(([10, 0, 0, 1], 0))];
        assert!(fence.admitted("shop.internal", private.into_iter()).is_ok());
        assert!(
            fence
                .admitted("SHOP.internal.", private.into_iter())
                .is_ok()
        );
        assert!(
            fence
                .admitted("other.internal", private.into_iter())
                .is_err()
        );
    }

    #[test]
    fn only_the_admitted_addresses_of_a_name_are_used() {
        let fence = fence(&[]);
        let mixed = ["10.0.0.1:0", "8.8.8.8:0", "169.254.169.254:0", "[::1]:0"];
        let mixed = mixed.map(|text| text.parse::<SocketAddr>().unwrap());
        let admitted = fence.admitted("mixed.test", mixed.into_iter()).unwrap();
        assert_eq!(admitted, ["8.8.8.8:0".parse::<SocketAddr>().unwrap()]);

        let everyone = Fence::new(AllowedHosts::all());
        let metadata = ["169.254.169.254:0".parse::<SocketAddr>().unwrap()];
        assert!(everyone.admitted("any.test", metadata.into_iter()).is_err());
        assert!(verdict(&everyone, "http://10.1.2.3/").is_ok());
    }

    #[test]
    fn schemes_user_info_and_odd_hosts() {
        let fence = fence(&[]);
        assert!(matches!(
            verdict(&fence, "ftp://example.test/"),
            Err(SendError::Scheme)
        ));
        assert!(matches!(
            verdict(&fence, "file:///etc/passwd"),
            Err(SendError::Scheme)
        ));
        assert!(matches!(
            verdict(&fence, "https://u:p@example.test/"),
            Err(SendError::UserInfo)
        ));
        for host in ["http://a", "a/b", "a:80", "", "a b"] {
            assert!(AllowedHosts::none().allow(host).is_err(), "{host}");
        }
    }
}
