//! The shape of a graph: one way in, forks that meet again, a way to the end from everywhere. Pure, on indices; it knows
//! nothing of nodes, files and words.

mod dominators;
mod forks;
mod plan;
mod reachability;
#[cfg(test)]
mod tests;

pub(crate) use self::dominators::reverse_postorder;
pub(crate) use self::forks::{BadFork, ForkProblem, FoundFork, forks};
pub(crate) use self::plan::{DEPTH, Fork, Next, Region, region};
pub(crate) use self::reachability::{endless, reach, unreachable};

/// Where a way leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum To {
    Node(usize),
    End,
}

impl To {
    /// The node; `None`: the end.
    pub(crate) fn node(self) -> Option<usize> {
        match self {
            To::Node(node) => Some(node),
            To::End => None,
        }
    }
}

/// A graph of steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shape {
    /// Of each node its handles, and the targets of each in the order of the file. A node that is no step has none, and
    /// is nobody's target.
    pub(crate) ways: Vec<Vec<Handle>>,
    /// Whether a run may end at a node without an edge: a handle of its has none.
    pub(crate) ends: Vec<bool>,
    /// Whether an edge leads from a node to somewhere unknown.
    pub(crate) unknown_exits: Vec<bool>,
}

/// The edges of one handle. Several run side by side.
#[derive(Clone, Debug)]
pub(crate) struct Handle {
    pub(crate) name: String,
    pub(crate) to: Vec<OutEdge>,
    /// Whether an edge of its leads to somewhere unknown.
    pub(crate) unknown_exits: bool,
}

/// One edge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutEdge {
    pub(crate) to: To,
    /// Which edge of the file it is.
    pub(crate) edge: usize,
}

impl Shape {
    fn len(&self) -> usize {
        self.ways.len()
    }

    /// All ways out of a node.
    fn out(&self, node: usize) -> impl Iterator<Item = OutEdge> {
        self.ways[node].iter().flat_map(|handle| handle.to.iter().copied())
    }

    /// The nodes to which a node leads.
    fn targets(&self, node: usize) -> impl Iterator<Item = usize> {
        self.out(node).filter_map(|way| way.to.node())
    }

    /// Whether an edge leads from one node to another.
    pub(crate) fn leads(&self, from: usize, to: usize) -> bool {
        self.targets(from).any(|target| target == to)
    }

    /// Whether a run may end behind this node.
    fn is_last(&self, node: usize) -> bool {
        self.ends[node] || self.out(node).any(|way| way.to == To::End)
    }
}
