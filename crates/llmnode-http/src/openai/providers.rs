//! The servers that have their own constructor.
//!
//! A base URL, a variable for the key, and, where a server is known to refuse
//! others, the form of ids: nothing else about them is known here. What their
//! models take is learned.

use super::apis::OpenAi;
use super::chat::CHAT;
use super::config::OpenAiBuilder;
use crate::api::sent_calls::IdForm;
use crate::api::settings::{ClientSettings, KeySource};
use crate::http::headers::Sourced;

/// Each: documentation, name, base URL, the variable with its key, and the form of
/// calls' ids that it wants.
macro_rules! providers {
    ($($about:literal $name:ident $base_url:literal $($variable:literal)? $(ids $form:ident)?;)*) => {
        impl OpenAi {
            $(
                #[doc = concat!($about, ", at `", $base_url, "`.")]
                ///
                #[doc = providers!(@key $($variable)?)]
                pub fn $name() -> OpenAiBuilder {
                    let builder = OpenAiBuilder::for_server($base_url, providers!(@from $($variable)?));
                    $(let builder = builder.with_ids(IdForm::$form);)?
                    builder
                }
            )*
        }

        #[cfg(test)]
        const PROVIDERS: &[Provider] = &[$((stringify!($name), OpenAi::$name, $base_url, providers!(@option $($variable)?))),*];
    };
    (@key) => {
        "It needs no key. [`base_url`](OpenAiBuilder::base_url) sets another machine or port, and \
         [`api_key`](OpenAiBuilder::api_key) the key of a server that was started with one."
    };
    (@key $variable:literal) => {
        concat!(
            "The key is that of the variable `",
            $variable,
            "`, read by [`build`](OpenAiBuilder::build), unless \
             [`api_key`](OpenAiBuilder::api_key) sets one."
        )
    };
    (@from) => { KeySource::Program };
    (@from $variable:literal) => { KeySource::Variable($variable) };
    (@option) => { None };
    (@option $variable:literal) => { Some($variable) };
}

#[cfg(test)]
type Provider = (
    &'static str,
    fn() -> OpenAiBuilder,
    &'static str,
    Option<&'static str>,
);

providers! {
    "Anthropic's models through its OpenAI-compatible endpoint"
        anthropic "https://api.anthropic.com/v1" "ANTHROPIC_API_KEY" ids Word;
    "DeepSeek's models" deepseek "https://api.deepseek.com" "DEEPSEEK_API_KEY";
    "Google's Gemini models through their OpenAI-compatible endpoint"
        gemini "https://generativelanguage.googleapis.com/v1beta/openai" "GEMINI_API_KEY";
    "The models that Groq serves" groq "https://api.groq.com/openai/v1" "GROQ_API_KEY";
    "A server of llama.cpp, `llama-server`, on this machine" llama_cpp "http://localhost:8080/v1";
    "Mistral's models" mistral "https://api.mistral.ai/v1" "MISTRAL_API_KEY" ids Nine;
    "Ollama on this machine" ollama "http://localhost:11434/v1";
    "The models of many providers, through OpenRouter"
        openrouter "https://openrouter.ai/api/v1" "OPENROUTER_API_KEY";
    "The models that Together serves" together "https://api.together.ai/v1" "TOGETHER_API_KEY";
    "A server of vLLM, `vllm serve`, on this machine" vllm "http://localhost:8000/v1";
}

impl OpenAi {
    /// Builds a model for a deployment of Azure OpenAI:
    /// `azure("https://my-resource.openai.azure.com", "my-gpt", "2024-10-21")`.
    ///
    /// Requests go to
    /// `/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21`. The
    /// model's name is the deployment's. The key comes from the variable
    /// `AZURE_OPENAI_API_KEY`, unless
    /// [`api_key`](OpenAiBuilder::api_key) sets it, and is sent in the header `api-key`. For a token of Entra ID, set
    /// a [`header`](OpenAiBuilder::header), `("authorization", "Bearer …")`; then no key is read.
    ///
    /// Azure's newer API has no version: `https://my-resource.openai.azure.com/openai/v1` is a
    /// [`base_url`](OpenAiBuilder::base_url) like any other.
    pub fn azure(resource: &str, deployment: &str, api_version: &str) -> OpenAiBuilder {
        let resource = resource.trim_end_matches('/');
        let url = format!("{resource}/openai/deployments/{deployment}?api-version={api_version}");
        let mut builder =
            OpenAiBuilder::for_server(url, KeySource::Variable("AZURE_OPENAI_API_KEY"));
        builder.settings.key_header = "api-key";
        if let Some(url) = &mut builder.settings.base_url {
            url.source = "`azure`";
        }
        builder.model(deployment)
    }
}

