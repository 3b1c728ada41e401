//! [Graphs](crate::guide::graphs) from JSON (feature `graph`): a file names nodes and edges, and a [`Registry`] decides what they may
//! use.

#[doc(inline)]
pub use llmnode_graph::{
    CheckedRegistry, Fault, FaultKind, Graph, GraphFaults, GraphNode, MissingName, NodeContext,
    NodeLoader, NodeType, Registry, State, Template, Turn, Update,
};
#[cfg(feature = "openai")]
#[doc(inline)]
pub use llmnode_graph::{ProfileRules, Profiles};
#[cfg(feature = "serve")]
#[doc(inline)]
pub use llmnode_serve::{Serve, ServerHandle, serve};
