//! Embeddings: the trait of embedders, and the node that calls them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use llmnode_runtime::ext::{OtherRequest, send_request};

use llmnode_runtime::{
    AttemptId, BoxError, BoxFuture, Category, Completion, Cx, Exec, ModelError, Node, NodeError,
    NodeFacts, RetryBudget, Sink, TokenUsage,
};

use crate::matrix::normalise;

/// What texts are embedded for: some models need to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Purpose {
    /// Documents, which are to be found.
    Document,
    /// A query, which finds documents.
    Query,
}

/// A request to an embedder.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EmbedRequest<'a> {
    /// The texts, at least one, none of them empty.
    pub texts: &'a [&'a str],
    /// Whether these are documents or a query.
    pub purpose: Purpose,
    /// The id of the attempt, for the provider's logs. `None`: the request is not in the ledger.
    pub correlation: Option<AttemptId>,
    /// The longest time of the attempt. `None`: the embedder's own.
    pub attempt_timeout: Option<Duration>,
}

/// The vectors of the texts that were asked for. Its `Debug` form does not show them.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Embedded {
    /// One for each text, in the same order.
    pub vectors: Vec<Vec<f32>>,
    /// The tokens, as the provider reports them. `None`: unknown.
    pub usage: Option<TokenUsage>,
    /// The model that answered, as the provider names it.
    pub model: Option<String>,
    /// The provider's id of the request.
    pub request_id: Option<String>,
}

impl Embedded {
    /// Creates vectors without further information.
    pub fn new(vectors: Vec<Vec<f32>>) -> Self {
        Embedded {
            vectors,
            ..Embedded::default()
        }
    }
}

impl std::fmt::Debug for Embedded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let vectors = self.vectors.len();
        f.debug_struct("Embedded")
            .field("vectors", &vectors)
            .field("usage", &self.usage)
            .finish_non_exhaustive()
    }
}

/// Turns texts into vectors: texts with similar meanings get vectors with similar directions.
///
/// [`HashEmbedder`](crate::HashEmbedder) needs no model, and `Embeddings` calls servers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an embedder",
    label = "not an embedder",
    note = "`Embeddings::openai_from_env()?` asks the model that the environment names, `Embeddings::new(&model, \"name\")` another one, \
            and `HashEmbedder::new(256)` needs no model"
)]
pub trait Embedder: Send + Sync {
    /// Embeds the texts, with at most one request. Retries and accounting belong to the call around it. Dropping the future cancels the
    /// request.
    ///
    /// # Errors
    /// A [`ModelError`] with a category, like that of a model.
    fn embed<'a>(
        &'a self,
        request: &'a EmbedRequest<'a>,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Embedded, ModelError>>;

    /// Returns an id for its kind of vectors, such as `"openai/text-embedding-3-small"`. A collection remembers it.
    fn id(&self) -> &str;

    /// Returns the length of its vectors. `None`: it is taken from the first vectors.
    fn dimensions(&self) -> Option<usize>;

    /// Returns whether it makes no requests. Then nothing is accounted. Default: `false`.
    fn is_local(&self) -> bool {
        false
    }

    /// Returns the maximum texts of a request, and the maximum characters of all of them; a single text may be longer. It may become
    /// less: texts of a request that was refused are then sent again in smaller ones. Default: 64 texts and 100,000 characters.
    fn batch(&self) -> (usize, usize) {
        (64, 100_000)
    }

    /// Returns the id of the model, which is used to look up prices. Default: unknown.
    fn model(&self) -> Option<&str> {
        None
    }

    /// Returns the provider as in OpenTelemetry's `gen_ai.provider.name`. Default: `"custom"`.
    fn provider(&self) -> &str {
        "custom"
    }

    /// Returns the host and port of the server. Default: unknown.
    fn server(&self) -> Option<(&str, u16)> {
        None
    }

    /// Returns the retry budget that all calls of the endpoint share. Default: no such limit.
    fn retry_budget(&self) -> Option<&RetryBudget> {
        None
    }
}

impl<T: Embedder + ?Sized> Embedder for Arc<T> {
    fn embed<'a>(
        &'a self,
        request: &'a EmbedRequest<'a>,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Embedded, ModelError>> {
        (**self).embed(request, sink)
    }

    fn id(&self) -> &str {
        (**self).id()
    }

    fn dimensions(&self) -> Option<usize> {
        (**self).dimensions()
    }

    fn is_local(&self) -> bool {
        (**self).is_local()
    }

    fn batch(&self) -> (usize, usize) {
        (**self).batch()
    }

    fn model(&self) -> Option<&str> {
        (**self).model()
    }

    fn provider(&self) -> &str {
        (**self).provider()
    }

    fn server(&self) -> Option<(&str, u16)> {
        (**self).server()
    }

    fn retry_budget(&self) -> Option<&RetryBudget> {
        (**self).retry_budget()
    }
}

/// The node that embeds texts. Its vectors have the length 1, so that a product of two is their cosine.
pub(crate) struct Embedding<'a> {
    pub(crate) embedder: &'a dyn Embedder,
    pub(crate) texts: &'a [&'a str],
    pub(crate) purpose: Purpose,
}

impl Node for Embedding<'_> {
    type Output = Vec<Vec<f32>>;
    const NAME: &'static str = "embeddings";
    const FACTS: NodeFacts = NodeFacts::new()
        .description("Makes vectors of texts.")
        .retries_itself(true);
}

