//! Which nodes a run reaches, and from which of them it reaches the end.

use super::Shape;

/// The nodes that can be reached from these, by their numbers.
pub(crate) fn reach(shape: &Shape, roots: &[usize]) -> Vec<bool> {
    spread(shape.len(), roots.to_vec(), |node| shape.targets(node))
}

/// Goes on from node to node until nothing new is found.
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

fn marked(nodes: &[bool]) -> Vec<usize> {
    (0..nodes.len()).filter(|node| nodes[*node]).collect()
}

/// Each connected group is one mistake, and begins with a node that the missing edge would have to reach.
pub(crate) fn unreachable(shape: &Shape, reached: &[bool], steps: &[bool]) -> Vec<Vec<usize>> {
    let mut is_lost: Vec<bool> = reached
        .iter()
        .zip(steps)
        .map(|(reached, is_step)| !reached && *is_step)
        .collect();
    let mut around = vec![Vec::new(); shape.len()];
    let mut has_edge = vec![false; shape.len()];
    for node in marked(&is_lost) {
        for to in shape.targets(node).filter(|to| is_lost[*to] && *to != node) {
            around[node].push(to);
            around[to].push(node);
            has_edge[to] = true;
        }
    }
    let mut groups = Vec::new();
    while let Some(first) = is_lost.iter().position(|is_lost| *is_lost) {
        let mut group = marked(&spread(shape.len(), vec![first], |node| {
            around[node].iter().copied()
        }));
        group.iter().for_each(|node| is_lost[*node] = false);
        group.sort_by_key(|node| has_edge[*node]);
        groups.push(group);
    }
    groups
}

/// By cycles. A node that only leads to such a cycle is not the mistake.
pub(crate) fn endless(shape: &Shape, reached: &[bool]) -> Vec<Vec<usize>> {
    let reached = marked(reached);
    let mut back = vec![Vec::new(); shape.len()];
    for node in &reached {
        for to in shape.targets(*node) {
            back[to].push(*node);
        }
    }
    let mut last = Vec::new();
    for node in &reached {
        if shape.is_last(*node) {
            last.push(*node);
        }
    }
    let mut seen = leading_to(&back, last);
    let mut groups = Vec::new();
    for node in reached.into_iter().rev() {
        if seen[node] {
            continue;
        }
        let group = marked(&reach(shape, &[node]));
        let leads_here = leading_to(&back, vec![node]);
        if group.iter().all(|member| leads_here[*member]) {
            groups.push(group);
            // Whatever leads to a cycle is in no other one.
            for (seen, leads) in seen.iter_mut().zip(leads_here) {
                *seen |= leads;
            }
        }
    }
    groups.sort();
    groups
}

/// The nodes from which one of these is reached. `back`: where edges to a node come from.
fn leading_to(back: &[Vec<usize>], nodes: Vec<usize>) -> Vec<bool> {
    spread(back.len(), nodes, |node| back[node].iter().copied())
}
