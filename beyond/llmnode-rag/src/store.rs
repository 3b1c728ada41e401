//! The interface of document stores.

use std::collections::HashMap;
use std::ops::AddAssign;
use std::sync::Arc;

use llmnode_runtime::{BoxFuture, Category, NodeError};
use serde::{Deserialize, Serialize};

use crate::document::Metadata;
use crate::hits::Hit;

/// Keeps collections of documents, cut into chunks, and finds chunks by words and by vectors.
///
/// Programs use it through a [`Collection`](crate::Collection). Its errors are [`NodeError`]s with a category: `config_error` for what
/// the program has to change, `exec_error` for a fault of the store, and a server's categories for a store on a server.
pub trait DocumentStore: Send + Sync {
    /// Opens a collection, and creates it if it does not exist. A collection remembers the embedder and the length of its vectors.
    ///
    /// # Errors
    /// `config_error` if the collection was made with another embedder.
    fn open<'a>(
        &'a self,
        collection: &'a str,
        space: &'a EmbeddingSpace,
    ) -> BoxFuture<'a, Result<(), NodeError>>;

    /// Returns what the collection knows of these sources, so that nothing is embedded twice.
    fn known_sources<'a>(
        &'a self,
        collection: &'a str,
        sources: &'a [Source],
    ) -> BoxFuture<'a, Result<KnownSources, NodeError>>;

    /// Writes sources: each replaces all its old chunks. A chunk that several sources have is stored once, and stays until the last
    /// of its sources is gone. `dedup`: a chunk whose vector has at least this cosine with that of another chunk, in the store or among
    /// these, is not stored twice: one of them is used for both.
    ///
    /// A store in a file writes everything in one transaction.
    fn upsert<'a>(
        &'a self,
        collection: &'a str,
        sources: Vec<Source>,
        dedup: Option<f32>,
    ) -> BoxFuture<'a, Result<IngestReport, NodeError>>;

    /// Returns the best chunks, best first. Equal scores are in the order of the ids.
    fn search<'a>(
        &'a self,
        collection: &'a str,
        query: StoreQuery<'a>,
    ) -> BoxFuture<'a, Result<Vec<Hit>, NodeError>>;

    /// Deletes a source, and returns how many chunks were deleted with it.
    fn delete<'a>(
        &'a self,
        collection: &'a str,
        source: &'a str,
    ) -> BoxFuture<'a, Result<usize, NodeError>>;

    /// Returns how many sources and chunks the collection has.
    fn count<'a>(&'a self, collection: &'a str)
    -> BoxFuture<'a, Result<CollectionSize, NodeError>>;

    /// Returns what the store is, in the words of a configuration: `mode` (`local` or `server`) and its path or URL.
    fn place(&self) -> (&'static str, String);
}

/// The embedder of a collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EmbeddingSpace {
    /// Its id. `None`: the collection has no vectors.
    pub embedder: Option<String>,
    /// The length of its vectors. `None`: not known yet.
    pub dimensions: Option<usize>,
}

impl EmbeddingSpace {
    /// Describes a collection with the embedder of this id; `None`: without vectors.
    pub fn new(embedder: Option<String>, dimensions: Option<usize>) -> Self {
        EmbeddingSpace {
            embedder,
            dimensions,
        }
    }

    /// Checks that a collection which was made with this embedder can be opened with another.
    ///
    /// # Errors
    /// `config_error` if they differ.
    pub fn check(&self, collection: &str, space: &EmbeddingSpace) -> Result<(), NodeError> {
        // An unknown length is that of the vectors that come.
        let other_length = match (self.dimensions, space.dimensions) {
            (Some(existing), Some(other)) => existing != other,
            _ => false,
        };
        if self.embedder == space.embedder && !other_length {
            return Ok(());
        }
        let message = format!(
            "the collection {collection:?} was made with {}, and is opened with {}: open it with the one that it was made with, or \
             write the documents into another collection",
            self.describe(),
            space.describe()
        );
        Err(NodeError::new(Category::ConfigError, message))
    }

    fn describe(&self) -> String {
        match (&self.embedder, self.dimensions) {
            (None, _) => "no embedder".to_owned(),
            (Some(id), None) => format!("the embedder {id:?}"),
            (Some(id), Some(dimensions)) => {
                format!("the embedder {id:?} of {dimensions} dimensions")
            }
        }
    }
}

/// A document that is cut into chunks. Its `Debug` form shows no text.
#[derive(Clone)]
#[non_exhaustive]
pub struct Source {
    /// The document's source.
    pub name: String,
    /// A hash of the text, the metadata and the settings for cutting and embedding.
    pub fingerprint: String,
    /// The metadata of the document.
    pub metadata: Metadata,
    /// The chunks, in order, each text once.
    pub chunks: Vec<Chunk>,
}

impl Source {
    pub(crate) fn new(
        name: String,
        fingerprint: String,
        metadata: Metadata,
        chunks: Vec<Chunk>,
    ) -> Self {
        Source {
            name,
            fingerprint,
            metadata,
            chunks,
        }
    }
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let chunks = self.chunks.len();
        f.debug_struct("Source")
            .field("name", &self.name)
            .field("chunks", &chunks)
            .finish_non_exhaustive()
    }
}

