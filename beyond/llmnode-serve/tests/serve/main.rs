//! The page for graphs, over sockets.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

mod access;
mod client;
mod decisions;
#[path = "../../../llmnode-page/tests/dom.rs"]
mod dom;
mod files;
mod forged;
mod markup;
mod runs;
