//! Proxies: which one the environment sets, and which parts of a proxy's URL are secret.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper_util::client::proxy::matcher::Matcher;
use llmnode_model::internal::Secret;
use reqwest::Url;

const VARIABLES: [&str; 6] =
    ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

/// Reads the environment as reqwest does.
pub(crate) fn env_scheme(url: &Url) -> Option<String> {
    let proxy = Matcher::from_system().intercept(&url.as_str().parse().ok()?)?;
    proxy.uri().scheme_str().map(str::to_owned)
}

pub(crate) fn is_http(scheme: &str) -> bool {
    matches!(scheme, "http" | "https")
}

/// An unknown scheme is not shown: it may be a user name, or a host.
pub(crate) fn unsupported(scheme: &str) -> String {
    let what = match scheme {
        "socks4" | "socks4a" | "socks5" | "socks5h" => format!("the proxy speaks {scheme}"),
        _ => "the proxy's URL begins with neither http:// nor https://".to_owned(),
    };
    format!("{what}; only proxies of http and https are supported. Write it like http://proxy.example:3128")
}

pub(crate) fn env_secrets() -> Vec<Secret> {
    VARIABLES.iter().filter_map(|name| std::env::var(name).ok()).flat_map(|url| secrets(&url)).collect()
}

/// A user name alone is a token. As written, as URLs encode it, decoded, and as requests carry it.
pub(crate) fn secrets(url: &str) -> Vec<Secret> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let Some((given, _)) = authority.rsplit_once('@') else { return Vec::new() };
    let (user, password) = given.split_once(':').unwrap_or((given, ""));
    let written = if password.is_empty() { user } else { password };
    let encoded = Url::parse(&format!("http://{given}@proxy")).ok().map(|url| match url.password() {
        Some(password) if !password.is_empty() => password.to_owned(),
        _ => url.username().to_owned(),
    });
    let sent = STANDARD.encode(format!("{}:{}", decoded(user), decoded(password)));
    let mut forms = vec![written.to_owned(), decoded(written), sent];
    forms.extend(encoded);
    forms.into_iter().map(Secret::new).collect()
}

/// Invalid percent-encoding stays as it is.
fn decoded(text: &str) -> String {
    let hex = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    let (bytes, mut decoded, mut at) = (text.as_bytes(), Vec::with_capacity(text.len()), 0);
    while let Some(&byte) = bytes.get(at) {
        let encoded = bytes.get(at + 1..at + 3).filter(|_| byte == b'%').and_then(hex);
        decoded.push(encoded.unwrap_or(byte));
        at += if encoded.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forms(url: &str) -> Vec<String> {
        secrets(url).iter().map(|secret| secret.reveal().to_owned()).collect()
    }

    #[test]
    fn a_password_has_every_form() {
        for (url, expected) in [
            (
                "http://me:p%40ss%2Bword@h:1",
                ["p%40ss%2Bword", "p@ss+word", "bWU6cEBzcyt3b3Jk", "p%40ss%2Bword"],
            ),
            ("me:pa^ss@h:1/", ["pa^ss", "pa^ss", "bWU6cGFec3M=", "pa%5Ess"]),
            ("https://tok%65n@h", ["tok%65n", "token", "dG9rZW46", "tok%65n"]),
            ("http://me:a%ZZ%4@h", ["a%ZZ%4", "a%ZZ%4", "bWU6YSVaWiU0", "a%ZZ%4"]),
        ] {
            assert_eq!(forms(url), expected, "{url}");
        }
        for url in ["http://h:1", "h", "", "http://h/a@b"] {
            assert!(forms(url).is_empty(), "{url}");
        }
    }
}
