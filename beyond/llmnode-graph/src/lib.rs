//! Graphs from JSON: a file names nodes and edges, and a registry decides what they may use. Use it through the `llmnode` crate.
//!
//! A file is checked in stages when it is loaded: its parts, its paths, its data. Every mistake of a stage is listed once, with
//! its place and the name that was probably intended.

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

#[doc(hidden)]
pub mod internal {
    //! For the other crates of llmnode.

    pub use crate::faults::locate;
    pub use crate::file::{exact_json, typed_input};
    pub use crate::graph::refused_arguments;
}

pub use faults::{Fault, FaultKind, GraphFaults};
pub use graph::{CheckedRegistry, Graph, GraphNode, NodeContext, NodeLoader, NodeType, Registry};
#[cfg(feature = "openai")]
pub use profiles::{ProfileRules, Profiles};
pub use state::{State, Turn, Update};
pub use template::{MissingName, Template};
