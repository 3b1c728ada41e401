//! A search, as a node: by words, by meaning, or by both.

use std::fmt;
use std::sync::Arc;

use llmnode_runtime::{BoxError, Category, Cx, Exec, Node, NodeError, NodeFacts};
use serde_json::Value;

use crate::collection_config::CollectionConfig;
use crate::document::{Metadata, check_metadata};
use crate::embed::{Embedding, Purpose};
use crate::fusion::reciprocal_rank_fusion;
use crate::hits::{Hit, Hits};
use crate::store::{Criterion, StoreQuery};
use crate::words;

/// Hits of each list before the two are merged, per requested hit.
const CANDIDATE_FACTOR: usize = 4;

/// How a search compares the query with chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SearchMode {
    /// By the words of the query.
    Words,
    /// By its vector.
    Vector,
    /// By both: a chunk that ranks high in either list is found.
    Both,
}

/// A search of a [`Collection`](crate::Collection). It is a node: `run.call(&search)`, `cx.call(&search)`. The request for the
/// query's vector is a separate call within it, `embeddings`.
///
/// ```
/// # mod llmnode { pub use llmnode_runtime::*; pub mod rag { pub use llmnode_rag::*; } }
/// use llmnode::rag::{Collection, Document, HashEmbedder, MemoryStore};
/// use llmnode::{NodeError, Run, ScriptedModel};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// let docs = Collection::builder(MemoryStore::new(), "docs").embedder(HashEmbedder::new(256)).open().await?;
/// let run = Run::new(ScriptedModel::new());
/// let pages = [Document::new("hours", "We open at nine."), Document::new("prices", "A ticket is 4 euros.")];
/// run.call(&docs.write_all(pages)).await?;
/// let hits = run.call(&docs.search("What does a ticket cost?").k(1)).await?;
/// assert_eq!(hits[0].source, "prices");
///
/// # Ok::<(), NodeError>(()) }).unwrap();
/// ```
#[derive(Clone)]
#[must_use = "a search does nothing until it is called"]
pub struct Search {
    docs: Arc<CollectionConfig>,
    query: String,
    k: usize,
    by: Option<SearchMode>,
    filter: Metadata,
}

impl Search {
    pub(crate) fn new(docs: Arc<CollectionConfig>, query: String) -> Self {
        Search {
            docs,
            query,
            k: 5,
            by: None,
            filter: Metadata::new(),
        }
    }

    /// Sets the maximum number of hits. Default: 5.
    pub fn k(mut self, k: usize) -> Self {
        self.k = k;
        self
    }

    /// Sets how to search. Default: by both; without an embedder, by words.
    pub fn by(mut self, by: SearchMode) -> Self {
        self.by = Some(by);
        self
    }

    /// Finds only documents with this metadata. If there are several filters, all must match.
    pub fn filter(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.filter.insert(name.into(), value.into());
        self
    }

    /// How to search, if that is possible.
    fn check(&self) -> Result<SearchMode, NodeError> {
        if let Err(why) = check_metadata(&self.filter) {
            return Err(config_error(format!("the search filters by {why}")));
        }
        match (self.by, &self.docs.embedder) {
            (None, None) => Ok(SearchMode::Words),
            (None, Some(_)) => Ok(SearchMode::Both),
            (Some(SearchMode::Words), _) => Ok(SearchMode::Words),
            (Some(by), Some(_)) => Ok(by),
            (Some(_), None) => Err(config_error(format!(
                "the collection {:?} has no embedder, so it cannot be searched by vectors; open it with one, or search `SearchMode::Words`",
                self.docs.name
            ))),
        }
    }

    async fn search_store(
        &self,
        criterion: Criterion<'_>,
        k: usize,
    ) -> Result<Vec<Hit>, NodeError> {
        let query = StoreQuery::new(criterion, k, &self.filter);
        self.docs.store.search(&self.docs.name, query).await
    }

    async fn by_words(&self, k: usize) -> Result<Vec<Hit>, NodeError> {
        let words = words::query_words(&self.query);
        if words.is_empty() {
            return Ok(Vec::new());
        }
        self.search_store(Criterion::Words(&words), k).await
    }

    async fn by_vector<S: ?Sized + Sync>(
        &self,
        cx: &Cx<'_, S>,
        k: usize,
    ) -> Result<Vec<Hit>, NodeError> {
        let Some(embedder) = self.docs.embedder.as_deref() else {
            return Ok(Vec::new());
        };
        let texts = [self.query.as_str()];
        let embedding = Embedding {
            embedder,
            texts: &texts,
            purpose: Purpose::Query,
        };
        let vectors = cx.call(&embedding).await?;
        match vectors.first() {
            Some(vector) if has_direction(vector) => {
                self.search_store(Criterion::Vector(vector), k).await
            }
            _ => Ok(Vec::new()),
        }
    }
}

fn config_error(message: String) -> NodeError {
    NodeError::new(Category::ConfigError, message)
}

/// A zero vector has none, and is near to nothing.
fn has_direction(vector: &[f32]) -> bool {
    vector.iter().any(|number| *number != 0.0)
}

#[diagnostic::do_not_recommend]
impl Node for Search {
    type Output = Hits;
    const NAME: &'static str = "search";
    const FACTS: NodeFacts = NodeFacts::new().description("Finds pieces of documents.");
}

#[diagnostic::do_not_recommend]
impl<S: ?Sized + Sync> Exec<S> for Search {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<Hits, BoxError> {
        let by = self.check()?;
        if self.k == 0 || self.query.trim().is_empty() {
            return Ok(Hits::default());
        }
        let mut hits = match by {
            SearchMode::Words => self.by_words(self.k).await?,
            SearchMode::Vector => self.by_vector(cx, self.k).await?,
            SearchMode::Both => {
                let wider = self.k.saturating_mul(CANDIDATE_FACTOR);
                let by_vector = self.by_vector(cx, wider).await?;
                let by_words = self.by_words(wider).await?;
                reciprocal_rank_fusion([by_words, by_vector], self.k)
            }
        };
        for (index, hit) in hits.iter_mut().enumerate() {
            hit.rank = index + 1;
        }
        Ok(hits.into_iter().collect())
    }
}

impl fmt::Debug for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Search {
            docs, query, k, by, ..
        } = self;
        f.debug_struct("Search")
            .field("collection", &docs.name)
            .field("query", &format_args!("{} bytes", query.len()))
            .field("k", k)
            .field("by", by)
            .finish_non_exhaustive()
    }
}
