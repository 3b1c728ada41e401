//! What the checks and the run know of a node, whatever its type is.

/// What a node is to the graph around it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) handles: Handles,
    /// The place of the list whose items it takes, if it is a loop: its edges by `next` lead into the body.
    pub(crate) iterates: Option<Read>,
    /// Whether it, or a tool of its, waits for an approval.
    pub(crate) pauses: bool,
    pub(crate) reads: Vec<Read>,
    /// Names in single braces, which are sent as they are.
    pub(crate) braced: Vec<Read>,
    /// Values that it reads if the graph has one of them. Else it takes the last message.
    pub(crate) reads_or_message: Vec<Read>,
    /// Values that system prompts of graphs within it read.
    pub(crate) system_prompt_reads: Vec<Read>,
    /// Values that come into others in graphs within it: as items of a list.
    pub(crate) value_flows: Vec<(String, String)>,
    /// The keys that it writes.
    pub(crate) writes: Vec<Write>,
    /// Keys that it writes as well, of which two branches of a fork may write the same.
    pub(crate) also_writes: Vec<String>,
    /// Texts that stand where a setting is wrong. Each may be the name of a value that it writes.
    pub(crate) possible_writes: Vec<String>,
    /// Whether it may write further keys.
    pub(crate) writes_anything: bool,
    /// Whether what it writes is the text of a model, a tool or a search.
    pub(crate) untrusted: bool,
    /// Whether it writes text of a search, which prompts fence.
    pub(crate) retrieved: bool,
    pub(crate) role: Role,
    /// Whether another node has its id, so that some of its edges may be those of that one.
    pub(crate) has_shared_id: bool,
    /// Whether a setting is wrong in such a way that it may write more than is known.
    pub(crate) unclear: bool,
}

/// The handles of a node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handles {
    pub(crate) known: Vec<String>,
    /// Those that need an edge.
    pub(crate) required: Vec<String>,
    /// Whether it may have others.
    pub(crate) allows_unknown: bool,
}

/// A value that a node reads.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    /// As written: `context.a.b`.
    pub(crate) name: String,
    /// Where it is named, as a pointer into the file.
    pub(crate) at: String,
    pub(crate) place: ReadContext,
}

/// A value that a node writes.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub(crate) key: String,
    /// Where it is named, as a pointer into the file.
    pub(crate) at: String,
    /// The only JSON types that it may have. Empty: any.
    pub(crate) types: Vec<&'static str>,
    /// What the node's settings declare of it.
    pub(crate) schema: Option<serde_json::Value>,
}

/// Where a value that is read comes to stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ReadContext {
    #[default]
    Any,
    /// In a system prompt, which is the operator's.
    System,
}

/// What a node is in the flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    #[default]
    Step,
    /// It stands in the lists of agents alone.
    Tool,
    /// Its id is wrong, so that it is not known which edges are its own.
    InvalidId,
}

impl Facts {
    /// All keys that it is known to write.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &String> {
        self.writes.iter().map(|write| &write.key).chain(&self.also_writes)
    }
}
