//! The core through its public interface: no macros, no HTTP.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

mod attempts;
mod calls;
mod errors;
mod forms;
mod ledger;
mod outage;
mod recovery;
mod report;
mod schedules;
mod settings;
mod support;
mod testkit;
mod ways_out;
