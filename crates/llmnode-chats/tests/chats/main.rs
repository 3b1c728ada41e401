//! Conversations: what may happen to them, on all stores.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

mod contract;
mod parts;
mod pauses;
mod products;
mod support;
mod turns;
