//! Stores of documents, embeddings, and the nodes that search and write them; use it through the `llmnode` crate.
//!
//! A store returns text that other people wrote. It goes into a prompt in a fence, as data, and never into a system message.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(clippy::print_stderr, clippy::print_stdout)]

mod chunks;
mod collection;
mod collection_config;
mod document;
mod embed;
mod fusion;
mod hash_embedder;
mod hits;
mod matrix;
mod memory;
#[cfg(feature = "openai")]
mod openai;
mod search;
mod store;
mod words;
mod write;

#[cfg(feature = "chroma")]
mod chroma;
#[cfg(feature = "graph")]
mod graph;
#[cfg(feature = "sqlite")]
mod sqlite;

#[cfg(feature = "chroma")]
pub use chroma::ChromaStore;
pub use collection::{Collection, CollectionBuilder};
pub use document::{Document, Metadata};
pub use embed::{EmbedRequest, Embedded, Embedder, Purpose};
#[cfg(feature = "graph")]
pub use graph::StoreExt;
pub use hash_embedder::HashEmbedder;
pub use hits::{Hit, Hits};
pub use memory::MemoryStore;
#[cfg(feature = "openai")]
pub use openai::Embeddings;
pub use search::{Search, SearchMode};
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;
pub use store::{
    Chunk, CollectionSize, Criterion, DocumentStore, EmbeddingSpace, IngestReport, KnownSources,
    Source, StoreQuery,
};
pub use write::Ingest;
