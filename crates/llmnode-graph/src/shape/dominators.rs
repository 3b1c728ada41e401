//! What every way from a root to a node passes, by the algorithm of Cooper, Harvey and Kennedy.

/// The tree of dominators of a graph.
pub(super) struct Dominators {
    /// Of each node the nearest other one that every way to it passes. The root's is itself; `usize::MAX`: no way leads to
    /// the node.
    idom: Vec<usize>,
    /// How many stand above.
    depth: Vec<usize>,
}

const NOWHERE: usize = usize::MAX;

impl Dominators {
    /// Of a graph given by the targets of each node.
    pub(super) fn new(root: usize, out: &[Vec<usize>]) -> Self {
        let order = reverse_postorder(root, out);
        let mut place = vec![NOWHERE; out.len()];
        for (index, node) in order.iter().enumerate() {
            place[*node] = index;
        }
        let mut into = vec![Vec::new(); out.len()];
        for node in &order {
            for to in &out[*node] {
                into[*to].push(*node);
            }
        }
        let mut idom = vec![NOWHERE; out.len()];
        idom[root] = root;
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for node in order.iter().skip(1) {
                let mut known = into[*node].iter().copied().filter(|from| idom[*from] != NOWHERE);
                let Some(first) = known.next() else { continue };
                let nearest = known.fold(first, |one, other| {
                    let (mut one, mut other) = (one, other);
                    while one != other {
                        if place[one] > place[other] {
                            one = idom[one];
                        } else {
                            other = idom[other];
                        }
                    }
                    one
                });
                has_changed |= idom[*node] != nearest;
                idom[*node] = nearest;
            }
        }
        let mut depth = vec![0; out.len()];
        for node in order.iter().skip(1) {
            depth[*node] = depth[idom[*node]] + 1;
        }
        Dominators { idom, depth }
    }

    /// The nearest node that stands above both, or is one of them; `None`: no way leads to one of them.
    pub(super) fn common(&self, mut one: usize, mut other: usize) -> Option<usize> {
        if self.idom[one] == NOWHERE || self.idom[other] == NOWHERE {
            return None;
        }
        while one != other {
            if self.depth[one] >= self.depth[other] {
                one = self.idom[one];
            } else {
                other = self.idom[other];
            }
        }
        Some(one)
    }

    /// Whether every way to a node passes this one, or it is the node.
    pub(super) fn dominates(&self, this: usize, mut node: usize) -> bool {
        if self.idom[node] == NOWHERE || self.idom[this] == NOWHERE {
            return false;
        }
        while self.depth[node] > self.depth[this] {
            node = self.idom[node];
        }
        node == this
    }
}

/// The nodes that are reached, each before those behind it, but for loops.
pub(crate) fn reverse_postorder(root: usize, out: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; out.len()];
    let mut order = Vec::new();
    let mut open = vec![(root, 0)];
    seen[root] = true;
    while let Some((node, next)) = open.last_mut() {
        match out[*node].get(*next) {
            Some(to) => {
                *next += 1;
                if !seen[*to] {
                    seen[*to] = true;
                    open.push((*to, 0));
                }
            }
            None => {
                order.push(*node);
                open.pop();
            }
        }
    }
    order.reverse();
    order
}
