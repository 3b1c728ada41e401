//! Proxies: which one requests go through, and which parts of a proxy's URL are secret.
//!
//! By the variables that curl and others read, in both spellings. Errors never show
//! the URL, since it may have a password. An unreadable one is an error, since
//! ignoring it would send requests past the proxy.

use std::ffi::OsString;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::HeaderValue;
use hyper_util::client::proxy::matcher::Matcher;
use llmnode_model::ext::Secret;

use super::percent::{decoded, user_encoded};
use super::url::Url;

type Names = [&'static str; 2];
const HTTPS: Names = ["HTTPS_PROXY", "https_proxy"];
const HTTP: Names = ["HTTP_PROXY", "http_proxy"];
const ALL: Names = ["ALL_PROXY", "all_proxy"];
const EXCEPTIONS: Names = ["NO_PROXY", "no_proxy"];
const UNREADABLE: &str = "the proxy's URL cannot be read; write it like http://proxy.example:3128";

/// Where it is, and what is sent to it as its credentials.
pub(crate) struct Proxy {
    pub(crate) uri: http::Uri,
    pub(crate) credentials: Option<HeaderValue>,
    pub(crate) is_https: bool,
    pub(crate) is_loopback: bool,
}

impl Proxy {
    /// A scheme that is not supported is an error of its own: SOCKS is easily
    /// expected.
    pub(crate) fn parse(text: &str) -> Result<Proxy, String> {
        let (scheme, rest) = match text.trim().split_once("://") {
            Some((scheme, rest)) => (scheme.to_ascii_lowercase(), rest),
            // Without `//`, a user name may precede the colon.
            None if text.contains(':') => return Err(unsupported("")),
            None => ("http".to_owned(), text.trim()),
        };
        if !matches!(scheme.as_str(), "http" | "https") {
            return Err(unsupported(&scheme));
        }
        if rest.contains('\\') {
            return Err(UNREADABLE.to_owned());
        }
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        let url = Url::parse(&format!("{scheme}://{host}")).map_err(|_| UNREADABLE)?;
        let mut credentials = None;
        if let Some(user) = user {
            let (user, password) = user.split_once(':').unwrap_or((user, ""));
            let basic = basic(user, password);
            let header = HeaderValue::try_from(format!("Basic {basic}"));
            let mut header = header.map_err(|_| UNREADABLE)?;
            header.set_sensitive(true);
            credentials = Some(header);
        }
        Ok(Proxy::to(&url, credentials))
    }

    /// From the environment, for this server. An unreadable variable that applies
    /// is an error: ignoring it would send requests a way that nobody asked for.
    pub(crate) fn of_environment(server: &Url) -> Result<Option<Proxy>, String> {
        // Within CGI, HTTP_PROXY may be a header of whoever sent the request.
        if std::env::var_os("REQUEST_METHOD").is_some() || is_excepted(server) {
            return Ok(None);
        }
        let of_scheme = if server.is_https() { HTTPS } else { HTTP };
        let Some((name, value)) = [of_scheme, ALL].into_iter().find_map(variable) else {
            return Ok(None);
        };
        let proxy = match value.to_str() {
            None => Err(UNREADABLE.to_owned()),
            Some(url) if url.contains("://") => Proxy::parse(url),
            // Here, a user name needs no scheme before it.
            Some(url) => Proxy::parse(&format!("http://{}", url.trim())),
        };
        match proxy {
            Ok(proxy) => Ok(Some(proxy)),
            Err(fault) => Err(format!("{fault} (it is the environment's {name})")),
        }
    }

    fn to(url: &Url, credentials: Option<HeaderValue>) -> Proxy {
        let is_https = url.is_https();
        let is_loopback = url.is_loopback();
        Proxy {
            uri: url.to_uri(),
            credentials,
            is_https,
            is_loopback,
        }
    }
}

/// The first that is set and not blank.
fn variable(names: Names) -> Option<(&'static str, OsString)> {
    let (name, value) = names
        .into_iter()
        .find_map(|name| Some((name, std::env::var_os(name)?)))?;
    let is_blank = match value.to_str() {
        Some(value) => value.trim().is_empty(),
        None => false,
    };
    if is_blank {
        return None;
    }
    Some((name, value))
}

/// By hyper-util's matcher, which knows domains and networks.
fn is_excepted(server: &Url) -> bool {
    let Some((_, exceptions)) = variable(EXCEPTIONS) else {
        return false;
    };
    let exceptions = exceptions.to_string_lossy();
    // The matcher applies `*` only to names.
    let excepts_all = exceptions
        .split(',')
        .any(|exception| exception.trim() == "*");
    if excepts_all {
        return true;
    }
    let matcher = Matcher::builder()
        .all("http://proxy.invalid")
        .no(&*exceptions)
        .build();
    matcher.intercept(&server.to_uri()).is_none()
}

/// Hidden, since an unknown scheme may be a user name or a host.
fn unsupported(scheme: &str) -> String {
    let what = match scheme {
        "socks4" | "socks4a" | "socks5" | "socks5h" => format!("the proxy speaks {scheme}"),
        _ => "the proxy's URL begins with neither http:// nor https://".to_owned(),
    };
    format!(
        "{what}; only proxies of http and https are supported. Write it like \
         http://proxy.example:3128"
    )
}

/// The credentials as a request carries them.
fn basic(user: &str, password: &str) -> String {
    STANDARD.encode(format!("{}:{}", decoded(user), decoded(password)))
}

/// Of all variables, since another library may use the others.
pub(crate) fn env_secrets() -> Vec<Secret> {
    let names = [HTTPS, HTTP, ALL].into_iter().flatten();
    names
        .filter_map(|name| std::env::var(name).ok())
        .flat_map(|url| secrets(&url))
        .collect()
}

/// A lone user name is a token. In all forms: as written, encoded, decoded, and as
/// requests carry it.
pub(crate) fn secrets(url: &str) -> Vec<Secret> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let Some((user_info, _)) = authority.rsplit_once('@') else {
        return Vec::new();
    };
    let (user, password) = user_info.split_once(':').unwrap_or((user_info, ""));
    let written = if password.is_empty() { user } else { password };
    let forms = [
        written.to_owned(),
        decoded(written),
        basic(user, password),
        user_encoded(written),
    ];
    forms.into_iter().map(Secret::new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forms(url: &str) -> Vec<String> {
        secrets(url)
            .iter()
            .map(|secret| secret.reveal().to_owned())
            .collect()
    }

    #[test]
    fn a_password_has_every_form() {
        for (url, expected) in [
            (
                "http://me:p%40ss%2Bword@h:1",
                [
                    "p%40ss%2Bword",
                    "p@ss+word",
                    "bWU6cEBzcyt3b3Jk",
                    "p%40ss%2Bword",
                ],
            ),
            (
                "me:pa^ss@h:1/",
                ["pa^ss", "pa^ss", "bWU6cGFec3M=", "pa%5Ess"],
            ),
            (
                "https://tok%65n@h",
                ["tok%65n", "token", "dG9rZW46", "tok%65n"],
            ),
            (
                "http://me:a%ZZ%4@h",
                ["a%ZZ%4", "a%ZZ%4", "bWU6YSVaWiU0", "a%ZZ%4"],
            ),
        ] {
            assert_eq!(forms(url), expected, "{url}");
        }
        for url in ["http://h:1", "h", "", "http://h/a@b"] {
            assert!(forms(url).is_empty(), "{url}");
        }
    }
}