/// A piece of a text.
#[derive(Clone)]
#[non_exhaustive]
pub struct Chunk {
    /// A hash of the text.
    pub id: String,
    /// The text.
    pub text: String,
    /// Its vector, of the length 1. `None`: the collection has none.
    pub vector: Option<Vec<f32>>,
}

impl Chunk {
    pub(crate) fn new(text: &str) -> Self {
        Chunk {
            id: id_of(text),
            text: text.to_owned(),
            vector: None,
        }
    }

    #[cfg_attr(
        not(feature = "sqlite"),
        expect(dead_code, reason = "stores in a file check it")
    )]
    pub(crate) fn clash(&self) -> NodeError {
        let message = format!(
            "two texts have the same id, {}; change one of them by a character",
            self.id
        );
        NodeError::new(Category::ExecError, message)
    }
}

/// FNV-1a of 128 bits, the same in all releases. Stores compare the texts as well.
fn id_of(text: &str) -> String {
    let hash = text.bytes().fold(
        0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128,
        |hash, byte| {
            (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
        },
    );
    format!("{hash:032x}")
}

/// What a collection knows of some sources.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct KnownSources {
    /// For each source, how many chunks it has if it is there with the same fingerprint.
    pub unchanged: Vec<Option<usize>>,
    /// The vectors of chunks whose texts the collection has, by the chunk's id.
    pub vectors: HashMap<String, Vec<f32>>,
}

/// A query to a store.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct StoreQuery<'a> {
    /// By words or by a vector.
    pub criterion: Criterion<'a>,
    /// The maximum number of hits.
    pub k: usize,
    /// Only documents with this metadata are searched.
    pub filter: &'a Metadata,
}

impl<'a> StoreQuery<'a> {
    pub(crate) fn new(criterion: Criterion<'a>, k: usize, filter: &'a Metadata) -> Self {
        StoreQuery {
            criterion,
            k,
            filter,
        }
    }
}

/// What a store searches by.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Criterion<'a> {
    /// By words; a chunk with any of them is a hit. They have no syntax. A word made of several, such as `ERR_NOT_FOUND`, is
    /// found as a whole.
    Words(&'a [String]),
    /// By a vector of the length 1.
    Vector(&'a [f32]),
}

/// The result of writing documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct IngestReport {
    /// Chunks that are new.
    pub chunks: usize,
    /// Chunks that existed before and stay.
    pub kept: usize,
    /// Old chunks of these sources that were removed.
    pub replaced: usize,
    /// Chunks that were not stored because another one has their text, or with `dedup` nearly their text.
    pub duplicates: usize,
    /// Chunks that are new and have a vector of zeros, as some servers return for texts that they cannot read. Words alone find them.
    #[serde(default)]
    pub zero_vectors: usize,
}

impl AddAssign for IngestReport {
    fn add_assign(&mut self, more: Self) {
        self.chunks += more.chunks;
        self.kept += more.kept;
        self.replaced += more.replaced;
        self.duplicates += more.duplicates;
        self.zero_vectors += more.zero_vectors;
    }
}

/// How much a collection has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CollectionSize {
    /// Sources, including those without a text.
    pub sources: usize,
    /// Chunks, each text once.
    pub chunks: usize,
}

impl CollectionSize {
    /// Creates a count from these numbers.
    pub fn new(sources: usize, chunks: usize) -> Self {
        CollectionSize { sources, chunks }
    }
}

pub(crate) fn not_open(collection: &str) -> NodeError {
    NodeError::new(
        Category::NotFound,
        format!("there is no collection {collection:?}; open it first"),
    )
}

pub(crate) fn wrong_length(expected: usize, came: usize) -> NodeError {
    let message = format!(
        "the collection's vectors have {expected} numbers, and one of {came} came; the embedder is not the one that it was made with"
    );
    NodeError::new(Category::ConfigError, message)
}

impl<T: DocumentStore + ?Sized> DocumentStore for Arc<T> {
    fn open<'a>(
        &'a self,
        collection: &'a str,
        space: &'a EmbeddingSpace,
    ) -> BoxFuture<'a, Result<(), NodeError>> {
        (**self).open(collection, space)
    }

    fn known_sources<'a>(
        &'a self,
        collection: &'a str,
        sources: &'a [Source],
    ) -> BoxFuture<'a, Result<KnownSources, NodeError>> {
        (**self).known_sources(collection, sources)
    }

    fn upsert<'a>(
        &'a self,
        collection: &'a str,
        sources: Vec<Source>,
        dedup: Option<f32>,
    ) -> BoxFuture<'a, Result<IngestReport, NodeError>> {
        (**self).upsert(collection, sources, dedup)
    }

    fn search<'a>(
        &'a self,
        collection: &'a str,
        query: StoreQuery<'a>,
    ) -> BoxFuture<'a, Result<Vec<Hit>, NodeError>> {
        (**self).search(collection, query)
    }

    fn delete<'a>(
        &'a self,
        collection: &'a str,
        source: &'a str,
    ) -> BoxFuture<'a, Result<usize, NodeError>> {
        (**self).delete(collection, source)
    }

    fn count<'a>(
        &'a self,
        collection: &'a str,
    ) -> BoxFuture<'a, Result<CollectionSize, NodeError>> {
        (**self).count(collection)
    }

    fn place(&self) -> (&'static str, String) {
        (**self).place()
    }
}
