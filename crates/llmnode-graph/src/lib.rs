//! Graphs from JSON: a file names nodes and edges, a registry says what they may be. Use it through the `llmnode` crate.
//!
//! A file is checked as a whole when it is loaded: every mistake is listed, once, with its place and what was likely meant.

#![warn(clippy::print_stderr, clippy::print_stdout)]

mod approval;
mod check;
mod compile;
mod door;
mod facts;
mod faults;
mod file;
mod folder;
mod graph;
mod load;
mod loaded;
mod nodes;
#[cfg(feature = "openai")]
mod profiles;
mod registry;
mod roles;
mod shape;
mod state;
mod step;
mod template;

pub use door::{GraphNode, Loading, NodeType, Visit};
pub use faults::{Fault, FaultKind, GraphFaults};
pub use graph::Graph;
#[cfg(feature = "openai")]
pub use profiles::{ProfileRules, Profiles};
pub use registry::{Registered, Registry};
pub use state::{State, Turn, Update};
pub use template::{MissingName, Template};
