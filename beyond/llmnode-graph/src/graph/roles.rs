//! What the targets of `tool-call` edges are: tools of an agent, or nodes that it hands over to.

use std::collections::BTreeSet;

use crate::check::Links;
use crate::facts::{Role, TOOL_CALL};
use crate::file::GraphFile;
use crate::graph::name::{is_name, sanitised};
use crate::shape::To;

/// An edge from an agent to what it may call.
#[derive(Clone, Debug)]
pub(crate) struct ToolLink {
    pub(crate) name: String,
    pub(crate) node: usize,
    pub(crate) id: String,
    pub(crate) label: String,
    pub(crate) kind: LinkKind,
    pub(crate) at: String,
}

/// What a call of the link does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkKind {
    /// Runs in the agent's loop; its answer is the result.
    Tool,
    /// Ends the agent's visit; the flow continues here.
    Handoff,
    /// Not a tool itself: the agent's tools run in its loop, and their trace is written under this node's id.
    Executor,
    /// Ends the agent's visit; the agent's tool calls are executed here.
    ExecutorStep,
}

impl ToolLink {
    pub(crate) fn is_callable(&self) -> bool {
        matches!(self.kind, LinkKind::Tool | LinkKind::Handoff)
    }

    /// Also in the form in which providers take names, ignoring case.
    pub(crate) fn is_named(&self, word: &str) -> bool {
        let sanitised = sanitised(word);
        word == self.label || word == self.id || sanitised.eq_ignore_ascii_case(&self.name)
    }
}

/// What each node is by the edges to it, and the links of each caller.
pub(crate) fn roles(file: &GraphFile, links: &Links) -> (Vec<Role>, Vec<Vec<ToolLink>>) {
    let is_tool = tools(file, links);
    let mut called: Vec<Vec<ToolLink>> = vec![Vec::new(); file.nodes.len()];
    for (from, to, link) in links.by(TOOL_CALL) {
        let node = &file.nodes[to];
        let label = node.label.clone().unwrap_or_else(|| node.id.clone());
        let name = sanitised(&label);
        let name = if is_name(&name) {
            name
        } else {
            sanitised(&node.id)
        };
        let executes = node.kind == "tool" && !node.data.values.contains_key("tool_name");
        // A tool cannot hand over, since the flow is elsewhere.
        let is_within = is_tool[to] || is_tool[from];
        let kind = match (is_within, executes) {
            (true, true) => LinkKind::Executor,
            (true, false) => LinkKind::Tool,
            (false, true) => LinkKind::ExecutorStep,
            (false, false) => LinkKind::Handoff,
        };
        called[from].push(ToolLink {
            name,
            node: to,
            id: node.id.clone(),
            label,
            kind,
            at: link.at.clone(),
        });
    }
    let mut roles = Vec::with_capacity(is_tool.len());
    for is_tool in is_tool {
        roles.push(if is_tool { Role::Tool } else { Role::Step });
    }
    (roles, called)
}

/// Which nodes are tools: those that only their callers lead to, and that lead nowhere else.
fn tools(file: &GraphFile, links: &Links) -> Vec<bool> {
    let mut callers: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); file.nodes.len()];
    for (from, to, _) in links.by(TOOL_CALL) {
        callers[to].insert(from);
    }
    let mut is_tool: Vec<bool> = callers.iter().map(|callers| !callers.is_empty()).collect();
    for link in &links.edges {
        if link.handle == TOOL_CALL {
            continue;
        }
        // A tool leads only back to its callers.
        is_tool[link.from] &= matches!(link.to, To::Node(to) if callers[link.from].contains(&to));
        // Edges to a tool only return its caller's results.
        if let To::Node(to) = link.to {
            is_tool[to] &= callers[link.from].contains(&to);
        }
    }
    for (index, node) in file.nodes.iter().enumerate() {
        is_tool[index] &= !node.is_start;
    }
    for (node, _) in &links.starts {
        is_tool[*node] = false;
    }
    is_tool
}
