//! Flows on a real Restate: `scripts/restate` installs it and runs these.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

mod approval;
mod asks;
mod chats;
mod decisions;
mod deployed;
mod failures;
mod figures;
mod kills;
mod many;
mod support;
mod talk;
mod work;
