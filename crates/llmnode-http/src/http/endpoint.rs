//! Where requests go.

use llmnode_model::internal::{Secret, is_credential};
use llmnode_model::{Category, ModelError};
use reqwest::Url;

use super::headers::ConfigSource;

const PATH: &str = "/chat/completions";

#[derive(Clone)]
pub(crate) struct Endpoint {
    pub(crate) url: Url,
    pub(crate) shown: String,
}

impl Endpoint {
    pub(crate) fn new(base: &str, source: &str) -> Result<Endpoint, ModelError> {
        let fault = |fault: &str| {
            let example = "write it like https://api.openai.com/v1";
            ModelError::unsent(Category::ConfigError, format!("the base URL in {source} {fault}; {example}"))
        };
        let mut url = parse_url(base).map_err(|why| fault(&why))?;
        let path = url.path().trim_end_matches('/').trim_end_matches(PATH).to_owned();
        url.set_path(&(path + PATH));
        Ok(Endpoint { shown: shown(&url), url })
    }

    /// Uses the URL of the configuration unchanged.
    pub(crate) fn from_config(config: &dyn ConfigSource) -> Result<Endpoint, ModelError> {
        let url = config.url(PATH).and_then(|url| parse_url(&url)).map_err(|why| {
            let message =
                format!("the URL of `config` for {PATH} {why}; its base is like https://api.openai.com/v1");
            ModelError::unsent(Category::ConfigError, message)
        })?;
        Ok(Endpoint { shown: shown(&url), url })
    }

    pub(crate) fn with_path(&self, path: &str) -> Endpoint {
        let mut url = self.url.clone();
        let base = url.path().strip_suffix(PATH).unwrap_or(url.path()).to_owned();
        url.set_path(&(base + path));
        Endpoint { shown: shown(&url), url }
    }

    pub(crate) fn is_loopback(&self) -> bool {
        is_loopback(&self.url)
    }

    /// The host, if it is a name of this machine (RFC 6761).
    pub(crate) fn localhost(&self) -> Option<&str> {
        self.url.host_str().filter(|host| *host == "localhost" || host.ends_with(".localhost"))
    }

    pub(crate) fn credentials(&self) -> impl Iterator<Item = Secret> {
        let pairs = self.url.query_pairs().filter(|(name, _)| is_credential(name));
        pairs.map(|(_, value)| Secret::new(value))
    }

    pub(crate) fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    pub(crate) fn host(&self) -> String {
        host(&self.url)
    }

    pub(crate) fn server(&self) -> Option<(&str, u16)> {
        self.url.host_str().zip(self.url.port_or_known_default())
    }

    /// For a path that was not found: the usual mistake is to leave out `/v1`.
    pub(crate) fn hint(&self) -> &'static str {
        match self.url.path() {
            PATH | "/embeddings" => "; most base URLs end with /v1",
            _ => "",
        }
    }
}

fn parse_url(url: &str) -> Result<Url, String> {
    let mut url = Url::parse(url.trim()).map_err(|error| format!("cannot be read ({error})"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("begins with neither http:// nor https://".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("contains a user name or a password; send them in a header".to_owned());
    }
    url.set_fragment(None);
    Ok(url)
}

pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host_str().unwrap_or_default() {
        "localhost" | "[::1]" => true,
        host => {
            host.ends_with(".localhost")
                || host.parse().is_ok_and(|address: std::net::Ipv4Addr| address.is_loopback())
        }
    }
}

/// Without the query, which may hold a key.
pub(crate) fn shown(url: &Url) -> String {
    format!("{}://{}{}", url.scheme(), host(url), url.path())
}

fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_is_appended_once_and_the_query_kept() {
        for (base, url) in [
            ("https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions"),
            (" http://127.0.0.1:8080/v1/ ", "http://127.0.0.1:8080/v1/chat/completions"),
            ("http://h/v1/chat/completions", "http://h/v1/chat/completions"),
            ("http://h", "http://h/chat/completions"),
            ("https://h/d?api-version=1#x", "https://h/d/chat/completions?api-version=1"),
        ] {
            assert_eq!(Endpoint::new(base, "").unwrap().url.as_str(), url);
        }
        assert_eq!(Endpoint::new("https://h/d?key=1", "").unwrap().shown, "https://h/d/chat/completions");
    }

    #[test]
    fn what_is_no_base_url() {
        for base in
            ["", "api.openai.com/v1", "ftp://h/v1", "http://", "https://me:secret@h/v1", "http://h:99999"]
        {
            let error = Endpoint::new(base, "OPENAI_BASE_URL").err().unwrap();
            assert_eq!(error.category, Category::ConfigError);
            assert!(error.message.contains("OPENAI_BASE_URL") && !error.message.contains("secret"));
        }
    }

    #[test]
    fn loopback() {
        for (base, loopback) in [
            ("http://127.0.0.1:1", true),
            ("http://127.9.9.9", true),
            ("http://localhost:80", true),
            ("http://a.localhost", true),
            ("http://[::1]:1", true),
            ("http://127.0.0.1.evil.example", false),
            ("http://localhost.evil.example", false),
            ("http://10.0.0.1", false),
            ("http://[::2]", false),
        ] {
            assert_eq!(Endpoint::new(base, "").unwrap().is_loopback(), loopback, "{base}");
        }
    }
}
