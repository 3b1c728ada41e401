//! What every path from a root to a node passes, by the algorithm of Cooper, Harvey and Kennedy.

pub(super) struct Dominators {
    /// The root is its own; [`NOWHERE`]: no path leads to the node.
    idom: Vec<usize>,
    /// In reverse postorder, where a node comes after those that dominate it.
    place: Vec<usize>,
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
                let mut ordered = into[*node]
                    .iter()
                    .copied()
                    .filter(|from| idom[*from] != NOWHERE);
                let Some(first) = ordered.next() else {
                    continue;
                };
                let nearest = ordered.fold(first, |one, other| meet(&idom, &place, one, other));
                has_changed |= idom[*node] != nearest;
                idom[*node] = nearest;
            }
        }
        Dominators { idom, place }
    }

    /// The nearest node that dominates both. `None`: one of them is not reached.
    pub(super) fn common(&self, one: usize, other: usize) -> Option<usize> {
        let is_reached = self.idom[one] != NOWHERE && self.idom[other] != NOWHERE;
        is_reached.then(|| meet(&self.idom, &self.place, one, other))
    }

    pub(super) fn dominates(&self, this: usize, mut node: usize) -> bool {
        if self.idom[node] == NOWHERE || self.idom[this] == NOWHERE {
            return false;
        }
        while self.place[node] > self.place[this] {
            node = self.idom[node];
        }
        node == this
    }
}

fn meet(idom: &[usize], place: &[usize], mut one: usize, mut other: usize) -> usize {
    while one != other {
        if place[one] > place[other] {
            one = idom[one];
        } else {
            other = idom[other];
        }
    }
    one
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
