//! Which addresses are whose: open to all, only for named hosts, or for nobody. Pure; never resolves a name.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// How far the gateway may reach to an address (ingestion.md, "The fence").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reach {
    /// A public address.
    Open,
    /// Loopback, private, carrier-grade and reserved ranges: only for hosts that the operator named.
    Named,
    /// Link-local, cloud metadata, multicast, broadcast, unspecified: never.
    Never,
}

/// The reach of an address, IPv4 addresses inside IPv6 ones included.
pub fn reach(address: IpAddr) -> Reach {
    match address {
        IpAddr::V4(address) => reach_v4(address),
        IpAddr::V6(address) => reach_v6(address),
    }
}

/// The metadata services of Alibaba Cloud and Azure, which live outside the link-local range.
const METADATA_V4: [Ipv4Addr; 2] = [
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(168, 63, 129, 16),
];

fn reach_v4(address: Ipv4Addr) -> Reach {
    let [first, second, third, _] = address.octets();
    let never = first == 0
        || address.is_link_local()
        || address.is_multicast()
        || address.is_broadcast()
        || METADATA_V4.contains(&address);
    if never {
        return Reach::Never;
    }
    let carrier_grade = first == 100 && (64..128).contains(&second);
    // 192.0.0.0/24 is for protocol assignments (one cloud's metadata service among them), 198.18.0.0/15
    // for benchmarks inside a network, 240.0.0.0/4 reserved: none is a public backend.
    let reserved = (first, second, third) == (192, 0, 0)
        || (first == 198 && (second & 0xfe) == 18)
        || first >= 240;
    if address.is_loopback() || address.is_private() || carrier_grade || reserved {
        return Reach::Named;
    }
    Reach::Open
}

fn reach_v6(address: Ipv6Addr) -> Reach {
    let own = reach_v6_alone(address);
    embedded_v4(address)
        .into_iter()
        .flatten()
        .map(reach_v4)
        .fold(own, Reach::max)
}

/// The reach by the IPv6 ranges alone.
fn reach_v6_alone(address: Ipv6Addr) -> Reach {
    let segments = address.segments();
    let link_local = segments[0] & 0xffc0 == 0xfe80;
    // The metadata service of Amazon's cloud over IPv6.
    let metadata = segments[0] == 0xfd00 && segments[1] == 0x0ec2;
    if address.is_unspecified() || address.is_multicast() || link_local || metadata {
        return Reach::Never;
    }
    // Global unicast is 2000::/3. Everything else (loopback, unique-local, site-local, discard, unassigned)
    // is nobody's public backend, except where an IPv4 address is carried that decides for itself.
    let global = segments[0] & 0xe000 == 0x2000;
    let carries_v4 = is_mapped(segments) || is_translated(segments) || is_nat64(segments);
    if global || carries_v4 {
        Reach::Open
    } else {
        Reach::Named
    }
}

/// `::ffff:a.b.c.d`.
fn is_mapped(segments: [u16; 8]) -> bool {
    segments[..5] == [0; 5] && segments[5] == 0xffff
}

/// `::ffff:0:a.b.c.d` (RFC 2765).
fn is_translated(segments: [u16; 8]) -> bool {
    segments[..4] == [0; 4] && segments[4] == 0xffff && segments[5] == 0
}

/// `64:ff9b::a.b.c.d` (RFC 6052).
fn is_nat64(segments: [u16; 8]) -> bool {
    segments[..6] == [0x0064, 0xff9b, 0, 0, 0, 0]
}

