//! Embeddings over OpenAI's API and compatible ones.

use std::borrow::Cow;

use llmnode_http::OpenAi;
use llmnode_http::ext::EmbeddingsApi;
use llmnode_runtime::{BoxFuture, Category, ModelError, NodeError, RetryBudget, Sink};

use crate::embed::{EmbedRequest, Embedded, Embedder, Purpose};

const BASE_URL: &str = "OPENAI_EMBEDDING_BASE_URL";
const KEY: &str = "OPENAI_EMBEDDING_API_KEY";
const MODEL: &str = "OPENAI_EMBEDDING_MODEL";
const DEFAULT_MODEL: &str = "text-embedding-3-small";

/// An embedding model behind OpenAI's API or a compatible one, such as Ollama's or llama.cpp's. A cheap handle.
///
/// Requests use the endpoint, the key, the client and the retry budget of an [`OpenAi`]. They are retried, limited and accounted like
/// those of a chat.
///
/// ```no_run
/// # use llmnode_http::OpenAi;
/// # mod llmnode { pub use llmnode_rag::*; }
/// use llmnode::Embeddings;
///
/// # fn main() -> Result<(), llmnode_runtime::NodeError> {
/// let local = OpenAi::builder().base_url("http://127.0.0.1:11434/v1").build()?;
/// let embeddings = Embeddings::new(&local, "multilingual-e5-small").prefixes("query: ", "passage: ");
/// # let _ = embeddings;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Embeddings {
    api: EmbeddingsApi,
    model: String,
    id: String,
    dimensions: Option<usize>,
    query: String,
    document: String,
    batch: (usize, usize),
}

impl Embeddings {
    /// Creates a handle to an embedding model at the endpoint of another model.
    pub fn new(endpoint: &OpenAi, model: impl Into<String>) -> Self {
        let model = model.into();
        Embeddings {
            api: EmbeddingsApi::of(endpoint),
            id: format!("openai/{model}"),
            model,
            dimensions: None,
            query: String::new(),
            document: String::new(),
            batch: (64, 100_000),
        }
    }

    /// Uses the model of `OPENAI_EMBEDDING_MODEL`, by default `text-embedding-3-small`, at the endpoint that `OPENAI_API_KEY` and
    /// `OPENAI_BASE_URL` name. If embeddings have a server of their own, `OPENAI_EMBEDDING_BASE_URL` names it, and
    /// `OPENAI_EMBEDDING_API_KEY` its key; `OPENAI_API_KEY` is not sent there. An empty variable counts as absent.
    ///
    /// # Errors
    /// Those of [`OpenAi::from_env`] and of its builder; `config_error` for a variable that is not Unicode.
    pub fn openai_from_env() -> Result<Self, NodeError> {
        Self::from_variables(|name| match std::env::var(name) {
            Ok(value) if !value.trim().is_empty() => Ok(Some(value)),
            Err(std::env::VarError::NotUnicode(_)) => Err(NodeError::new(
                Category::ConfigError,
                format!("{name} is not Unicode text"),
            )),
            _ => Ok(None),
        })
    }

    fn from_variables(
        read: impl Fn(&str) -> Result<Option<String>, NodeError>,
    ) -> Result<Self, NodeError> {
        let endpoint = match (read(BASE_URL)?, read(KEY)?) {
            (None, _) => OpenAi::from_env()?,
            (Some(url), Some(key)) => OpenAi::builder().base_url(url).api_key(key).build()?,
            (Some(url), None) => OpenAi::builder().base_url(url).build().map_err(|error| {
                let remedy = format!("{BASE_URL}: {}; {KEY} is not set", error.message);
                NodeError::new(error.category, remedy)
            })?,
        };
        Ok(Self::new(
            &endpoint,
            read(MODEL)?.unwrap_or_else(|| DEFAULT_MODEL.to_owned()),
        ))
    }

    /// Asks for vectors of this length. Only some models can do that; what another one returns is a `bad_response`, unless it is as
    /// long. Default: the model's own length.
    #[must_use]
    pub fn dimensions(mut self, dimensions: usize) -> Self {
        self.dimensions = Some(dimensions);
        self.with_updated_id()
    }

