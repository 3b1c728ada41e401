//! The examples on a real Postgres: `scripts/postgres` starts it and runs these.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

#[cfg(feature = "dbos")]
mod dbos;
mod kills;
mod support;
mod twice;
