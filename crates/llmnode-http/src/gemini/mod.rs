//! Google's models, by their own API (feature `gemini`).
//!
//! What is peculiar to it: the model's name is in the URL; a result names the
//! function that was called (`contents.rs`); each event of a stream has the form of
//! a whole answer (`gathered.rs`); a signature belongs to a part, and goes back
//! with that part.

mod answer;
#[cfg(feature = "batch")]
mod batch;
mod config;
mod contents;
mod gathered;
mod request;
mod stream;
mod usage;

pub use config::GeminiBuilder;

use std::sync::Arc;

use llmnode_model::ResponseFormat;

use crate::api::handle::chat_model;
use crate::api::inner::Inner;
use crate::api::sent_calls::IdForm;
use crate::api::wire::Wire;
use crate::http::endpoint::ApiPath;
use crate::http::percent::segment_encoded;
use crate::http::url::Url;
use crate::refusal::efforts::{Effort, Efforts, Thinking};
use crate::refusal::response_formats::Formats;

/// A model of Google's Gemini API, or of Vertex AI. It is a cheap handle: clones
/// share the connections, the
/// [`RetryBudget`](llmnode_model::RetryBudget), and what was learned about models.
///
/// The signatures of a model's thoughts go back to it with the calls of tools, as
/// they came. Types are asked for by `responseJsonSchema`, else as JSON, else in
/// the prompt; beside tools, by a function.
///
/// ```no_run
/// # mod llmnode { pub use llmnode_model::*; pub use llmnode_http::*; }
/// use llmnode::Gemini;
///
/// # fn main() -> Result<(), llmnode_model::ModelError> {
/// let model = Gemini::from_env()?; // GEMINI_API_KEY or GOOGLE_API_KEY, GEMINI_BASE_URL, GEMINI_MODEL
/// # let _ = model;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Gemini(Arc<Inner>);

chat_model!(Gemini);

/// `generateContent`, which Google calls legacy and supports in full.
const GENERATE: Wire = Wire {
    name: llmnode_model::ApiKind::Gemini,
    provider: "gcp.gemini",
    tag: "gemini",
    title: "Gemini",
    handle: "Gemini",
    key_header: "x-goog-api-key",
    key: "GEMINI_API_KEY",
    other_key: Some(("GOOGLE_API_KEY", "x-goog-api-key")),
    base_url: "GEMINI_BASE_URL",
    model: "GEMINI_MODEL",
    api: ApiPath {
        path: "/models",
        example: "https://generativelanguage.googleapis.com/v1beta",
    },
    reserved_fields: &[
        "contents",
        "model",
        "stream",
        "systemInstruction",
        "system_instruction",
    ],
    joined: &["generationConfig", "tools", "toolConfig"],
    names: None,
    formats: Formats {
        // The search begins at the form that is wanted: a function is only used where it was
        // chosen, as beside tools, which 2.5 refuses together with a schema.
        order: &[
            ResponseFormat::Tool,
            ResponseFormat::Strict,
            ResponseFormat::JsonObject,
            ResponseFormat::Prompt,
        ],
        expresses: |schema| schema.gemini().is_some(),
    },
    efforts: Efforts {
        // Flash models take a budget of none, others think a little at least.
        off: &[
            Thinking::Budget(0),
            Thinking::Effort(Effort::Minimal),
            Thinking::Effort(Effort::Low),
            Thinking::Budget(Effort::Low.tokens()),
        ],
        words: &[Effort::High, Effort::Medium, Effort::Low],
        budgets: true,
        field: ("generationConfig", "/thinkingConfig"),
    },
    url: Some(url),
    hosts: &["googleapis.com"],
    limit: None,
    id_form: IdForm::Any,
    encode: request::encode,
    read: answer::read,
    stream: || Box::<stream::PartialAnswer>::default(),
};

/// The model is a part of the path, and so is the way of the answer.
/// `models/` before a name is allowed, as Google's own lists have it.
fn url(base: &Url, model: &str, streams: bool) -> Result<Url, String> {
    let method = if streams {
        "streamGenerateContent"
    } else {
        "generateContent"
    };
    let model = segment_encoded(model.strip_prefix("models/").unwrap_or(model));
    let path = format!("{}/{model}:{method}", base.path().trim_end_matches('/'));
    let base_query = base.query().into_iter();
    let alt = streams.then_some("alt=sse").into_iter();
    let query: Vec<&str> = base_query.chain(alt).collect();
    base.at(&if query.is_empty() {
        path
    } else {
        format!("{path}?{}", query.join("&"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_one_part_of_the_path() {
        let at = |base: &str, model, streams| {
            url(&Url::parse(base).unwrap(), model, streams)
                .unwrap()
                .to_string()
        };
        assert_eq!(
            at("https://h/v1beta/models", "a", false),
            "https://h/v1beta/models/a:generateContent"
        );
        assert_eq!(
            at("https://h/v1beta/models?x=1", "models/a", true),
            "https://h/v1beta/models/a:streamGenerateContent?x=1&alt=sse"
        );
        assert_eq!(
            at("https://h/models", "../a?b#c", false),
            "https://h/models/..%2Fa%3Fb%23c:generateContent"
        );
    }
}
