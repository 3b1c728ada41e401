//! URLs of servers: `fluent-uri` parses, normalises and resolves by RFC 3986; the rules above it are here.
//!
//! Whatever two readers of a URL could understand differently is refused, since the key goes where it leads.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use fluent_uri::{Iri, Uri, UriRef};

/// A server of http or https: its host is in lower case, its path is normalised, and it has no user and no fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url(http::Uri);

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum UrlFault {
    Unreadable(String),
    Scheme,
    Userinfo,
    Host(&'static str),
}

impl Url {
    pub(crate) fn parse(text: &str) -> Result<Url, UrlFault> {
        let text = text.trim();
        if text.contains('\\') {
            return Err(UrlFault::Unreadable("it has a backslash; write /".to_owned()));
        }
        let unreadable = |error: fluent_uri::ParseError| UrlFault::Unreadable(error.to_string());
        let given = Iri::parse(text).map_err(unreadable)?;
        let scheme = given.scheme().as_str().to_ascii_lowercase();
        if !matches!(scheme.as_str(), "http" | "https") {
            return Err(UrlFault::Scheme);
        }
        let authority = given.authority().ok_or(UrlFault::Host("has no // before its host"))?;
        if authority.has_userinfo() {
            return Err(UrlFault::Userinfo);
        }
        let host = host(authority.host())?;
        let port = authority.port_to_u16().map_err(|_| UrlFault::Host("has a port above 65535"))?;
        let default = if scheme == "https" { 443 } else { 80 };
        let port = port.filter(|port| *port != default).map_or(String::new(), |port| format!(":{port}"));
        let rest = given.to_uri().normalize();
        let query = rest.query().map_or(String::new(), |query| format!("?{query}"));
        let path = match rest.path().as_str() {
            "" => "/",
            path => path,
        };
        let url = http::Uri::try_from(format!("{scheme}://{host}{port}{path}{query}"));
        url.map(Url).map_err(|error| UrlFault::Unreadable(error.to_string()))
    }

    /// Where this reference leads from here, such as the target of a redirect.
    pub(crate) fn resolve(&self, reference: &str) -> Option<Url> {
        let base = self.to_string();
        let resolved =
            UriRef::parse(reference.trim()).ok()?.resolve_against(&Uri::parse(base.as_str()).ok()?);
        Url::parse(resolved.ok()?.as_str()).ok()
    }

    pub(crate) fn with_path(&self, path: &str) -> Result<Url, UrlFault> {
        let query = self.query().map_or(String::new(), |query| format!("?{query}"));
        Url::parse(&format!("{}://{}{path}{query}", self.scheme(), self.authority()))
    }

    pub(crate) fn scheme(&self) -> &str {
        self.0.scheme_str().unwrap_or_default()
    }

    pub(crate) fn is_https(&self) -> bool {
        self.scheme() == "https"
    }

    /// An address of IPv6 is in brackets.
    pub(crate) fn host(&self) -> &str {
        self.0.host().unwrap_or_default()
    }

    /// With the port, if it is not that of the scheme.
    pub(crate) fn authority(&self) -> &str {
        self.0.authority().map_or("", |authority| authority.as_str())
    }

    pub(crate) fn port(&self) -> u16 {
        self.0.port_u16().unwrap_or(if self.is_https() { 443 } else { 80 })
    }

    pub(crate) fn path(&self) -> &str {
        self.0.path()
    }

    pub(crate) fn query(&self) -> Option<&str> {
        self.0.query()
    }

    pub(crate) fn to_uri(&self) -> http::Uri {
        self.0.clone()
    }

    pub(crate) fn is_same_origin(&self, other: &Url) -> bool {
        (self.scheme(), self.authority()) == (other.scheme(), other.authority())
    }

    /// If the host is an address.
    pub(crate) fn address(&self) -> Option<IpAddr> {
        let host = self.host();
        host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host).parse().ok()
    }

    /// The host, if it is a name of this machine (RFC 6761).
    pub(crate) fn localhost(&self) -> Option<&str> {
        Some(self.host()).filter(|host| is_localhost(host))
    }

    pub(crate) fn is_loopback(&self) -> bool {
        match self.address() {
            Some(IpAddr::V6(address)) => address == Ipv6Addr::LOCALHOST,
            Some(IpAddr::V4(address)) => address.is_loopback(),
            None => self.localhost().is_some(),
        }
    }
}

pub(crate) fn is_localhost(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

fn host(given: &str) -> Result<String, UrlFault> {
    if !given.is_ascii() {
        return Err(UrlFault::Host(
            "has a host that is not ASCII, but in Punycode it would be, as in xn--mnchen-3ya.example",
        ));
    }
    let host = given.to_ascii_lowercase();
    if let Some(address) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        let address: Ipv6Addr =
            address.parse().map_err(|_| UrlFault::Host("has brackets around what is no address of IPv6"))?;
        return Ok(format!("[{address}]"));
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    if host.is_empty() || host.starts_with('.') {
        return Err(UrlFault::Host("has no host"));
    }
    if !host.bytes().all(is_plain) {
        return Err(UrlFault::Host(
            "has a host with a character other than letters, digits, `-`, `_` and `.`",
        ));
    }
    let last = host.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    let is_number = last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x");
    if is_number && host.parse::<Ipv4Addr>().is_err() {
        return Err(UrlFault::Host(
            "has an address of IPv4 in another form than four decimal numbers, as in 127.0.0.1",
        ));
    }
    Ok(if is_localhost(&host) { host.trim_end_matches('.').to_owned() } else { host })
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Continues "the URL ..", and shows nothing of it: it may have a key.
impl fmt::Display for UrlFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UrlFault::Unreadable(why) => write!(f, "cannot be read ({why})"),
            UrlFault::Scheme => f.write_str("begins with neither http:// nor https://"),
            UrlFault::Userinfo => f.write_str("contains a user name or a password; send them in a header"),
            UrlFault::Host(what) => f.write_str(what),
        }
    }
}
