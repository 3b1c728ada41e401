//! Where requests go.

use llmnode_model::internal::{Secret, is_credential};
use llmnode_model::{Category, ModelError};

use super::headers::ConfigSource;
use super::percent::query_pairs;
use super::url::Url;

const PATH: &str = "/chat/completions";

#[derive(Clone)]
pub(crate) struct Endpoint {
    pub(crate) url: Url,
    pub(crate) shown: String,
}

impl Endpoint {
    pub(crate) fn new(base: &str, source: &str) -> Result<Endpoint, ModelError> {
        let fault = |fault: String| {
            let example = "write it like https://api.openai.com/v1";
            ModelError::unsent(Category::ConfigError, format!("the base URL in {source} {fault}; {example}"))
        };
        let base = Url::parse(base).map_err(fault)?;
        let path = base.path().trim_end_matches('/').trim_end_matches(PATH);
        let url = base.with_path(&format!("{path}{PATH}")).map_err(fault)?;
        Ok(Endpoint { shown: shown(&url), url })
    }

    /// Uses the URL of the configuration unchanged.
    pub(crate) fn from_config(config: &dyn ConfigSource) -> Result<Endpoint, ModelError> {
        let url = config.url(PATH).and_then(|url| Url::parse(&url)).map_err(|why| {
            let message =
                format!("the URL of `config` for {PATH} {why}; its base is like https://api.openai.com/v1");
            ModelError::unsent(Category::ConfigError, message)
        })?;
        Ok(Endpoint { shown: shown(&url), url })
    }

    pub(crate) fn with_path(&self, path: &str) -> Endpoint {
        let base = self.url.path().strip_suffix(PATH).unwrap_or(self.url.path());
        // Only a URL of 64 KiB has no room for another path.
        let url = self.url.with_path(&format!("{base}{path}")).unwrap_or_else(|_| self.url.clone());
        Endpoint { shown: shown(&url), url }
    }

    pub(crate) fn credentials(&self) -> impl Iterator<Item = Secret> {
        let pairs = query_pairs(self.url.query().unwrap_or_default());
        pairs.filter(|(name, _)| is_credential(name)).map(|(_, value)| Secret::new(value))
    }

    pub(crate) fn host(&self) -> String {
        self.url.authority().to_owned()
    }

    pub(crate) fn server(&self) -> Option<(&str, u16)> {
        Some((self.url.host(), self.url.port()))
    }

    /// For a path that was not found: the usual mistake is to leave out `/v1`.
    pub(crate) fn hint(&self) -> &'static str {
        match self.url.path() {
            PATH | "/embeddings" => "; most base URLs end with /v1",
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

    #[test]
    fn the_path_is_appended_once_and_the_query_kept() {
        for (base, url) in [
            ("https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions"),
            (" http://127.0.0.1:8080/v1/ ", "http://127.0.0.1:8080/v1/chat/completions"),
            ("http://h/v1/chat/completions", "http://h/v1/chat/completions"),
            ("http://h", "http://h/chat/completions"),
            ("https://h/d?api-version=1#x", "https://h/d/chat/completions?api-version=1"),
        ] {
            assert_eq!(Endpoint::new(base, "").unwrap().url.to_string(), url);
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
            assert_eq!(Endpoint::new(base, "").unwrap().url.is_loopback(), loopback, "{base}");
        }
    }
}
