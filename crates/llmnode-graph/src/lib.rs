//! Graphs from JSON: a file names nodes and edges, a registry says what they may be. Use it through the `llmnode` crate.
//!
//! A file is checked as a whole when it is loaded: every mistake is listed, once, with its place and what was likely meant.

#![warn(clippy::print_stderr, clippy::print_stdout)]

mod check;
mod facts;
mod faults;
mod file;
mod graph;
#[cfg(feature = "openai")]
mod profiles;
mod shape;
mod state;
mod template;

pub use faults::{Fault, FaultKind, GraphFaults};
pub use graph::{Graph, GraphNode, Loading, NodeType, Registered, Registry, Visit};
#[cfg(feature = "openai")]
pub use profiles::{ProfileRules, Profiles};
pub use state::{State, Turn, Update};
pub use template::{MissingName, Template};
