//! Graphs from JSON: a file names nodes and edges, and a registry decides what they may use. Use it through the `llmnode` crate.
//!
//! A file is checked in stages when it is loaded: its parts, its paths, its data. Every mistake of a stage is listed once, with
//! its place and the name that was probably intended.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(clippy::print_stderr, clippy::print_stdout)]

mod check;
pub mod ext;
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
pub use graph::{CheckedRegistry, Graph, GraphNode, NodeContext, NodeLoader, NodeType, Registry};
#[cfg(feature = "openai")]
pub use profiles::{ProfileRules, Profiles};
pub use state::{State, Turn, Update};
pub use template::{MissingName, Template};
