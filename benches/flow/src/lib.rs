//! What a step of a flow costs: one task, done by each library.
//!
//! `benches/flow/run` measures everything; the modules say how each of them does it.

#[path = "../../src/measure.rs"]
pub mod measure;

pub mod by_floxide;
pub mod by_graph;
pub mod by_graph_flow;
pub mod by_hand;
pub mod by_llmnode;
pub mod contender;
pub mod task;