    /// Writes these words before each query and each document, as E5 and other models expect. Default: none. They are a part of the
    /// embedder's id.
    #[must_use]
    pub fn prefixes(mut self, query: impl Into<String>, document: impl Into<String>) -> Self {
        self.query = query.into();
        self.document = document.into();
        self.with_updated_id()
    }

    /// The id has all that changes the vectors.
    fn with_updated_id(mut self) -> Self {
        let mut id = format!("openai/{}", self.model);
        if let Some(dimensions) = self.dimensions {
            id.push_str(&format!("/{dimensions}"));
        }
        if !self.query.is_empty() || !self.document.is_empty() {
            id.push_str(&format!(" ({:?}, {:?})", self.query, self.document));
        }
        self.id = id;
        self
    }

    /// Sets the maximum texts of one request, and the maximum characters of all of them. Default: 64 and 100,000. A server that says
    /// that it takes fewer texts is believed: they are sent again in smaller requests. Set its limit to save the request that it
    /// refuses.
    #[must_use]
    pub fn batch(mut self, texts: usize, characters: usize) -> Self {
        self.batch = (texts, characters);
        self
    }
}

impl Embedder for Embeddings {
    fn embed<'a>(
        &'a self,
        request: &'a EmbedRequest<'a>,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Embedded, ModelError>> {
        let prefix = if request.purpose == Purpose::Query {
            &self.query
        } else {
            &self.document
        };
        let mut texts: Vec<Cow<'a, str>> = Vec::with_capacity(request.texts.len());
        for text in request.texts {
            texts.push(if prefix.is_empty() {
                Cow::Borrowed(*text)
            } else {
                Cow::Owned(format!("{prefix}{text}"))
            });
        }
        Box::pin(async move {
            let model = (self.model.as_str(), self.dimensions);
            let attempt = (request.correlation, request.attempt_timeout);
            let (vectors, completion) = self.api.embed(model, &texts, attempt, sink).await?;
            let mut embedded = Embedded::new(vectors);
            embedded.usage = completion.usage;
            embedded.model = completion.model;
            embedded.request_id = completion.request_id;
            Ok(embedded)
        })
    }

    fn id(&self) -> &str {
        &self.id
    }

    fn dimensions(&self) -> Option<usize> {
        self.dimensions
    }

    fn batch(&self) -> (usize, usize) {
        let (texts, characters) = self.batch;
        let most = match self.api.most_texts() {
            Some(most) => most.min(texts),
            None => texts,
        };
        (most, characters)
    }

    fn model(&self) -> Option<&str> {
        Some(&self.model)
    }

    fn provider(&self) -> &str {
        "openai"
    }

    fn server(&self) -> Option<(&str, u16)> {
        self.api.server()
    }

    fn retry_budget(&self) -> Option<&RetryBudget> {
        Some(self.api.retry_budget())
    }
}

impl std::fmt::Debug for Embeddings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Embeddings")
            .field("endpoint", &self.api.shown())
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embeddings_may_have_a_server_and_a_key_of_their_own() {
        let from = |url: &'static str, key: Option<&'static str>| {
            Embeddings::from_variables(|name| {
                let value = match name {
                    BASE_URL => Some(url),
                    KEY => key,
                    _ => None,
                };
                Ok(value.map(str::to_owned))
            })
        };
        let local = from("http://127.0.0.1:8000/v1", None).unwrap();
        assert_eq!(
            (local.server(), local.id()),
            (Some(("127.0.0.1", 8000)), "openai/text-embedding-3-small")
        );
        let remote = from("https://embed.example/v1", Some("a-secret-key")).unwrap();
        assert_eq!(remote.server(), Some(("embed.example", 443)));
        assert!(!format!("{remote:?}").contains("a-secret-key"));
        let error = from("https://embed.example/v1", None).unwrap_err();
        assert_eq!(error.category(), Category::ApiKeyError);
        assert!(
            error.message().contains(BASE_URL) && error.message().contains(KEY),
            "{error}"
        );
        assert_eq!(
            from("embed.example", None).unwrap_err().category(),
            Category::ConfigError
        );
    }
}
