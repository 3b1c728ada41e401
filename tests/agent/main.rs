//! Nodes with tools: the loop, the outcomes of calls, and the same over sockets.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, missing_docs, reason = "tests")]

#[cfg(all(feature = "anthropic", feature = "journal"))]
mod anthropic;
mod approval;
#[cfg(all(feature = "openai", feature = "stub-server"))]
mod carried;
mod flows;
#[cfg(feature = "journal")]
mod killed;
mod library;
mod nested;
mod outcomes;
mod paused;
#[cfg(feature = "journal")]
mod repeated;
mod requests;
mod rounds;
mod streams;
mod toolsets;
#[cfg(all(feature = "openai", feature = "stub-server"))]
mod wire;
