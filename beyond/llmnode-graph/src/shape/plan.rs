//! The plan of a run: regions of steps, with forks whose branches are regions, too.
//!
//! A region is what runs one step after the other, from its entry to where it is left. A fork in it is one step, whose branches run
//! side by side and meet in its join. The checks have found that every fork has one.

use std::collections::{BTreeMap, HashMap};

use super::{FoundFork, Shape, To};

/// Forks within forks: each is a level of the stack when the plan is compiled.
pub(crate) const DEPTH: usize = 32;

/// Steps that run one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Region {
    pub(crate) entry: usize,
    /// The entry first. An edge to any other node leaves the region.
    pub(crate) nodes: Vec<usize>,
    pub(crate) next: BTreeMap<(usize, String), Next>,
    pub(crate) forks: Vec<Fork>,
}

/// What follows a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    One(To),
    Fork(usize),
}

/// Several edges of one handle.
#[derive(Clone, Debug)]
pub(crate) struct Fork {
    pub(crate) from: usize,
    pub(crate) handle: String,
    pub(crate) branches: Vec<Region>,
    /// It may be outside the region.
    pub(crate) join: To,
}

/// All forks must be valid, and at most [`DEPTH`] deep.
pub(crate) fn region(shape: &Shape, start: usize, forks: &[FoundFork]) -> Region {
    let forks = forks
        .iter()
        .map(|fork| ((fork.from, fork.handle), fork))
        .collect();
    Planner { shape, forks }.region(start, None)
}

struct Planner<'p> {
    shape: &'p Shape,
    forks: HashMap<(usize, usize), &'p FoundFork>,
}

impl Planner<'_> {
    fn region(&self, entry: usize, stop: Option<usize>) -> Region {
        let mut region = Region {
            entry,
            ..Region::default()
        };
        let mut seen = std::collections::HashSet::new();
        let mut open = std::collections::VecDeque::from([entry]);
        while let Some(node) = open.pop_front() {
            if Some(node) == stop || !seen.insert(node) {
                continue;
            }
            region.nodes.push(node);
            for (index, handle) in self.shape.ways[node].iter().enumerate() {
                let (next, to) = match (self.forks.get(&(node, index)), &*handle.to) {
                    (Some(fork), _) => {
                        region.forks.push(self.fork(fork, &handle.name));
                        (Next::Fork(region.forks.len() - 1), fork.join)
                    }
                    (None, [only]) => (Next::One(only.to), only.to),
                    (None, _) => continue,
                };
                region.next.insert((node, handle.name.clone()), next);
                if let To::Node(to) = to {
                    open.push_back(to);
                }
            }
        }
        region
    }

    fn fork(&self, fork: &FoundFork, handle: &str) -> Fork {
        let branches = fork
            .branches
            .iter()
            .map(|nodes| self.region(nodes[0], fork.join.node()))
            .collect();
        Fork {
            from: fork.from,
            handle: handle.to_owned(),
            branches,
            join: fork.join,
        }
    }
}
