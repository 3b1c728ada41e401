//! Blocks addresses that are not public, checked where the connection is made.
//!
//! Someone who may set the name of a server, but has no access to this machine's
//! network, must not get it by that name (SSRF).
//!
//! The check is made at the address of the connection and not at the name: a name
//! may resolve to another address a moment later (DNS rebinding). Ranges are those
//! of IANA's registries of special-purpose addresses; IPv6 forms that hold an IPv4
//! address are judged by it.

use std::error::Error;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::url::Url;

/// The name that was asked for, and where it leads.
#[derive(Debug)]
pub(crate) struct PrivateAddress {
    pub(crate) host: String,
    pub(crate) address: IpAddr,
}

impl fmt::Display for PrivateAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PrivateAddress { host, address } = self;
        if *host == address.to_string() || *host == format!("[{address}]") {
            return write!(f, "{host} is no public address");
        }
        write!(f, "{host} leads to {address}, which is no public address")
    }
}

impl Error for PrivateAddress {}

/// Literal addresses are never resolved, so they are checked here.
pub(crate) fn literal(url: &Url) -> Result<(), PrivateAddress> {
    match url.address() {
        Some(address) if !is_public(address) => Err(PrivateAddress {
            host: url.host().to_owned(),
            address,
        }),
        _ => Ok(()),
    }
}

pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Azure's metadata host, like 169.254.169.254.
const AZURE_HOST: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    // RFC 6598, RFC 2544, RFC 6890 and RFC 7526, in this order.
    let is_shared = first == 100 && second & 0b1100_0000 == 64;
    let is_benchmark = first == 198 && second & 0xfe == 18;
    let is_protocol = first == 192 && second == 0 && third == 0;
    let is_relay = first == 192 && second == 88 && third == 99;
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || is_shared
        || is_benchmark
        || is_protocol
        || is_relay
        || address == AZURE_HOST
        || first == 0
        || first >= 224)
}

/// The IPv4 address in the last two parts of an IPv6 one.
fn v4_of(high: u16, low: u16) -> Ipv4Addr {
    let [a, b] = high.to_be_bytes();
    let [c, d] = low.to_be_bytes();
    Ipv4Addr::new(a, b, c, d)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    match parts {
        // Unspecified, loopback, IPv4 in IPv6.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => false,
        [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0, 0, 0, 0, 0, 0, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => is_public_v4(v4_of(high, low)),
        // Local-use NAT64, discarded (100::/64) and dummies (100:0:0:1::/64), Teredo,
        // benchmarks (2001:2::/48), documentation (also 3fff::/20), segment routing
        // (5f00::/16).
        [0x64, 0xff9b, 1, ..]
        | [0x100, 0, 0, 0 | 1, ..]
        | [0x2001, 0, ..]
        | [0x2001, 2, 0, ..]
        | [0x2001, 0xdb8, ..] => false,
        [0x3fff, second, ..] if second & 0xf000 == 0 => false,
        [0x5f00, ..] => false,
        // ORCHID (2001:10::/28).
        [0x2001, second, ..] if second & 0xfff0 == 0x10 => false,
        // Unique local, link-local, site-local, multicast.
        [first, ..] => {
            first & 0xfe00 != 0xfc00
                && first & 0xffc0 != 0xfe80
                && first & 0xffc0 != 0xfec0
                && first < 0xff00
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_public_and_what_is_not() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "168.63.129.17",
            "172.15.0.1",
            "100.63.0.1",
            "2606:4700::1111",
            "::ffff:1.1.1.1",
            "64:ff9b::101:101",
            "192.88.98.1",
            "100:0:0:2::1",
            "2001:2:1::1",
            "2001:20::1",
            "3fff:1000::1",
            "5f01::1",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
        for address in [
            "0.0.0.0",
            "10.0.0.1",
            "127.0.0.2",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "192.168.1.1",
            "192.0.0.1",
            "192.88.99.1",
            "100.64.0.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:10.0.0.1",
            "::10.0.0.1",
            "::ffff:0:a00:1",
            "64:ff9b::a00:1",
            "64:ff9b:1::1",
            "100::1",
            "100:0:0:1::1",
            "2001:2::1",
            "2001:10::1",
            "2001:1f:ffff::1",
            "3fff::1",
            "3fff:fff::1",
            "5f00::1",
            "2002:a00:1::",
            "2001::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn a_url_shows_its_address_in_every_spelling() {
        for url in [
            "http://[::ffff:10.0.0.1]/",
            "https://10.1/",
            "https://0x7f.1/",
            "https://2130706433/",
            "http://169.254.169.254/",
        ] {
            assert!(
                Url::parse(url)
                    .ok()
                    .is_none_or(|url| literal(&url).is_err()),
                "{url}"
            );
        }
        assert!(literal(&Url::parse("https://models.example/").unwrap()).is_ok());
    }
}
