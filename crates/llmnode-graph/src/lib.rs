//! Graphs from JSON: a file names nodes and edges, a registry says what they may be. Use it through the `llmnode` crate.
//!
//! A file is checked as a whole when it is loaded: every mistake is listed, once, with its place and what was likely meant.

#![warn(clippy::print_stderr, clippy::print_stdout)]
#![allow(dead_code, reason = "the registry is to come")]

mod check;
mod facts;
mod faults;
mod file;
#[cfg(feature = "openai")]
mod profiles;
mod shape;
mod template;

pub use faults::{Fault, FaultKind, GraphFaults};
#[cfg(feature = "openai")]
pub use profiles::{ProfileRules, Profiles};
pub use template::{MissingName, Template};