/// Every IPv4 address that a translator, relay or tunnel on the way could take out of this one.
fn embedded_v4(address: Ipv6Addr) -> [Option<Ipv4Addr>; 2] {
    let segments = address.segments();
    let at = |index: usize| {
        let [a, b] = segments[index].to_be_bytes();
        let [c, d] = segments[index + 1].to_be_bytes();
        Ipv4Addr::new(a, b, c, d)
    };
    let inverted = |address: Ipv4Addr| Ipv4Addr::from_bits(!address.to_bits());
    let compatible = segments[..6] == [0; 6];
    if compatible && (address.is_loopback() || address.is_unspecified()) {
        return [None, None];
    }
    if compatible || is_mapped(segments) || is_translated(segments) || is_nat64(segments) {
        return [Some(at(6)), None];
    }
    match segments {
        // 6to4 (RFC 3056).
        [0x2002, ..] => [Some(at(1)), None],
        // Teredo (RFC 4380): the server, and the client with its bits inverted.
        [0x2001, 0, ..] => [Some(at(2)), Some(inverted(at(6)))],
        // NAT64 with a prefix of the network's own (RFC 8215), usually /96; ISATAP (RFC 5214), under any
        // prefix.
        [0x0064, 0xff9b, 1, ..] | [_, _, _, _, 0x0000 | 0x0200, 0x5efe, ..] => [Some(at(6)), None],
        _ => [None, None],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(want: Reach, addresses: &[&str]) {
        for text in addresses {
            let address: IpAddr = text.parse().unwrap();
            assert_eq!(reach(address), want, "{text}");
        }
    }

    #[test]
    fn link_local_metadata_and_group_addresses_are_nobodys() {
        check(
            Reach::Never,
            &[
                "169.254.169.254",
                "169.254.0.1",
                "100.100.100.200",
                "168.63.129.16",
                "0.0.0.0",
                "0.1.2.3",
                "224.0.0.1",
                "239.255.255.255",
                "255.255.255.255",
                "::",
                "fe80::1",
                "febf::1",
                "fd00:ec2::254",
                "fd00:0ec2:1::1",
                "ff02::1",
            ],
        );
    }

    #[test]
    fn networks_of_ones_own_are_for_named_hosts() {
        check(
            Reach::Named,
            &[
                "127.0.0.1",
                "127.255.255.254",
                "10.0.0.1",
                "172.16.0.1",
                "172.31.255.255",
                "192.168.1.1",
                "100.64.0.1",
                "100.127.255.255",
                "192.0.0.192",
                "198.18.0.1",
                "198.19.255.255",
                "240.0.0.1",
                "::1",
                "fc00::1",
                "fd12:3456::1",
                "fec0::1",
                "100::1",
                "4000::1",
            ],
        );
    }

    #[test]
    fn public_addresses_are_open() {
        check(
            Reach::Open,
            &[
                "1.1.1.1",
                "8.8.8.8",
                "100.63.255.255",
                "100.128.0.1",
                "172.32.0.1",
                "198.20.0.1",
                "2606:4700:4700::1111",
                "2001:4860:4860::8888",
                "::ffff:8.8.8.8",
                "::ffff:0:8.8.8.8",
                "64:ff9b::8.8.8.8",
                "2002:808:808::1",
            ],
        );
    }

    #[test]
    fn an_ipv4_address_inside_an_ipv6_one_decides_too() {
        check(
            Reach::Never,
            &[
                "::ffff:169.254.169.254",
                "::169.254.169.254",
                "::ffff:0:169.254.169.254",
                "64:ff9b::169.254.169.254",
                "64:ff9b:1::169.254.169.254",
                "2002:a9fe:a9fe::1",
                // Teredo: the client address is inverted; then the server.
                "2001:0:808:808:0:0:5601:5601",
                "2001:0:a9fe:a9fe:0:0:f7f7:f7f7",
                "2606:4700::5efe:169.254.169.254",
                "2606:4700::200:5efe:169.254.169.254",
                "::ffff:0.0.0.0",
            ],
        );
        check(
            Reach::Named,
            &[
                "::ffff:127.0.0.1",
                "::127.0.0.1",
                "64:ff9b::10.0.0.1",
                "2002:7f00:1::1",
                "2002:c0a8:101::1",
                "2001:0:808:808:0:0:80ff:fffe",
                "64:ff9b:1::8.8.8.8",
            ],
        );
    }
}
