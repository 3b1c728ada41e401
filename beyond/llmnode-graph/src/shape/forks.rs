//! Forks: several edges of one handle run side by side, and have to meet. The join is the nearest node that every path
//! of every branch passes, or the end.

use std::collections::HashSet;

use super::dominators::{Dominators, reverse_postorder};
use super::{Shape, To};

#[derive(Clone, Debug)]
pub(crate) struct FoundFork {
    pub(crate) from: usize,
    pub(crate) handle: usize,
    pub(crate) branches: Vec<Vec<usize>>,
    pub(crate) join: To,
    pub(crate) depth: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadFork {
    pub(crate) from: usize,
    pub(crate) join: To,
    pub(crate) problem: ForkProblem,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ForkProblem {
    ToJoin {
        edge: usize,
    },
    Back {
        head: usize,
        edge: usize,
        to: usize,
    },
    Shared {
        heads: [usize; 2],
        node: usize,
    },
    Entered {
        head: usize,
        edge: usize,
        from: usize,
        to: usize,
    },
    Start {
        head: usize,
        start: usize,
    },
}

/// Skips a fork if one of its branches never reaches the end.
pub(crate) fn forks(shape: &Shape, start: usize) -> (Vec<FoundFork>, Vec<BadFork>) {
    let count = shape.len();
    let out: Vec<Vec<usize>> = (0..count)
        .map(|node| shape.targets(node).collect())
        .collect();
    let order = reverse_postorder(start, &out);
    if !order
        .iter()
        .any(|node| shape.ways[*node].iter().any(|handle| handle.to.len() > 1))
    {
        return (Vec::new(), Vec::new());
    }
    let mut incoming = vec![Vec::new(); count];
    let mut back = vec![Vec::new(); count + 1];
    for node in &order {
        for (handle, ways) in shape.ways[*node].iter().enumerate() {
            for way in &ways.to {
                if let To::Node(to) = way.to {
                    incoming[to].push((*node, handle, way.edge));
                    back[to].push(*node);
                }
            }
        }
        if shape.is_last(*node) {
            back[count].push(*node);
        }
    }
    let mut search = Search {
        shape,
        start,
        incoming,
        dominator_tree: Dominators::new(start, &out),
        post_dominator_tree: Dominators::new(count, &back),
        owner: vec![None; count],
        depth: vec![0; count],
        reported: Reported::default(),
        found: Vec::new(),
        bad: Vec::new(),
    };
    // Outer forks first: faults there are not repeated for inner ones.
    for node in order {
        for handle in 0..shape.ways[node].len() {
            if shape.ways[node][handle].to.len() > 1 {
                search.fork(node, handle);
            }
        }
    }
    (search.found, search.bad)
}

/// Several forks may find the same mistake.
#[derive(Default)]
struct Reported {
    edges: HashSet<usize>,
    shared: HashSet<usize>,
    start: bool,
}

struct Search<'s> {
    shape: &'s Shape,
    start: usize,
    /// By node: from which node, by which of its handles, and the edge.
    incoming: Vec<Vec<(usize, usize, usize)>>,
    dominator_tree: Dominators,
    post_dominator_tree: Dominators,
    owner: Vec<Option<usize>>,
    depth: Vec<usize>,
    reported: Reported,
    found: Vec<FoundFork>,
    bad: Vec<BadFork>,
}

impl Search<'_> {
    fn fork(&mut self, from: usize, handle: usize) {
        let end = self.shape.len();
        let ways = &self.shape.ways[from][handle].to;
        let mut heads = ways.iter().map(|way| way.to.node().unwrap_or(end));
        let first = heads.next().unwrap_or(end);
        let Some(meet) = heads.try_fold(first, |one, other| {
            self.post_dominator_tree.common(one, other)
        }) else {
            return;
        };
        let join = if meet == end { To::End } else { To::Node(meet) };
        if let Some(way) = ways.iter().find(|way| way.to == join) {
            self.bad.push(BadFork {
                from,
                join,
                problem: ForkProblem::ToJoin { edge: way.edge },
            });
        }
        // Without the edge to the join, the others may still be a fork.
        let heads: Vec<usize> = ways
            .iter()
            .map(|way| way.to.node().unwrap_or(end))
            .filter(|head| *head != meet)
            .collect();
        if heads.len() < 2 {
            return;
        }
        let troubles = match self.split(from, &heads, meet) {
            Ok(branches) => {
                let troubles = self.entered(from, handle, &branches);
                self.forget(branches.iter().flatten());
                let depth = self.depth[from];
                branches
                    .iter()
                    .flatten()
                    .for_each(|node| self.depth[*node] = depth + 1);
                self.found.push(FoundFork {
                    from,
                    handle,
                    branches,
                    join,
                    depth,
                });
                troubles
            }
            Err(troubles) => troubles,
        };
        self.bad.extend(troubles.into_iter().map(|problem| BadFork {
            from,
            join,
            problem,
        }));
    }

