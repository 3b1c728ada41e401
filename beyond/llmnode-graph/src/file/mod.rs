//! Graph files: our format and that of React Flow, both read into one set of types.

mod data;
mod describe;
mod json;
mod json_types;
mod react_flow;
mod read;
mod schema;
mod schema_check;
#[cfg(test)]
mod tests;
mod text;
mod typed;
mod values;

use std::collections::BTreeMap;

use llmnode_runtime::Limits;
use serde_json::Value;

pub(crate) use self::data::NodeSettings;
pub(crate) use self::json_types::{allows, words_for};
pub(crate) use self::read::read;
#[cfg(feature = "openai")]
pub(crate) use self::read::{document, head, report_duplicates};
pub(crate) use self::schema::{schema, with_common};
pub(crate) use self::schema_check::{FRONT_END, check, schema_mismatch};
pub(crate) use self::text::Reducer;
pub use self::typed::{exact_json, typed_input};
use crate::faults::{listed, shown};

/// What a file of our format begins with. One without it is React Flow's.
pub(crate) const FORMAT: &str = "llmnode/graph";
pub(crate) const VERSION: u64 = 1;

/// A file that was read. What was faulty in it is left out, and reported.
#[derive(Debug)]
pub(crate) struct GraphFile {
    /// From a front end, without a `format`: unknown members are ignored with a warning.
    pub(crate) is_react_flow: bool,
    pub(crate) name: String,
    pub(crate) inputs: BTreeMap<String, Value>,
    /// Any value may be an input: the file declares none.
    pub(crate) open_inputs: bool,
    pub(crate) state: BTreeMap<String, Field>,
    pub(crate) max_steps: Option<u64>,
    pub(crate) limits: Limits,
    pub(crate) nodes: Vec<NodeFile>,
    pub(crate) edges: Vec<EdgeFile>,
    /// Some parts may be missing because they were faulty. Then what depends on them is not checked.
    pub(crate) ids_are_known: bool,
    pub(crate) edges_are_known: bool,
    pub(crate) calls_are_known: bool,
}

impl GraphFile {
    pub(crate) fn id(&self, node: usize) -> String {
        shown(&self.nodes[node].id)
    }

    pub(crate) fn ids<'n>(&self, nodes: impl IntoIterator<Item = &'n usize>) -> String {
        listed(nodes.into_iter().map(|node| self.nodes[*node].id.as_str()))
    }
}

/// A value of the state, as it is declared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Field {
    pub(crate) schema: Value,
    pub(crate) reducer: Reducer,
    pub(crate) default: Option<Value>,
}

#[derive(Clone, Debug)]
pub(crate) struct NodeFile {
    pub(crate) id: String,
    /// As written. Empty: missing, which is reported.
    pub(crate) kind: String,
    pub(crate) label: Option<String>,
    pub(crate) is_start: bool,
    pub(crate) at: String,
    pub(crate) data: NodeSettings,
    /// Something other than its id is wrong, so settings may be missing.
    pub(crate) is_faulty: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct EdgeFile {
    pub(crate) source: String,
    pub(crate) target: String,
    /// `default` for none, `default` and `output`; otherwise as written.
    pub(crate) handle: String,
    pub(crate) at: String,
}

/// The handle that a name of an edge stands for.
pub(crate) fn handle(name: &str) -> &str {
    match name {
        "" | "output" => "default",
        name => name,
    }
}

/// Names of the end in both formats.
pub(crate) fn is_end(target: &str) -> bool {
    matches!(target, "END" | "finish_node")
}

/// Names of the start that front ends draw as a node.
pub(crate) fn is_start(source: &str) -> bool {
    ["start", "start_node", "begin"].contains(&&*source.to_lowercase())
}
