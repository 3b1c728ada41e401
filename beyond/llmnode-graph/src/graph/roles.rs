//! What the targets of `tool-call` edges are: tools of an agent, or nodes that it hands over to.

use std::collections::BTreeSet;

use crate::check::Links;
use crate::facts::{Role, TOOL_CALL};
use crate::file::GraphFile;
use crate::graph::name::{is_name, sanitised};
use crate::shape::To;

#[derive(Clone, Debug)]
pub(crate) struct ToolLink {
    pub(crate) name: String,
    pub(crate) node: usize,
    pub(crate) id: String,
    pub(crate) label: String,
    pub(crate) kind: LinkKind,
    pub(crate) at: String,
}

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

pub(crate) fn roles(file: &GraphFile, links: &Links) -> (Vec<Role>, Vec<Vec<ToolLink>>) {
    let count = file.nodes.len();
    let mut callers: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); count];
    for (from, to, _) in links.by(TOOL_CALL) {
        callers[to].insert(from);
    }
    let mut is_tool: Vec<bool> = callers.iter().map(|callers| !callers.is_empty()).collect();
    for link in links.edges.iter().filter(|link| link.handle != TOOL_CALL) {
        // A tool leads only back to its callers.
        is_tool[link.from] &= matches!(link.to, To::Node(to) if callers[link.from].contains(&to));
        // Edges to a tool only return its caller's results.
        if let To::Node(to) = link.to {
            is_tool[to] &= callers[link.from].contains(&to);
        }
    }
    file.nodes
        .iter()
        .zip(&mut is_tool)
        .for_each(|(node, is_tool)| *is_tool &= !node.is_start);
    links
        .starts
        .iter()
        .for_each(|(node, _)| is_tool[*node] = false);
    let role = |node: usize| {
        if is_tool[node] {
            Role::Tool
        } else {
            Role::Step
        }
    };
    let mut called: Vec<Vec<ToolLink>> = vec![Vec::new(); count];
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
        let kind = match (is_tool[to] || is_tool[from], executes) {
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
    ((0..count).map(role).collect(), called)
}
