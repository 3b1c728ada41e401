//! The shape of a graph: one entry, forks that meet again, a path to the end from everywhere. It works on indices, and
//! knows nothing of nodes, files and messages.

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

/// Where an edge leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum To {
    Node(usize),
    End,
}

impl To {
    pub(crate) fn node(self) -> Option<usize> {
        match self {
            To::Node(node) => Some(node),
            To::End => None,
        }
    }
}

/// The steps of a graph and their edges.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shape {
    /// By node: handles, with targets in the order of the file. A node that is not a step has none, and is never a target.
    pub(crate) ways: Vec<Vec<Handle>>,
    /// A run may end here, since a handle has no edge.
    pub(crate) ends: Vec<bool>,
}

/// Several edges run concurrently.
#[derive(Clone, Debug)]
pub(crate) struct Handle {
    pub(crate) name: String,
    pub(crate) to: Vec<OutEdge>,
}

/// An edge, with its number in the file, by which faults find it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutEdge {
    pub(crate) to: To,
    pub(crate) edge: usize,
}

impl Shape {
    fn len(&self) -> usize {
        self.ways.len()
    }

    /// All edges of a node, whatever their handles.
    fn out(&self, node: usize) -> impl Iterator<Item = OutEdge> {
        self.ways[node]
            .iter()
            .flat_map(|handle| handle.to.iter().copied())
    }

    fn targets(&self, node: usize) -> impl Iterator<Item = usize> {
        self.out(node).filter_map(|way| way.to.node())
    }

    /// Whether a run may end behind this node.
    fn is_last(&self, node: usize) -> bool {
        self.ends[node] || self.out(node).any(|way| way.to == To::End)
    }
}
