//! The core through its public interface: no macros, no HTTP.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

mod attempts;
mod calls;
mod deadline;
mod dyn_node;
mod errors;
mod forms;
mod held;
mod hooks;
mod ledger;
mod limits;
mod maps;
mod models;
mod names;
mod outage;
mod provider;
mod recorder;
mod recovery;
mod report;
mod schedules;
mod settings;
mod spans;
mod streams;
mod support;
mod testkit;
mod unwinding;
mod waits;
mod ways_out;
