//! Nodes with tools: the loop, the outcomes of calls, and the same over sockets.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    missing_docs,
    reason = "tests"
)]

#[cfg(all(feature = "anthropic", feature = "journal"))]
mod anthropic;
#[cfg(all(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod apis;
mod approval;
#[cfg(all(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod cache;
#[cfg(all(feature = "anthropic", feature = "openai", feature = "stub-server"))]
mod cache_kept;
#[cfg(all(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod calls_in_text;
#[cfg(all(feature = "openai", feature = "stub-server"))]
mod carried;
#[cfg(all(
    feature = "anthropic",
    feature = "cassette",
    feature = "gemini",
    feature = "openai"
))]
mod cassettes;
mod changed;
mod compacted;
#[cfg(all(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod compacted_apis;
#[cfg(all(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod default_limit;
mod deferred;
#[cfg(all(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod deferred_native;
#[cfg(feature = "journal")]
mod engine;
#[cfg(all(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod extra_on;
mod flows;
#[cfg(all(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod gemini;
#[cfg(all(
    feature = "anthropic",
    feature = "gemini",
    feature = "openai",
    feature = "stub-server"
))]
mod headers;
#[cfg(all(
    feature = "anthropic",
    feature = "cassette",
    feature = "gemini",
    feature = "journal",
    feature = "openai"
))]
mod keys;
#[cfg(feature = "journal")]
mod killed;
#[cfg(feature = "journal")]
mod killed_asks;
#[cfg(feature = "journal")]
mod killed_compaction;
#[cfg(feature = "journal")]
mod killed_search;
#[cfg(feature = "journal")]
mod killed_summary;
#[cfg(all(feature = "anthropic", feature = "journal"))]
mod killed_thoughts;
mod library;
#[cfg(all(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod names;
mod nested;
mod outcomes;
#[cfg(all(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod parameters;
mod paused;
#[cfg(all(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod providers;
#[cfg(all(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod reasoning;
#[cfg(all(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod refusals;
#[cfg(feature = "journal")]
mod repeated;
#[cfg(all(
    feature = "anthropic",
    feature = "gemini",
    feature = "openai",
    feature = "stub-server"
))]
mod replies;
mod requests;
#[cfg(all(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod responses;
#[cfg(all(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod returned;
mod rounds;
#[cfg(all(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod spent;
mod streams;
#[cfg(all(
    feature = "anthropic",
    feature = "gemini",
    feature = "journal",
    feature = "openai"
))]
mod summed_up;
#[cfg(all(
    feature = "anthropic",
    feature = "cassette",
    feature = "gemini",
    feature = "openai"
))]
mod switch;
mod toolsets;
mod turns;
mod unfinished;
#[cfg(all(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod valid;
#[cfg(all(feature = "openai", feature = "stub-server"))]
mod wire;

#[cfg(all(feature = "anthropic", feature = "gemini", feature = "openai"))]
#[allow(dead_code, reason = "what is enforced is checked with the dialects")]
#[path = "../../crates/llmnode-reader/src/schema/tests/rules.rs"]
mod rules;

#[cfg(any(feature = "anthropic", feature = "gemini"))]
#[path = "../support/recorded.rs"]
mod recorded;
#[cfg(all(feature = "anthropic", feature = "gemini", feature = "openai"))]
#[path = "../support/said.rs"]
mod said;
#[cfg(all(feature = "anthropic", feature = "gemini", feature = "openai"))]
#[allow(dead_code, reason = "here it listens to one thread")]
#[path = "../../examples/cases/sinks.rs"]
mod sinks;
