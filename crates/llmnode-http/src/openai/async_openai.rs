//! A configuration of async-openai as the source of URL and headers (feature `async-openai`).

use std::sync::Arc;

use async_openai::config::Config;
use http::HeaderMap;
use llmnode_model::ext::Secret;
use secrecy::ExposeSecret;

use super::config::OpenAiBuilder;
use crate::api::settings::KeySource;
use crate::http::headers::ConfigSource;
use crate::http::percent::form_encoded;
use crate::http::url::Url;

impl OpenAiBuilder {
    /// Takes URL, query, key and headers from a configuration of async-openai
    /// (feature `async-openai`): its own `OpenAIConfig` and `AzureConfig`, or any
    /// other [`Config`]. The URL and its query are read by
    /// [`build`](OpenAiBuilder::build), the headers for each request, so that a configuration may give a new token each
    /// time; it should not block. No client of async-openai is created: categories,
    /// waits, ledger and redaction stay as they are. Default: none.
    ///
    /// It replaces the base URL and the key that were set so far. A
    /// [`base_url`](OpenAiBuilder::base_url), an
    /// [`api_key`](OpenAiBuilder::api_key) or a [`header`](OpenAiBuilder::header) that is set afterwards replaces the
    /// configuration's. Its `api_key`, and each of its headers that is a
    /// credential, is a secret like any other. A call fails with a `config_error`,
    /// and sends nothing, if the configuration gives a key for plain http on
    /// another machine, or panics, as `OpenAIConfig` does over a key with a line
    /// break.
    ///
    /// ```
    /// # mod llmnode { pub use llmnode_model::*; pub use llmnode_http::*; }
    /// use llmnode::OpenAi;
    /// use llmnode::async_openai::config::AzureConfig;
    ///
    /// let azure = AzureConfig::new()
    ///     .with_api_base("https://my-resource.openai.azure.com")
    ///     .with_deployment_id("my-gpt")
    ///     .with_api_version("2024-10-21")
    ///     .with_api_key("…");
    /// let builder = OpenAi::builder().config(azure).model("my-gpt");
    /// # let _ = builder;
    /// ```
    pub fn config(mut self, config: impl Config + 'static) -> Self {
        self.settings.base_url = None;
        self.settings.key = None;
        self.settings.key_source = KeySource::Program;
        self.settings.key_header = "authorization";
        self.settings.config_source = Some(Arc::new(ConfigAdapter(config)));
        self
    }
}

/// Its types in the terms of ours. The URL is asked for once, the headers for each
/// request.
struct ConfigAdapter<C>(C);

impl<C: Config> ConfigSource for ConfigAdapter<C> {
    fn url(&self, path: &str) -> Result<String, String> {
        let url = self.0.url(path);
        let query = self.0.query();
        if query.is_empty() {
            return Ok(url);
        }
        let url = Url::parse(&url)?;
        let separator = if url.query().is_some() { '&' } else { '?' };
        let pairs = query
            .iter()
            .map(|(name, value)| format!("{}={}", form_encoded(name), form_encoded(value)));
        Ok(format!(
            "{url}{separator}{}",
            pairs.collect::<Vec<_>>().join("&")
        ))
    }

    fn headers(&self) -> HeaderMap {
        self.0.headers()
    }

    fn key(&self) -> Secret {
        Secret::new(self.0.api_key().expose_secret())
    }
}
