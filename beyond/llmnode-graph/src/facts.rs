//! What checks and runs know of a node, whatever its type.
//!
//! A node's type notes them while it loads its settings (`NodeLoader`). The checks of the whole graph look at nothing else, so a type
//! of a program takes part in them as the built-in ones do.

/// The handle of edges to the tools of an agent, and to nodes that it hands over to.
pub(crate) const TOOL_CALL: &str = "tool-call";

/// The facts of one node, or of a graph as a node of another.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// Those that the node may take.
    pub(crate) handles: Vec<String>,
    /// Those that need an edge: without one, it is a fault and not an end.
    pub(crate) required_handles: Vec<String>,
    /// The list, if the node is a loop: its `next` edges lead into the body.
    pub(crate) iterates: Option<Read>,
    /// It may wait for a person.
    pub(crate) pauses: bool,
    /// Values that its templates and settings name.
    pub(crate) reads: Vec<Read>,
    /// Names in single braces, which are sent as they are.
    pub(crate) braced: Vec<Read>,
    /// If the graph has none of them, the node reads the last message.
    pub(crate) reads_or_message: Vec<Read>,
    /// Those of inner graphs that get into a system prompt there.
    pub(crate) system_prompt_reads: Vec<Read>,
    /// Values of inner graphs that become part of others, such as items of a list.
    pub(crate) value_flows: Vec<(String, String)>,
    /// Values that it writes, of which two branches may not both write one.
    pub(crate) writes: Vec<Write>,
    /// Two branches of a fork may both write these.
    pub(crate) also_writes: Vec<String>,
    /// It may write values whose names are known only in a run.
    pub(crate) writes_anything: bool,
    /// What it writes is of a model, a tool or a search.
    pub(crate) untrusted: bool,
    /// Writes text of a search, which prompts put into a fence.
    pub(crate) retrieved: bool,
    pub(crate) role: Role,
}

/// A value that a node reads, by its name or a path into it.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    pub(crate) name: String,
    pub(crate) at: String,
    /// System prompts are the operator's.
    pub(crate) in_system_prompt: bool,
}

/// A value that a node writes. `types`: those that it may have; empty: unknown.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub(crate) key: String,
    pub(crate) at: String,
    pub(crate) types: Vec<&'static str>,
    pub(crate) schema: Option<serde_json::Value>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    #[default]
    Step,
    Tool,
}

impl Facts {
    /// The names of all values that it is known to write.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &String> {
        self.writes
            .iter()
            .map(|write| &write.key)
            .chain(&self.also_writes)
    }
}
