//! What every path from a root to a node passes, by the algorithm of Cooper, Harvey and Kennedy.

pub(super) struct Dominators {
    /// The root is its own; [`NOWHERE`]: no path leads to the node.
    idom: Vec<usize>,
    depth: Vec<usize>,
}

const NOWHERE: usize = usize::MAX;

impl Dominators {
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

    /// The nearest node that dominates both. `None`: one of them is not reached.
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

/// Each before those that follow it, except in loops.
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
