//! Every shape of type in every dialect: what is sent, whether it keeps the dialect's rules, and whether values of the
//! type come back as they were.

#![cfg(feature = "openai")]
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

#[path = "../real_llama/conforms.rs"]
mod conforms;
mod docs;
mod random;
#[path = "../../llmnode-runtime/src/output/schema/tests/rules.rs"]
mod rules;
mod shape;
mod shapes;
#[path = "../support/snapshot.rs"]
mod snapshot;
mod zoo;
