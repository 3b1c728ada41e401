//! A collection of documents in a store, with what it takes to write and to search it.

use std::fmt;
use std::sync::Arc;

use llmnode_runtime::{Category, NodeError};

use crate::chunks::Chunker;
use crate::collection_config::CollectionConfig;
use crate::document::IntoDocument;
use crate::embed::Embedder;
use crate::search::Search;
use crate::store::{CollectionSize, DocumentStore, EmbeddingSpace};
use crate::write::Ingest;

/// Documents in a store that are searched together. It is a cheap handle: a state or a node may hold one.
///
/// ```
/// # use llmnode_runtime as llmnode_runtime_;
/// # mod llmnode { pub use llmnode_runtime::*; pub mod rag { pub use llmnode_rag::*; } }
/// use llmnode::rag::{Collection, Document, HashEmbedder, MemoryStore};
/// use llmnode::{Run, ScriptedModel};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let docs = Collection::builder(MemoryStore::new(), "docs").embedder(HashEmbedder::new(256)).open().await?;
/// let run = Run::new(ScriptedModel::new());
///
/// run.call(&docs.write(Document::new("house.md", "The key is under the mat."))).await?;
/// let hits = run.call(&docs.search("where is the key").k(3)).await?;
/// assert_eq!(hits[0].source, "house.md");
/// # Ok::<(), llmnode_runtime::NodeError>(()) }).unwrap();
/// ```
#[derive(Clone)]
pub struct Collection(Arc<CollectionConfig>);

impl Collection {
    /// Begins a collection of this name in a store. Names have 1 to 64 of `a-z A-Z 0-9 _ -`.
    pub fn builder(
        store: impl DocumentStore + 'static,
        name: impl Into<String>,
    ) -> CollectionBuilder {
        CollectionBuilder(CollectionConfig {
            name: name.into(),
            store: Arc::new(store),
            embedder: None,
            chunker: Chunker {
                size: 1000,
                overlap: 200,
            },
            dedup: None,
        })
    }

    /// Returns a node that searches: `cx.call(&docs.search("where is the key").k(3))`, or the same on a run.
    pub fn search(&self, query: impl Into<String>) -> Search {
        Search::new(Arc::clone(&self.0), query.into())
    }

    /// Returns a node that writes a document. A source that was written before loses its old text in the same transaction; one
    /// that has not changed is left as it is, and nothing is embedded.
    pub fn write(&self, document: impl IntoDocument) -> Ingest {
        self.write_all([document])
    }

    /// Returns a node that writes documents. Their chunks are embedded together, and they are written in groups, each in one
    /// transaction: after a failure, the same call continues with the missing sources.
    pub fn write_all(&self, documents: impl IntoIterator<Item: IntoDocument>) -> Ingest {
        let documents = documents
            .into_iter()
            .map(IntoDocument::into_document)
            .collect();
        Ingest::new(Arc::clone(&self.0), documents)
    }

    /// Deletes a source, and returns how many chunks were deleted with it.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn delete(&self, source: &str) -> Result<usize, NodeError> {
        self.0.store.delete(&self.0.name, source).await
    }

    /// Returns how many sources and chunks the collection has.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn count(&self) -> Result<CollectionSize, NodeError> {
        self.0.store.count(&self.0.name).await
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }
}

impl fmt::Debug for Collection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let embedder = self.0.embedder.as_ref().map(|embedder| embedder.id());
        f.debug_struct("Collection")
            .field("name", &self.0.name)
            .field("embedder", &embedder)
            .finish_non_exhaustive()
    }
}

/// Settings of a [`Collection`].
#[must_use = "a builder does nothing until `open`"]
pub struct CollectionBuilder(CollectionConfig);

impl CollectionBuilder {
    /// Sets the embedder, which turns texts into vectors. Without one, searches are by words alone.
    pub fn embedder(mut self, embedder: impl Embedder + 'static) -> Self {
        self.0.embedder = Some(Arc::new(embedder));
        self
    }

    /// Sets the maximum characters of a chunk, and how many of them the next chunk repeats. Default: 1,000 and 200.
    pub fn chunks(mut self, size: usize, overlap: usize) -> Self {
        self.0.chunker = Chunker { size, overlap };
        self
    }

    /// Stores no chunk whose vector has at least this cosine with that of another chunk; 0.95 is a good value. Default: only equal texts
    /// are stored once.
    pub fn dedup(mut self, cosine: f32) -> Self {
        self.0.dedup = Some(cosine);
        self
    }

    #[doc(hidden)]
    pub fn search<'a>(&'a self, query: impl Into<String>) -> Search
    where
        for<'b> &'b &'a Self: BeforeOpen,
    {
        Search::new(Arc::new(self.0.clone()), query.into())
    }

    /// Opens the collection, and creates it if it does not exist.
    ///
    /// # Errors
    /// `config_error` for an invalid setting, and if the collection was made with another embedder; those of the store.
    pub async fn open(self) -> Result<Collection, NodeError> {
        let CollectionBuilder(docs) = self;
        if let Some(fault) = fault_of_settings(&docs) {
            return Err(NodeError::new(Category::ConfigError, fault));
        }
        let embedder = docs.embedder.as_deref();
        let space = EmbeddingSpace::new(
            embedder.map(|embedder| embedder.id().to_owned()),
            embedder.and_then(Embedder::dimensions),
        );
        docs.store.open(&docs.name, &space).await?;
        Ok(Collection(Arc::new(docs)))
    }
}

/// What is wrong with the settings of a collection.
fn fault_of_settings(docs: &CollectionConfig) -> Option<String> {
    let name = &docs.name;
    if !is_collection_name(name) {
        return Some(format!(
            "{name:?} is no name of a collection; use 1 to 64 of a-z A-Z 0-9 _ -"
        ));
    }
    if let Some(why) = docs.chunker.fault() {
        return Some(why);
    }
    match (docs.dedup, &docs.embedder) {
        (Some(cosine), _) if !(cosine > 0.0 && cosine <= 1.0) => Some(format!(
            "dedup is {cosine}; it is a cosine, above 0 and at most 1"
        )),
        (Some(_), None) => {
            Some("dedup compares vectors, and the collection has no embedder".to_owned())
        }
        _ => None,
    }
}

/// Whether each store can have a collection of this name: Chroma allows the least.
pub(crate) fn is_collection_name(name: &str) -> bool {
    let is_short = (1..=64).contains(&name.len());
    is_short
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}
/// The compiler's message for a collection that is not open. No type implements it.
#[diagnostic::on_unimplemented(
    message = "a collection is searched when it is open",
    label = "not open",
    note = "write `.open().await?` at the end of the builder"
)]
pub trait BeforeOpen {}

impl fmt::Debug for CollectionBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CollectionBuilder")
            .field("name", &self.0.name)
            .finish_non_exhaustive()
    }
}
