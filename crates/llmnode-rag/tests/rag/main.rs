//! Stores, searches and embeddings, over every store.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

mod collections;
#[cfg(all(feature = "openai", feature = "sqlite"))]
mod embeddings;
#[cfg(feature = "sqlite")]
mod files;
mod prompts;
mod searches;
mod support;
mod writes;
