//! A graph's file: the format of ours and that of React Flow, both read into one set of types.

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

/// What a file names as its format.
pub(crate) const FORMAT: &str = "llmnode/graph";
/// The newest version that is read.
pub(crate) const VERSION: u64 = 1;

/// In which form a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileFormat {
    /// With a `format`: strict.
    Own,
    /// As React Flow's front ends write it: what is unknown is passed over with a warning.
    ReactFlow,
}

/// A graph as its file has it.
#[derive(Debug)]
pub(crate) struct GraphFile {
    pub(crate) form: FileFormat,
    /// Empty: it has none.
    pub(crate) name: String,
    /// The declared types of what a run is given, as JSON schemas.
    pub(crate) inputs: BTreeMap<String, Value>,
    /// Whether a run may be given more than that.
    pub(crate) open_inputs: bool,
    pub(crate) state: BTreeMap<String, Field>,
    /// Whether what is declared of the state could not be read.
    pub(crate) has_lost_state: bool,
    pub(crate) max_steps: Option<u64>,
    pub(crate) limits: FileLimits,
    pub(crate) nodes: Vec<NodeFile>,
    pub(crate) edges: Vec<EdgeFile>,
    /// Of members that stand under a wrong name, by the pointer with the right one the place in the file.
    moved: BTreeMap<String, String>,
    /// A name in edges that is meant to be that of one of two nodes with the same id.
    pub(crate) unclear_name: Option<String>,
}

impl GraphFile {
    /// The place in the file of a pointer.
    pub(crate) fn place(&self, pointer: &str) -> String {
        recovery::remap_pointer(&self.moved, pointer)
    }
}

/// A declared value of the state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Field {
    /// What it has to be, as a JSON schema.
    pub(crate) schema: Value,
    pub(crate) reducer: Reducer,
    pub(crate) default: Option<Value>,
    /// Whether the reducer is wrong, and it is not clear which was meant.
    pub(crate) is_unclear: bool,
}

/// The most that a run of the graph may take, as far as the file says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct FileLimits {
    pub(crate) requests: Option<u64>,
    pub(crate) tokens: Option<u64>,
    pub(crate) money: Option<f64>,
}

/// A node as the file has it.
#[derive(Clone, Debug)]
pub(crate) struct NodeFile {
    /// Empty: it has none, which is noted.
    pub(crate) id: String,
    /// The type as written. Empty: there is none, which is noted.
    pub(crate) kind: String,
    pub(crate) label: Option<String>,
    pub(crate) is_start: bool,
    /// Where it stands: `/nodes/3`.
    pub(crate) at: String,
    pub(crate) data: NodeSettings,
    /// Whether the settings could not be read at all.
    pub(crate) has_lost_data: bool,
    /// The texts beside its settings, which may be settings.
    pub(crate) unknown_texts: Vec<String>,
    pub(crate) id_state: IdState,
}

/// Whether it is known which node an id means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdState {
    /// This one.
    Own,
    /// This one, or one behind it with the same id: edges of both are taken for edges of this one.
    Shared,
    /// Not this one: it has no id, or that of another node or of the end.
    Invalid,
}

/// An edge as the file has it. What could not be read is `None`.
#[derive(Clone, Debug)]
pub(crate) struct EdgeFile {
    pub(crate) source: Option<String>,
    pub(crate) target: Option<String>,
    /// `default` for none, `default` and `output`, else as written.
    pub(crate) handle: Option<String>,
    /// Where it stands: `/edges/3`.
    pub(crate) at: String,
}

/// The one name of a handle: those of the way on are one.
pub(crate) fn handle(name: &str) -> &str {
    match name {
        "" | "output" => "default",
        name => name,
    }
}

/// Whether an edge to this name leads to the end.
pub(crate) fn is_end(target: &str) -> bool {
    matches!(target, "END" | "finish_node")
}

/// Whether an edge from this name says where the graph starts, if no node has that name.
pub(crate) fn is_start(source: &str) -> bool {
    ["start", "start_node", "begin"].contains(&&*source.to_lowercase())
}
