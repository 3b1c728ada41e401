//! Smart nodes: a goal, fields and examples instead of a prompt, and optimisers for them. Use it through the `llmnode` crate.
//!
//! The rooms, from the ground up: `signature` (what goes in and what comes out), `form` (how it is written and read), `program` (what
//! replaces the node's own words), `node` (how a node with a goal runs), `refine` (several tries), `graph` (smart nodes in graphs),
//! `ext` (what a run gains), `evaluate` (how good a node is) and `optimise` (what makes it better).

#![warn(clippy::print_stderr, clippy::print_stdout)]

pub mod evaluate;
mod ext;
mod form;
#[doc(hidden)]
pub mod generated;
#[cfg(feature = "graph")]
mod graph;
mod node;
pub mod optimise;
mod program;
mod random;
mod refine;
mod signature;

pub use ext::SmartExt;
#[cfg(feature = "graph")]
pub use graph::SmartRegistry;
pub use node::{Thought, WithReasoning};
pub use program::{Program, ProgramError, ProgramFault, Provenance, ProvenanceScores};
pub use refine::{Guard, Refine, Refined};
pub use signature::{Demo, Field, FieldFaults, Form, Signature, Smart, output_values, read_output};
/// Programs do not write these names, but compile errors show them.
#[doc(hidden)]
pub use signature::{SmartInput, SmartOutput};
