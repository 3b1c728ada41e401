//! The core through its public interface: no macros, no HTTP.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

mod attempts;
mod calls;
mod ledger;
mod support;
