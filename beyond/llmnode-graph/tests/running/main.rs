//! Graphs that run.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

mod agents;
mod approvals;
mod compacted;
mod killed;
mod loading;
mod nodes;
mod random;
mod support;
mod watched;
mod whole;
