//! Where requests go.
//!
//! From a base URL and the API's path. People write base URLs with the version,
//! without it, with the path, with a slash at the end; all of them mean the same.

use llmnode_model::ext::Secret;
use llmnode_model::{Category, ModelError};

use super::headers::ConfigSource;
use super::url::Url;

/// The path of an API, and a base URL as an example for messages.
#[derive(Clone, Copy)]
pub(crate) struct ApiPath {
    pub(crate) path: &'static str,
    pub(crate) example: &'static str,
}

/// `shown`: the URL for messages, without its query.
#[derive(Clone)]
pub(crate) struct Endpoint {
    path: &'static str,
    pub(crate) url: Url,
    pub(crate) shown: String,
}

fn base_url_fault(source: &str, fault: &str, api: ApiPath) -> ModelError {
    let message = format!(
        "the base URL in {source} {fault}; write it like {}",
        api.example
    );
    ModelError::unsent(Category::ConfigError, message)
}

impl Endpoint {
    pub(crate) fn new(base: &str, source: &str, api: ApiPath) -> Result<Endpoint, ModelError> {
        let base = Url::parse(base).map_err(|fault| base_url_fault(source, &fault, api))?;
        let path = base.path().trim_end_matches('/').trim_end_matches(api.path);
        // A base URL may include the version.
        let version = if api.path.starts_with("/v1/") {
            "/v1"
        } else {
            ""
        };
        let path = path.strip_suffix(version).unwrap_or(path);
        let url = base
            .with_path(&format!("{path}{}", api.path))
            .map_err(|fault| base_url_fault(source, &fault, api))?;
        Ok(Endpoint {
            path: api.path,
            shown: shown(&url),
            url,
        })
    }

    pub(crate) fn from_config(
        config: &dyn ConfigSource,
        api: ApiPath,
    ) -> Result<Endpoint, ModelError> {
        let ApiPath { path, example } = api;
        let url = config
            .url(path)
            .and_then(|url| Url::parse(&url))
            .map_err(|why| {
                let message =
                    format!("the URL of `config` for {path} {why}; its base is like {example}");
                ModelError::unsent(Category::ConfigError, message)
            })?;
        Ok(Endpoint {
            path,
            shown: shown(&url),
            url,
        })
    }

    /// Another API of the same server.
    pub(crate) fn with_path(&self, path: &'static str) -> Endpoint {
        let base = self
            .url
            .path()
            .strip_suffix(self.path)
            .unwrap_or(self.url.path());
        // Cannot fail below 64 KiB.
        let url = self
            .url
            .with_path(&format!("{base}{path}"))
            .unwrap_or_else(|_| self.url.clone());
        Endpoint {
            path,
            shown: shown(&url),
            url,
        }
    }

    /// At this path and query of the same server.
    pub(crate) fn at(&self, path: &str, query: &str) -> Endpoint {
        let query = if query.is_empty() {
            String::new()
        } else {
            format!("?{query}")
        };
        let url = format!(
            "{}://{}{path}{query}",
            self.url.scheme(),
            self.url.authority()
        );
        // Cannot fail below 64 KiB.
        let url = Url::parse(&url).unwrap_or_else(|_| self.url.clone());
        Endpoint {
            path: self.path,
            shown: shown(&url),
            url,
        }
    }

    /// Keys in the query, encoded and decoded: a server may quote either.
    pub(crate) fn credentials(&self) -> impl Iterator<Item = Secret> {
        self.url.credentials()
    }

    pub(crate) fn host(&self) -> String {
        self.url.authority().to_owned()
    }

    /// For spans and records.
    pub(crate) fn server(&self) -> Option<(&str, u16)> {
        Some((self.url.host(), self.url.port()))
    }

    /// The usual cause of "not found" is a base URL without `/v1`.
    pub(crate) fn hint(&self) -> &'static str {
        match self.url.path() {
            "/chat/completions" | "/embeddings" => "; most base URLs end with /v1",
            "/models" => "; most base URLs end with /v1beta",
            _ => "",
        }
    }
}

/// Without the query, which may hold a key.
pub(crate) fn shown(url: &Url) -> String {
    format!("{}://{}{}", url.scheme(), url.authority(), url.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAT: ApiPath = ApiPath {
        path: "/chat/completions",
        example: "https://api.openai.com/v1",
    };

    #[test]
    fn the_path_is_appended_once_and_the_query_kept() {
        for (base, url) in [
            (
                "https://api.openai.com/v1",
                "https://api.openai.com/v1/chat/completions",
            ),
            (
                " http://127.0.0.1:8080/v1/ ",
                "http://127.0.0.1:8080/v1/chat/completions",
            ),
            (
                "http://h/v1/chat/completions",
                "http://h/v1/chat/completions",
            ),
            ("http://h", "http://h/chat/completions"),
            (
                "https://h/d?api-version=1#x",
                "https://h/d/chat/completions?api-version=1",
            ),
        ] {
            assert_eq!(Endpoint::new(base, "", CHAT).unwrap().url.to_string(), url);
        }
        assert_eq!(
            Endpoint::new("https://h/d?key=1", "", CHAT).unwrap().shown,
            "https://h/d/chat/completions"
        );
    }

    #[test]
    fn what_is_no_base_url() {
        for base in [
            "",
            "api.openai.com/v1",
            "ftp://h/v1",
            "http://",
            "https://me:secret@h/v1",
            "http://h:99999",
        ] {
            let error = Endpoint::new(base, "OPENAI_BASE_URL", CHAT).err().unwrap();
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
            assert_eq!(
                Endpoint::new(base, "", CHAT).unwrap().url.is_loopback(),
                loopback,
                "{base}"
            );
        }
    }
}
