//! Graph files: our format and that of React Flow, both read into one set of types.

mod data;
mod declared;
mod describe;
mod json;
mod react_flow;
mod read;
mod recovery;
mod schema;
mod schema_check;
#[cfg(test)]
mod tests;
mod text;
mod values;

use std::collections::BTreeMap;

use serde_json::Value;

pub(crate) use self::data::NodeSettings;
pub(crate) use self::declared::allows;
pub(crate) use self::read::read;
pub(crate) use self::recovery::Repairs;
pub(crate) use self::schema::{schema, with_common};
pub(crate) use self::schema_check::{FRONT_END, schema_mismatch};
pub(crate) use self::text::Reducer;
#[cfg(feature = "openai")]
pub(crate) use self::{
    read::{document, head, report_duplicates},
    schema_check::SchemaChecker,
};

pub(crate) const FORMAT: &str = "llmnode/graph";
pub(crate) const VERSION: u64 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileFormat {
    /// Has a `format`, and is strict.
    Own,
    /// As front ends with React Flow write it: unknown members are ignored with a warning.
    ReactFlow,
}

#[derive(Debug)]
pub(crate) struct GraphFile {
    pub(crate) form: FileFormat,
    /// Empty: it has none.
    pub(crate) name: String,
    pub(crate) inputs: BTreeMap<String, Value>,
    /// A run may be given more.
    pub(crate) open_inputs: bool,
    pub(crate) state: BTreeMap<String, Field>,
    pub(crate) has_lost_state: bool,
    pub(crate) max_steps: Option<u64>,
    pub(crate) limits: FileLimits,
    pub(crate) nodes: Vec<NodeFile>,
    pub(crate) edges: Vec<EdgeFile>,
    /// Of misspelled members: from the pointer with the right name to the place in the file.
    moved: BTreeMap<String, String>,
    /// A name in edges that is probably the id of one of two nodes with the same id.
    pub(crate) unclear_name: Option<String>,
}

impl GraphFile {
    pub(crate) fn place(&self, pointer: &str) -> String {
        recovery::remap_pointer(&self.moved, pointer)
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Field {
    pub(crate) schema: Value,
    pub(crate) reducer: Reducer,
    pub(crate) default: Option<Value>,
    /// The reducer is wrong, and it is unclear which was intended.
    pub(crate) is_unclear: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct FileLimits {
    pub(crate) requests: Option<u64>,
    pub(crate) tokens: Option<u64>,
    pub(crate) money: Option<f64>,
}

#[derive(Clone, Debug)]
pub(crate) struct NodeFile {
    /// Empty: it has none, which is reported.
    pub(crate) id: String,
    /// As written. Empty: it has none, which is reported.
    pub(crate) kind: String,
    pub(crate) label: Option<String>,
    pub(crate) is_start: bool,
    /// Its place: `/nodes/3`.
    pub(crate) at: String,
    pub(crate) data: NodeSettings,
    pub(crate) has_lost_data: bool,
    /// Texts beside its settings, which may be misplaced settings.
    pub(crate) unknown_texts: Vec<String>,
    pub(crate) id_state: IdState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdState {
    Own,
    /// This one, or a later one with the same id: the edges of both count as edges of this one.
    Shared,
    /// Not this one: it has no id, or that of another node or of the end.
    Invalid,
}

/// What could not be read is `None`.
#[derive(Clone, Debug)]
pub(crate) struct EdgeFile {
    pub(crate) source: Option<String>,
    pub(crate) target: Option<String>,
    /// `default` for none, `default` and `output`; otherwise as written.
    pub(crate) handle: Option<String>,
    pub(crate) at: String,
}

pub(crate) fn handle(name: &str) -> &str {
    match name {
        "" | "output" => "default",
        name => name,
    }
}

pub(crate) fn is_end(target: &str) -> bool {
    matches!(target, "END" | "finish_node")
}

/// If no node has that name.
pub(crate) fn is_start(source: &str) -> bool {
    ["start", "start_node", "begin"].contains(&&*source.to_lowercase())
}
