//! Every shape of type in every response format: what is sent, whether it keeps the rules of the format, and whether
//! values of the type come back as they were.

#![cfg(feature = "openai")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

#[path = "../real_llama/conforms.rs"]
mod conforms;
mod docs;
mod llama;
mod parameters;
mod random;
#[path = "../../crates/llmnode-reader/src/schema/tests/rules.rs"]
mod rules;
mod shape;
mod shapes;
#[path = "../support/snapshot.rs"]
mod snapshot;
mod zoo;
