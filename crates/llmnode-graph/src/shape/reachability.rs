//! Which nodes a run reaches, and from which of them it reaches the end.

use super::Shape;

pub(crate) fn reach(shape: &Shape, roots: &[usize]) -> Vec<bool> {
    spread(shape.len(), roots.to_vec(), |node| shape.targets(node))
}

fn spread<I: Iterator<Item = usize>>(
    count: usize,
    mut open: Vec<usize>,
    next: impl Fn(usize) -> I,
) -> Vec<bool> {
    let mut reached = vec![false; count];
    while let Some(node) = open.pop() {
        if !std::mem::replace(&mut reached[node], true) {
            open.extend(next(node));
        }
    }
    reached
}

/// Each connected group is one mistake, and begins with a node that the missing edge would have to reach.
pub(crate) fn unreachable(shape: &Shape, reached: &[bool], steps: &[bool]) -> Vec<Vec<usize>> {
    let is_lost: Vec<bool> =
        reached.iter().zip(steps).map(|(reached, is_step)| !reached && *is_step).collect();
    let mut around = vec![Vec::new(); shape.len()];
    let mut has_edge = vec![false; shape.len()];
    for node in (0..shape.len()).filter(|node| is_lost[*node]) {
        for to in shape.targets(node).filter(|to| is_lost[*to] && *to != node) {
            around[node].push(to);
            around[to].push(node);
            has_edge[to] = true;
        }
    }
    let mut seen = vec![false; shape.len()];
    let mut groups = Vec::new();
    for first in (0..shape.len()).filter(|node| is_lost[*node]) {
        if seen[first] {
            continue;
        }
        let (mut group, mut open) = (Vec::new(), vec![first]);
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut seen[node], true) {
                group.push(node);
                open.extend(&around[node]);
            }
        }
        group.sort_by_key(|node| (has_edge[*node], *node));
        groups.push(group);
    }
    groups
}

/// By cycles. A node that only leads to such a cycle is not the mistake.
pub(crate) fn endless(shape: &Shape, reached: &[bool]) -> Vec<Vec<usize>> {
    let reached: Vec<usize> = (0..shape.len()).filter(|node| reached[*node]).collect();
    let mut back = vec![Vec::new(); shape.len()];
    for node in &reached {
        for to in shape.targets(*node) {
            back[to].push(*node);
        }
    }
    let leaves = |node: &usize| shape.is_last(*node);
    let last = reached.iter().copied().filter(leaves).collect();
    let ends = spread(shape.len(), last, |node| back[node].iter().copied());
    let mut groups = Vec::new();
    for group in strongly_connected(shape, &reached, &ends) {
        let leaves = |node: &usize| shape.targets(*node).any(|to| !group.contains(&to));
        if !group.iter().any(leaves) {
            let mut group = group;
            group.sort_unstable();
            groups.push(group);
        }
    }
    groups.sort();
    groups
}

/// Tarjan's algorithm, on the nodes that do not reach the end.
fn strongly_connected(shape: &Shape, reached: &[usize], ends: &[bool]) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let (mut number, mut low) = (vec![NEW; shape.len()], vec![0; shape.len()]);
    let (mut on_stack, mut stack, mut count) = (vec![false; shape.len()], Vec::new(), 0);
    let mut found = Vec::new();
    for root in reached.iter().copied().filter(|node| !ends[*node]) {
        if number[root] != NEW {
            continue;
        }
        let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
        let enter = |node: usize, open: &mut Vec<(usize, Vec<usize>)>| {
            open.push((node, shape.targets(node).filter(|to| !ends[*to]).collect()));
        };
        enter(root, &mut open);
        (number[root], low[root], on_stack[root]) = (count, count, true);
        count += 1;
        stack.push(root);
        while let Some((node, to)) = open.last_mut() {
            let node = *node;
            match to.pop() {
                Some(to) if number[to] == NEW => {
                    (number[to], low[to], on_stack[to]) = (count, count, true);
                    count += 1;
                    stack.push(to);
                    enter(to, &mut open);
                }
                Some(to) => {
                    if on_stack[to] {
                        low[node] = low[node].min(number[to]);
                    }
                }
                None => {
                    open.pop();
                    if let Some((above, _)) = open.last() {
                        low[*above] = low[*above].min(low[node]);
                    }
                    if low[node] == number[node] {
                        let from = stack.iter().rposition(|one| *one == node).unwrap_or_default();
                        let group = stack.split_off(from);
                        for one in &group {
                            on_stack[*one] = false;
                        }
                        found.push(group);
                    }
                }
            }
        }
    }
    found
}