    /// The nodes of each branch stay marked in `owner`. `Err`: the branches are not separate.
    fn split(
        &mut self,
        from: usize,
        heads: &[usize],
        meet: usize,
    ) -> Result<Vec<Vec<usize>>, Vec<ForkProblem>> {
        let mut branches = Vec::new();
        let mut leads_back = Vec::new();
        let mut shared = Vec::new();
        for (branch, head) in heads.iter().enumerate() {
            let mut nodes = Vec::new();
            let mut open = vec![*head];
            while let Some(node) = open.pop() {
                match self.owner[node] {
                    _ if node == meet => {}
                    _ if node == from => leads_back.push(branch),
                    Some(owner) if owner == branch => {}
                    Some(owner) => shared.push((owner, branch, node)),
                    None => {
                        self.owner[node] = Some(branch);
                        nodes.push(node);
                        open.extend(self.shape.targets(node));
                    }
                }
            }
            branches.push(nodes);
        }
        leads_back.dedup();
        let mut troubles = Vec::new();
        for branch in &leads_back {
            let (edge, to) = self.edge_back(from, &branches[*branch]);
            if self.reported.edges.insert(edge) {
                troubles.push(ForkProblem::Back {
                    head: heads[*branch],
                    edge,
                    to,
                });
            }
        }
        if leads_back.is_empty() {
            let first = shared
                .iter()
                .find(|(.., node)| !self.reported.shared.contains(node));
            if let Some((one, other, node)) = first {
                troubles.push(ForkProblem::Shared {
                    heads: [heads[*one], heads[*other]],
                    node: *node,
                });
            }
            self.reported
                .shared
                .extend(shared.iter().map(|(.., node)| *node));
        }
        if leads_back.is_empty() && shared.is_empty() {
            return Ok(branches);
        }
        self.forget(branches.iter().flatten());
        Err(troubles)
    }

    /// Prefers an edge to a node that dominates the fork over one to the fork itself.
    fn edge_back(&self, from: usize, nodes: &[usize]) -> (usize, usize) {
        let mut any = (0, from);
        for node in nodes {
            for way in self.shape.out(*node) {
                match way.to {
                    To::Node(to) if self.leads_above(*node, to, from) => return (way.edge, to),
                    To::Node(to) if to == from => any = (way.edge, to),
                    _ => {}
                }
            }
        }
        any
    }

    /// Whether an edge leads from below a fork to a node that all paths to the fork pass.
    fn leads_above(&self, node: usize, to: usize, fork: usize) -> bool {
        self.dominator_tree.dominates(to, fork) && !self.dominator_tree.dominates(node, fork)
    }

    fn entered(&mut self, fork: usize, handle: usize, branches: &[Vec<usize>]) -> Vec<ForkProblem> {
        let mut troubles = Vec::new();
        for (branch, nodes) in branches.iter().enumerate() {
            let head = nodes[0];
            for node in nodes {
                if *node == self.start && !std::mem::replace(&mut self.reported.start, true) {
                    troubles.push(ForkProblem::Start { head, start: *node });
                }
                for &(from, by, edge) in &self.incoming[*node] {
                    let is_inner = self.owner[from] == Some(branch)
                        || (from == fork && by == handle && *node == head);
                    let is_shared = self.reported.shared.contains(node);
                    if !is_inner && !is_shared && self.reported.edges.insert(edge) {
                        troubles.push(ForkProblem::Entered {
                            head,
                            edge,
                            from,
                            to: *node,
                        });
                    }
                }
            }
        }
        troubles
    }

    fn forget<'n>(&mut self, nodes: impl Iterator<Item = &'n usize>) {
        for node in nodes {
            self.owner[*node] = None;
        }
    }
}
