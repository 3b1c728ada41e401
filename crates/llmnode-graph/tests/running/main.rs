//! Graphs that run.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

mod agents;
mod nodes;
mod support;
