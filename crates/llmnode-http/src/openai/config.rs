//! What a program may set of [`OpenAi`]. What all APIs have in common is in
//! `api/settings.rs`; here is what this one has beside it.

use super::apis::OpenAi;
use super::chat::CHAT;
use super::responses::RESPONSES;
use crate::api::settings::{ClientSettings, client_settings};

/// Builds an [`OpenAi`]. Every setting has a default.
/// [`build`](OpenAiBuilder::build) checks them together.
///
/// ```
/// use std::time::Duration;
/// # mod llmnode { pub use llmnode_model::*; pub use llmnode_http::*; }
/// use llmnode::OpenAi;
///
/// let model = OpenAi::builder()
///     .base_url("http://127.0.0.1:8080/v1") // a loopback server needs no key
///     .model("local")
///     .attempt_timeout(Duration::from_secs(30))
///     .build()?;
/// # Ok::<(), llmnode_model::ModelError>(())
/// ```
#[derive(Clone)]
#[must_use = "a builder does nothing until `build`"]
pub struct OpenAiBuilder {
    pub(super) settings: ClientSettings,
}

impl OpenAi {
    /// Builds a model without reading the environment: by default OpenAI's, with the key set by
    /// [`api_key`](OpenAiBuilder::api_key). Other known servers have their own constructors, such as
    /// [`azure`](OpenAi::azure) and [`ollama`](OpenAi::ollama). For any other server, set the
    /// [`base_url`](OpenAiBuilder::base_url).
    pub fn builder() -> OpenAiBuilder {
        OpenAiBuilder {
            settings: ClientSettings::new(&CHAT),
        }
    }
}

impl OpenAiBuilder {
    /// Sets the organization to which requests are billed.
    pub fn organization(self, id: impl Into<String>) -> Self {
        self.header("openai-organization", id)
    }

    /// Sets the project to which requests are billed.
    pub fn project(self, id: impl Into<String>) -> Self {
        self.header("openai-project", id)
    }
}

impl OpenAiBuilder {
    /// Asks by the Responses API: see [`OpenAi::responses`]. Default: by the server.
    pub fn responses(mut self) -> Self {
        self.settings.wire = &RESPONSES;
        self.settings.is_api_chosen = true;
        self
    }

    /// Asks by chat completions: see [`OpenAi::chat_completions`]. Default: by the server.
    pub fn chat_completions(mut self) -> Self {
        self.settings.wire = &CHAT;
        self.settings.is_api_chosen = true;
        self
    }
}

client_settings!(
    OpenAiBuilder,
    OpenAi,
    "`OPENAI_API_KEY`, `OPENAI_BASE_URL` (default `https://api.openai.com/v1`; a loopback server \
     needs no key) and `OPENAI_MODEL` (default: each call names its own)",
    "`http://127.0.0.1:8080/v1`. Default `https://api.openai.com/v1`"
);

#[cfg(test)]
mod tests {
    use llmnode_model::{Category, ModelError};

    use super::*;

    const KEY: &str = CHAT.key;
    const BASE_URL: &str = CHAT.base_url;
    const MODEL: &str = CHAT.model;

    fn from(variables: &[(&str, &str)]) -> Result<OpenAiBuilder, ModelError> {
        let variable = |name: &str| {
            let value = variables.iter().find(|(own, _)| *own == name)?.1;
            Some(Ok(value.to_owned()))
        };
        let settings = OpenAi::builder().settings.with_variables(variable)?;
        Ok(OpenAiBuilder { settings })
    }

    #[test]
    fn neither_key_nor_base_url_names_both() {
        for variables in [&[][..], &[(MODEL, "m")], &[(KEY, ""), (BASE_URL, "")]] {
            let error = from(variables).unwrap_err();
            assert_eq!(error.category, Category::ApiKeyError);
            assert!(error.message.contains(KEY) && error.message.contains(BASE_URL));
        }
    }

    #[test]
    fn variables_are_settings() {
        let local = [(BASE_URL, "http://127.0.0.1:8080/v1"), (MODEL, "m")];
        let model = from(&local).unwrap().build().unwrap();
        assert_eq!(
            format!("{model:?}"),
            "OpenAi { endpoint: \"http://127.0.0.1:8080/v1/chat/completions\", api: chat, model: \
             Some(\"m\"), .. }"
        );
        // What the program says later counts.
        assert_eq!(
            from(&local)
                .unwrap()
                .model("other")
                .settings
                .model
                .as_deref(),
            Some("other")
        );
    }

    #[test]
    fn faults_name_their_variable() {
        for (variables, category, name) in [
            (
                [(KEY, "sk-secret\n"), (MODEL, "m")],
                Category::ApiKeyError,
                KEY,
            ),
            (
                [(KEY, "sk-secret"), (BASE_URL, "nowhere")],
                Category::ConfigError,
                BASE_URL,
            ),
            (
                [(BASE_URL, "https://models.example"), (MODEL, "m")],
                Category::ApiKeyError,
                KEY,
            ),
        ] {
            let error = from(&variables).unwrap().build().unwrap_err();
            assert_eq!(error.category, category);
            assert!(
                error.message.contains(name) && !error.message.contains("secret"),
                "{error}"
            );
        }
        let error = OpenAi::builder()
            .settings
            .with_variables(|_| Some(Err(())))
            .err()
            .unwrap();
        assert!(error.message.contains("not Unicode"));
    }

    #[test]
    fn a_proxy_elsewhere_leaves_the_machine_too() {
        let stays = |base: &str, proxy: Option<&str>| {
            let builder = OpenAi::builder().base_url(base).without_key();
            let builder = proxy.into_iter().fold(builder, OpenAiBuilder::proxy);
            builder.build().unwrap().0.chat().service.is_local
        };
        assert!(stays("http://127.0.0.1:1/v1", None));
        assert!(stays("http://[::1]:1/v1", Some("http://localhost:2")));
        assert!(!stays(
            "http://127.0.0.1:1/v1",
            Some("http://proxy.invalid:2")
        ));
        assert!(!stays(
            "http://models.invalid/v1",
            Some("http://127.0.0.1:2")
        ));
    }
}
