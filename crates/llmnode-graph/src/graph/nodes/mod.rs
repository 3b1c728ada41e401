//! The built-in node types.

mod agent;
mod agent_visit;
mod calls;
mod iterator;
mod json_template;
mod missing;
mod registered;
mod router;
mod subgraph;
mod tool;

pub(crate) use agent::AgentType;
pub(crate) use iterator::IteratorType;
pub(crate) use missing::MissingType;
pub(crate) use registered::RegisteredType;
pub(crate) use router::RouterType;
pub(crate) use subgraph::SubgraphType;
pub(crate) use tool::ToolType;

fn schema_of<T: schemars::JsonSchema>() -> serde_json::Value {
    schemars::schema_for!(T).to_value()
}
