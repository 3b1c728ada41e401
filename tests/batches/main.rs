//! Maps over batch APIs, against the stub server.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    missing_docs,
    reason = "tests"
)]

mod dropped;
mod ends;
mod full_disk;
#[path = "../../crates/llmnode-flow/tests/journal/killing.rs"]
mod killing;
#[cfg(unix)]
mod kills;
mod mends;
mod money;
mod once;
mod plain;
#[cfg(unix)]
mod real;
#[allow(dead_code, reason = "the tests of the runtime need more of it")]
#[path = "../../llmnode-runtime/tests/core/recorder.rs"]
mod recorder;
mod side_by_side;
mod streams;
mod support;
mod unused;
mod walk;
