//! Smart nodes, as a program sees them.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

mod answers;
mod forms;
mod programs;
mod refine;
mod support;
