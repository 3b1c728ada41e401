//! What checks and runs know of a node, whatever its type.

pub(crate) const TOOL_CALL: &str = "tool-call";

#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) handles: Vec<String>,
    pub(crate) required_handles: Vec<String>,
    /// The list, if the node is a loop: its `next` edges lead into the body.
    pub(crate) iterates: Option<Read>,
    pub(crate) pauses: bool,
    pub(crate) reads: Vec<Read>,
    /// Names in single braces, which are sent as they are.
    pub(crate) braced: Vec<Read>,
    /// If the graph has none of them, the node reads the last message.
    pub(crate) reads_or_message: Vec<Read>,
    pub(crate) system_prompt_reads: Vec<Read>,
    /// Values of inner graphs that become part of others, such as items of a list.
    pub(crate) value_flows: Vec<(String, String)>,
    pub(crate) writes: Vec<Write>,
    /// Two branches of a fork may both write these.
    pub(crate) also_writes: Vec<String>,
    pub(crate) writes_anything: bool,
    pub(crate) untrusted: bool,
    /// Writes text of a search, which prompts put into a fence.
    pub(crate) retrieved: bool,
    pub(crate) role: Role,
}

#[derive(Clone, Debug)]
pub(crate) struct Read {
    pub(crate) name: String,
    pub(crate) at: String,
    /// System prompts are the operator's.
    pub(crate) in_system_prompt: bool,
}

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
    pub(crate) fn keys(&self) -> impl Iterator<Item = &String> {
        self.writes
            .iter()
            .map(|write| &write.key)
            .chain(&self.also_writes)
    }
}
