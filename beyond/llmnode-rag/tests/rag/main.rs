//! Stores, searches and embeddings, over every store.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

#[cfg(all(feature = "chroma", feature = "sqlite"))]
mod chroma;
mod collections;
#[cfg(all(feature = "openai", feature = "sqlite"))]
mod embeddings;
#[cfg(feature = "sqlite")]
mod files;
#[cfg(feature = "graph")]
mod graphs;
#[cfg(all(feature = "chroma", feature = "sqlite"))]
mod imitation;
mod prompts;
mod searches;
mod support;
mod writes;
