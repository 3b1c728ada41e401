//! URLs of servers: `fluent-uri` parses, normalises and resolves by RFC 3986; the
//! rules above it are here.
//!
//! Whatever two readers of a URL could understand differently is refused, since the
//! key goes where it leads.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use fluent_uri::{Iri, Uri, UriRef};
use llmnode_model::ext::{Secret, is_credential};

use super::percent::query_pairs;

/// http or https, normalised, with a host in lower case and without user and fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url(http::Uri);

#[cfg(feature = "gemini")]
fn unreadable(error: impl fmt::Display) -> String {
    format!("cannot be read ({error})")
}

impl Url {
    /// Errors continue "the URL ..", and show nothing of it: it may have a key.
    pub(crate) fn parse(text: &str) -> Result<Url, String> {
        let text = text.trim();
        if text.contains('\\') {
            return Err("contains a backslash; write /".to_owned());
        }
        let iri = Iri::parse(text).map_err(|error| format!("cannot be read ({error})"))?;
        let scheme = iri.scheme().as_str().to_ascii_lowercase();
        if !matches!(scheme.as_str(), "http" | "https") {
            return Err("is neither http nor https".to_owned());
        }
        let authority = iri.authority().ok_or("has no // before its host")?;
        if authority.has_userinfo() {
            return Err("contains a user or a password; send them in a header".to_owned());
        }
        let host = host(authority.host())?;
        let port = authority
            .port_to_u16()
            .map_err(|_| "has a port above 65535")?;
        let default = if scheme == "https" { 443 } else { 80 };
        let port = port
            .filter(|port| *port != default)
            .map_or(String::new(), |port| format!(":{port}"));
        let rest = iri.to_uri().normalize();
        let path = Some(rest.path().as_str())
            .filter(|path| !path.is_empty())
            .unwrap_or("/");
        let query = rest
            .query()
            .map_or(String::new(), |query| format!("?{query}"));
        let url = http::Uri::try_from(format!("{scheme}://{host}{port}{path}{query}"));
        url.map(Url)
            .map_err(|error| format!("cannot be read ({error})"))
    }

    /// A reference of a `Location` header, which may be a path alone.
    pub(crate) fn resolve(&self, reference: &str) -> Option<Url> {
        let base = self.to_string();
        let resolved = UriRef::parse(reference.trim())
            .ok()?
            .resolve_against(&Uri::parse(base.as_str()).ok()?);
        Url::parse(resolved.ok()?.as_str()).ok()
    }

    /// The query stays.
    pub(crate) fn with_path(&self, path: &str) -> Result<Url, String> {
        let query = self
            .query()
            .map_or(String::new(), |query| format!("?{query}"));
        Url::parse(&format!(
            "{}://{}{path}{query}",
            self.scheme(),
            self.authority()
        ))
    }

    /// A normalised path, and perhaps a query, on the same server.
    #[cfg(feature = "gemini")]
    pub(crate) fn at(&self, path_and_query: &str) -> Result<Url, String> {
        let mut parts = self.to_uri().into_parts();
        parts.path_and_query = Some(path_and_query.parse().map_err(unreadable)?);
        http::Uri::from_parts(parts).map(Url).map_err(unreadable)
    }

    /// Never empty in a URL that was parsed.
    pub(crate) fn scheme(&self) -> &str {
        self.0.scheme_str().unwrap_or_default()
    }

    pub(crate) fn is_https(&self) -> bool {
        self.scheme() == "https"
    }

    /// IPv6 addresses are in brackets. `http::Uri` would look for a user each time,
    /// and there is none.
    pub(crate) fn host(&self) -> &str {
        let authority = self.authority();
        let end = authority.rfind([':', ']']);
        match end.and_then(|at| authority.split_at_checked(at)) {
            Some((host, port)) if port.starts_with(':') => host,
            _ => authority,
        }
    }

    /// With the port, if it is not the scheme's default.
    pub(crate) fn authority(&self) -> &str {
        self.0
            .authority()
            .map_or("", |authority| authority.as_str())
    }

    /// The scheme's, if none is written.
    pub(crate) fn port(&self) -> u16 {
        self.0
            .port_u16()
            .unwrap_or(if self.is_https() { 443 } else { 80 })
    }

    pub(crate) fn path(&self) -> &str {
        self.0.path()
    }

    pub(crate) fn query(&self) -> Option<&str> {
        self.0.query()
    }

    /// Keys in the query, encoded and decoded: a server may quote either.
    pub(crate) fn credentials(&self) -> impl Iterator<Item = Secret> {
        let query = self.query().unwrap_or_default();
        let encoded = query
            .split('&')
            .map(|pair| pair.split_once('=').map_or("", |(_, value)| value));
        let pairs = query_pairs(query)
            .zip(encoded)
            .filter(|((name, _), _)| is_credential(name));
        pairs.flat_map(|((_, value), encoded)| [Secret::new(value), Secret::new(encoded)])
    }

    pub(crate) fn to_uri(&self) -> http::Uri {
        self.0.clone()
    }

    pub(crate) fn is_same_origin(&self, other: &Url) -> bool {
        (self.scheme(), self.authority()) == (other.scheme(), other.authority())
    }

    /// If the host is an address, and no name.
    pub(crate) fn address(&self) -> Option<IpAddr> {
        let host = self.host();
        host.strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
            .unwrap_or(host)
            .parse()
            .ok()
    }

    /// RFC 6761.
    pub(crate) fn localhost(&self) -> Option<&str> {
        Some(self.host()).filter(|host| is_localhost(host))
    }

    /// Whether what is sent there stays on this machine.
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

/// Normalised; refused, where readers of URLs are known to differ.
fn host(text: &str) -> Result<String, &'static str> {
    if !text.is_ascii() {
        return Err(
            "has a host that is not ASCII; write it in Punycode, as in xn--mnchen-3ya.example",
        );
    }
    let host = text.to_ascii_lowercase();
    if let Some(address) = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
    {
        let address: Ipv6Addr = address
            .parse()
            .map_err(|_| "has no address of IPv6 in its brackets")?;
        return Ok(format!("[{address}]"));
    }
    if host.is_empty() {
        return Err("has no host");
    }
    if host.starts_with('.') || host.contains("..") {
        return Err("has a dot too many in its host");
    }
    if !host
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
    {
        return Err("has a host with a character other than letters, digits, `-`, `_` and `.`");
    }
    let last = host
        .trim_end_matches('.')
        .rsplit('.')
        .next()
        .unwrap_or_default();
    let is_number = last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x");
    if is_number && host.parse::<Ipv4Addr>().is_err() {
        return Err(
            "has an address of IPv4 in another form than four decimal numbers, as in 127.0.0.1",
        );
    }
    Ok(if is_localhost(&host) {
        host.trim_end_matches('.').to_owned()
    } else {
        host
    })
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests;
