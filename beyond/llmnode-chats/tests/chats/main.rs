//! Conversations: what may happen to them, on all stores.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

mod compacted;
mod contract;
mod flow_kills;
mod flows;
#[cfg(unix)]
#[path = "../../../../crates/llmnode-flow/tests/journal/killing.rs"]
mod killing;
mod kills;
mod parts;
mod pauses;
mod products;
mod property;
mod replayed;
mod support;
mod turns;