impl<S: ?Sized + Sync> Exec<S> for Embedding<'_> {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<Vec<Vec<f32>>, BoxError> {
        let mut vectors = if self.embedder.is_local() {
            let request = self.request(None, None);
            let embedded = self.embedder.embed(&request, &mut NullSink).await;
            self.checked(embedded).map_err(|error| {
                NodeError::new(error.category, error.message.clone()).with_source(error)
            })?
        } else {
            let requests = EmbeddingRequests {
                of: self,
                vectors: Mutex::default(),
            };
            send_request(cx, &requests).await?;
            requests
                .vectors
                .into_inner()
                .unwrap_or_else(std::sync::PoisonError::into_inner)
        };
        for vector in &mut vectors {
            normalise(vector);
        }
        Ok(vectors)
    }
}

impl Embedding<'_> {
    fn request(&self, id: Option<AttemptId>, timeout: Option<Duration>) -> EmbedRequest<'_> {
        let Embedding { texts, purpose, .. } = *self;
        EmbedRequest {
            texts,
            purpose,
            correlation: id,
            attempt_timeout: timeout,
        }
    }

    /// The vectors, if they can be those of the texts. A failure keeps what was used.
    fn checked(&self, embedded: Result<Embedded, ModelError>) -> Result<Vec<Vec<f32>>, ModelError> {
        let Embedded { vectors, usage, .. } = embedded?;
        let Some(fault) = self.fault(&vectors) else {
            return Ok(vectors);
        };
        let id = self.embedder.id();
        let message = format!("the embedder {id:?} {fault}");
        let mut error = ModelError::new(Category::BadResponse, message);
        error.usage = usage.map(Box::new);
        Err(error)
    }

    /// What is wrong with the vectors.
    fn fault(&self, vectors: &[Vec<f32>]) -> Option<String> {
        let texts = self.texts.len();
        if vectors.len() != texts {
            return Some(format!(
                "returned {} vectors for {texts} texts",
                vectors.len()
            ));
        }
        let first_length = vectors.first().map(Vec::len);
        let length = self.embedder.dimensions().or(first_length).unwrap_or(0);
        for vector in vectors {
            if vector.len() != length || length == 0 {
                return Some(format!(
                    "returned a vector of {} numbers in place of {length}",
                    vector.len()
                ));
            }
        }
        let are_finite = vectors.iter().flatten().all(|number| number.is_finite());
        (!are_finite).then(|| "returned a number that is not finite".to_owned())
    }
}

/// The requests of one embedding, with the vectors of the one that succeeded.
struct EmbeddingRequests<'a> {
    of: &'a Embedding<'a>,
    vectors: Mutex<Vec<Vec<f32>>>,
}

impl OtherRequest for EmbeddingRequests<'_> {
    fn operation(&self) -> &'static str {
        "embeddings"
    }

    fn provider(&self) -> &str {
        self.of.embedder.provider()
    }

    fn model(&self) -> Option<&str> {
        self.of.embedder.model()
    }

    fn server(&self) -> Option<(&str, u16)> {
        self.of.embedder.server()
    }

    fn retry_budget(&self) -> Option<&RetryBudget> {
        self.of.embedder.retry_budget()
    }

    fn tokens(&self) -> u64 {
        let characters: usize = self.of.texts.iter().map(|text| text.chars().count()).sum();
        characters as u64 / 4
    }

    fn bytes(&self) -> u64 {
        self.of.texts.iter().map(|text| text.len() as u64).sum()
    }

    fn send<'a>(
        &'a self,
        id: AttemptId,
        timeout: Option<Duration>,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        Box::pin(async move {
            let request = self.of.request(Some(id), timeout);
            let embedded = self.of.embedder.embed(&request, sink).await;
            let mut completion = Completion::default();
            if let Ok(embedded) = &embedded {
                completion.usage = embedded.usage;
                completion.model.clone_from(&embedded.model);
                completion.request_id.clone_from(&embedded.request_id);
            }
            let vectors = self.of.checked(embedded)?;
            *self
                .vectors
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner) = vectors;
            Ok(completion)
        })
    }
}

/// A local embedder has nothing to report.
struct NullSink;

impl Sink for NullSink {
    fn request_id(&mut self, _: &str) {}
    fn usage(&mut self, _: TokenUsage) {}
}

/// The texts of each request. A text that is longer than a request may be is alone in one.
pub(crate) fn batches<'t, 'a>(
    texts: &'a [&'t str],
    (count, characters): (usize, usize),
) -> Vec<&'a [&'t str]> {
    let mut batches = Vec::new();
    let mut begin = 0;
    let mut used = 0;
    for (index, text) in texts.iter().enumerate() {
        let length = text.chars().count();
        let is_full = index - begin >= count.max(1) || used + length > characters;
        if index > begin && is_full {
            batches.push(&texts[begin..index]);
            begin = index;
            used = 0;
        }
        used += length;
    }
    if begin < texts.len() {
        batches.push(&texts[begin..]);
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_by_count_and_by_characters() {
        let texts = ["aa", "bb", "cccccc", "d", "e"];
        assert_eq!(
            batches(&texts, (2, 100)),
            [&["aa", "bb"][..], &["cccccc", "d"], &["e"]]
        );
        assert_eq!(
            batches(&texts, (9, 5)),
            [&["aa", "bb"][..], &["cccccc"], &["d", "e"]]
        );
        assert!(batches(&[], (2, 2)).is_empty());
        assert_eq!(batches(&texts[..1], (0, 0)), [&["aa"][..]]);
    }
}
