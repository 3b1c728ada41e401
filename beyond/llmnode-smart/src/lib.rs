//! Smart nodes: a goal, fields and examples instead of a prompt, and optimisers for them. Use it through the `llmnode` crate.
//!
//! The modules, from the bottom up: `signature` (inputs and outputs), `form` (how they are written and read),
//! `program` (replaces the node's own words), `node` (runs a node with a goal), `refine` (several tries), `graph`
//! (smart nodes in graphs), `ext` (the methods of a run), and `optimise` (makes a node better, by the
//! scores of `llmnode-eval`).

#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(clippy::print_stderr, clippy::print_stdout)]

mod ext;
mod form;
#[doc(hidden)]
pub mod generated;
#[cfg(feature = "graph")]
mod graph;
mod node;
pub mod optimise;
mod program;
mod refine;
mod signature;

pub use ext::SmartExt;
#[cfg(feature = "graph")]
pub use graph::SmartRegistry;
#[doc(no_inline)]
pub use llmnode_eval as evaluate;
pub use node::{Thought, WithReasoning};
pub use program::{Program, ProgramError, ProgramFault, Provenance, ProvenanceScores};
pub use refine::{Guard, Refine, Refined};
pub use signature::{Demo, Field, FieldFaults, Form, Signature, Smart, output_values, read_output};
/// Programs do not use these names, but compile errors show them.
#[doc(hidden)]
pub use signature::{SmartInput, SmartOutput};
