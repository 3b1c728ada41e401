//! The page for graphs, over sockets.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

mod access;
mod client;
mod decisions;
mod files;
mod forged;
mod runs;
