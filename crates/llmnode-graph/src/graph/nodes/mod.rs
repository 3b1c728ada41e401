//! The built-in node types.

mod agent;
mod calls;
mod inserts;
mod iterator;
mod missing;
mod registered;
mod router;
mod subgraph;
mod tool;
mod visiting;

pub(crate) use agent::AgentType;
pub(crate) use iterator::IteratorType;
pub(crate) use missing::MissingType;
pub(crate) use registered::Registering;
pub(crate) use router::RouterType;
pub(crate) use subgraph::SubgraphType;
pub(crate) use tool::{Calling, ToolType};

/// The JSON schema of a type's settings.
fn schema_of<T: schemars::JsonSchema>() -> serde_json::Value {
    schemars::schema_for!(T).to_value()
}
