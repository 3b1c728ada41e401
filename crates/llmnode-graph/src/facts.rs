//! What checks and runs know of a node, whatever its type.

/// The handle whose edges lead to tools.
pub(crate) const TOOL_CALL: &str = "tool-call";

#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) handles: Handles,
    /// The list whose items it takes, if it is a loop: its `next` edges lead into the body.
    pub(crate) iterates: Option<Read>,
    /// Whether it, or one of its tools, waits for an approval.
    pub(crate) pauses: bool,
    pub(crate) reads: Vec<Read>,
    /// Names in single braces, which are sent as they are.
    pub(crate) braced: Vec<Read>,
    /// Read if the graph has one of them. Otherwise the node reads the last message.
    pub(crate) reads_or_message: Vec<Read>,
    /// Read by system prompts of graphs within it.
    pub(crate) system_prompt_reads: Vec<Read>,
    /// Values that come into others in graphs within it, as the items of a list.
    pub(crate) value_flows: Vec<(String, String)>,
    pub(crate) writes: Vec<Write>,
    /// Keys that it also writes, and that two branches of a fork may both write.
    pub(crate) also_writes: Vec<String>,
    pub(crate) writes_anything: bool,
    /// It writes text of a model, a tool or a search.
    pub(crate) untrusted: bool,
    /// It writes text of a search, which prompts put into a fence.
    pub(crate) retrieved: bool,
    pub(crate) role: Role,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Handles {
    pub(crate) known: Vec<String>,
    pub(crate) required: Vec<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Read {
    /// As written: `context.a.b`.
    pub(crate) name: String,
    /// Where the file names it, as a pointer.
    pub(crate) at: String,
    pub(crate) place: ReadContext,
}

#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub(crate) key: String,
    pub(crate) at: String,
    /// The JSON types that it may have; empty: any.
    pub(crate) types: Vec<&'static str>,
    pub(crate) schema: Option<serde_json::Value>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ReadContext {
    #[default]
    Any,
    /// In a system prompt, which is the operator's.
    System,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    #[default]
    Step,
    Tool,
}

impl Facts {
    pub(crate) fn keys(&self) -> impl Iterator<Item = &String> {
        self.writes.iter().map(|write| &write.key).chain(&self.also_writes)
    }
}
