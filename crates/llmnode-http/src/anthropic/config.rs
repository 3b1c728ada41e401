//! What a program may set of [`Anthropic`]. What all APIs have in common is in
//! `api/settings.rs`; here is what this one has beside it.

use llmnode_model::Cache;

use super::{Anthropic, MESSAGES};
use crate::api::settings::{ClientSettings, client_settings};

/// The only version since 2023; new behaviour comes by `anthropic-beta` headers.
const VERSION: &str = "2023-06-01";

/// Builds an [`Anthropic`]. Every setting has a default.
/// [`build`](AnthropicBuilder::build) checks them together.
///
/// ```
/// # mod llmnode { pub use llmnode_model::*; pub use llmnode_http::*; }
/// use llmnode::{Anthropic, Cache};
///
/// let model = Anthropic::builder()
///     .base_url("http://127.0.0.1:4000") // a gateway on this machine needs no key
///     .model("claude-sonnet-5-5")
///     .cache(Cache::Minutes5)
///     .build()?;
/// # Ok::<(), llmnode_model::ModelError>(())
/// ```
#[derive(Clone)]
#[must_use = "a builder does nothing until `build`"]
pub struct AnthropicBuilder {
    settings: ClientSettings,
}

impl Anthropic {
    /// Builds a model without reading the environment.
    pub fn builder() -> AnthropicBuilder {
        let settings = ClientSettings::new(&MESSAGES);
        AnthropicBuilder { settings }.header("anthropic-version", VERSION)
    }
}

impl AnthropicBuilder {
    /// Sets what this model's calls ask of Anthropic's cache where neither the
    /// call, the run nor the node says it. Default:
    /// [`Auto`](Cache::Auto). With a time, the end of the system's text and of each conversation is marked, in a map what its items
    /// share.
    pub fn cache(mut self, cache: Cache) -> Self {
        self.settings.cache = Some(cache);
        self
    }
}

client_settings!(
    AnthropicBuilder,
    Anthropic,
    "`ANTHROPIC_API_KEY`, or `ANTHROPIC_AUTH_TOKEN` for a bearer token; `ANTHROPIC_BASE_URL` \
     (default `https://api.anthropic.com`; a loopback server needs no key) and `ANTHROPIC_MODEL` \
     (default: each call names its own)",
    "`http://127.0.0.1:4000`, a gateway. Default `https://api.anthropic.com`"
);

#[cfg(test)]
mod tests {
    use llmnode_model::{Category, ModelError};

    use super::*;

    fn from(variables: &[(&str, &str)]) -> Result<AnthropicBuilder, ModelError> {
        let variable = |name: &str| {
            let value = variables.iter().find(|(own, _)| *own == name)?.1;
            Some(Ok(value.to_owned()))
        };
        let settings = Anthropic::builder().settings.with_variables(variable)?;
        Ok(AnthropicBuilder { settings })
    }

    #[test]
    fn without_a_key_the_variables_are_named() {
        let error = from(&[("OPENAI_API_KEY", "sk-1")]).unwrap_err();
        assert_eq!(error.category, Category::ApiKeyError);
        assert_eq!(
            error.message,
            "neither ANTHROPIC_API_KEY nor ANTHROPIC_AUTH_TOKEN is set (OPENAI_API_KEY is, and is \
             for `OpenAi`); set one, or `.api_key(..)`"
        );
    }

    #[test]
    fn a_key_of_the_program_replaces_a_bearer_token() {
        let builder = from(&[("ANTHROPIC_AUTH_TOKEN", "token-1")]).unwrap();
        assert_eq!(builder.settings.key_header, "authorization");
        assert_eq!(builder.api_key("sk-ant-1").settings.key_header, "x-api-key");
    }

    #[test]
    fn the_path_has_its_version_once() {
        for base in [
            "https://api.anthropic.com",
            "https://api.anthropic.com/v1/",
            "https://api.anthropic.com/v1/messages",
        ] {
            let model = from(&[
                (MESSAGES.key, "sk-ant-1"),
                (MESSAGES.base_url, base),
                (MESSAGES.model, "m"),
            ])
            .unwrap()
            .build()
            .unwrap();
            assert_eq!(
                format!("{model:?}"),
                "Anthropic { endpoint: \"https://api.anthropic.com/v1/messages\", model: \
                 Some(\"m\"), .. }"
            );
        }
    }
}
