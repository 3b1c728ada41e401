//! Flows of [llmnode] on [Restate](https://restate.dev): they survive the death of
//! any machine, and wait for people without a process.
//!
//! A [`Worker`] executes flows and graphs; Restate keeps their journal, an entry at
//! a time, and gives a run to another worker if one dies. A
//! [`Client`] starts runs, says how they are doing, and brings decisions. `docs/many-machines.md` says when to use it, and what
//! happens at each failure.

mod client;
mod flow_service;
mod wire;
mod worker;
mod workflow;

pub use client::{Client, Taken};
pub use wire::{Decision, InDoubt, Outcome, Status};
pub use worker::Worker;