impl OpenAiBuilder {
    /// So that the first call of a tool need not be refused.
    fn with_ids(mut self, form: IdForm) -> OpenAiBuilder {
        self.settings.id_form = Some(form);
        self
    }

    /// Anything may be set afterwards.
    fn for_server(base_url: impl Into<String>, key_source: KeySource) -> OpenAiBuilder {
        let base_url = Sourced {
            value: base_url.into(),
            source: "the constructor",
        };
        let settings = ClientSettings {
            base_url: Some(base_url),
            key_source,
            ..ClientSettings::new(&CHAT)
        };
        OpenAiBuilder { settings }
    }
}

#[cfg(test)]
mod tests {
    use llmnode_model::{ChatModel, Message, Request, Sink, TokenUsage};
    use llmnode_stub::StubServer;

    use super::*;
    use crate::http::url::Url;

    struct Unseen;

    impl Sink for Unseen {
        fn request_id(&mut self, _: &str) {}
        fn usage(&mut self, _: TokenUsage) {}
    }

    /// Path, with its query, and key of the request that such a model makes, with
    /// the stub server as its host.
    async fn request_of(builder: OpenAiBuilder) -> (String, Option<String>, Option<String>) {
        let server = StubServer::builder().start().await.unwrap();
        let url = Url::parse(&builder.settings.base_url.as_ref().unwrap().value).unwrap();
        let path = url.to_uri().path_and_query().unwrap().to_string();
        let model = builder
            .base_url(format!("http://{}{path}", server.address()))
            .api_key("key-1234")
            .model("m")
            .build()
            .unwrap();
        // The stub server has no such path; what it was asked is all that counts.
        let _ = model
            .complete(&Request::new(vec![Message::user("Hello?")]), &mut Unseen)
            .await;
        let sent = server.requests().remove(0);
        let header = |name| sent.header(name).map(str::to_owned);
        (
            sent.path().to_owned(),
            header("authorization"),
            header("api-key"),
        )
    }

    #[tokio::test]
    async fn requests_go_to_the_path_of_each_server() {
        for (name, make, base_url, _) in PROVIDERS {
            let path = Url::parse(base_url)
                .unwrap()
                .path()
                .trim_end_matches('/')
                .to_owned();
            let bearer = Some("Bearer key-1234".to_owned());
            assert_eq!(
                request_of(make()).await,
                (format!("{path}/chat/completions"), bearer, None),
                "{name}"
            );
        }
    }

    #[tokio::test]
    async fn azure_has_a_deployment_a_version_and_a_header_of_its_own() {
        for resource in ["https://a.openai.azure.com", "https://a.openai.azure.com/"] {
            let builder = OpenAi::azure(resource, "my-gpt", "2024-10-21");
            assert_eq!(builder.settings.model.as_deref(), Some("my-gpt"));
            let path = "/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21";
            assert_eq!(
                request_of(builder).await,
                (path.to_owned(), None, Some("key-1234".to_owned()))
            );
        }
        let error = OpenAi::azure("a.openai.azure.com", "m", "1")
            .api_key("k")
            .build()
            .unwrap_err();
        assert!(error.message.contains("`azure`"), "{error}");
    }

    /// The table of the page on endpoints.
    #[test]
    fn each_has_its_line_in_the_docs() {
        let page = include_str!("../../../../docs/endpoints.md");
        for (name, _, base_url, variable) in PROVIDERS {
            let key = variable.map_or("none".to_owned(), |variable| format!("`{variable}`"));
            let line = format!("| `OpenAi::{name}()` | `{base_url}` | {key} |");
            assert!(page.contains(&line), "{line}");
        }
        for line in ["| `OpenAi::from_env()` |", "| `OpenAi::azure(..)` |"] {
            assert!(page.contains(line), "{line}");
        }
    }
}
