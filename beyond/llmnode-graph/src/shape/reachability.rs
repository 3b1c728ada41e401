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
    let before = |nodes: Vec<usize>| spread(shape.len(), nodes, |node| back[node].iter().copied());
    let ends = before(
        reached
            .iter()
            .copied()
            .filter(|node| shape.is_last(*node))
            .collect(),
    );
    let (mut groups, mut seen) = (Vec::new(), ends);
    for node in reached.into_iter().rev() {
        if seen[node] {
            continue;
        }
        let (group, leads_here) = (marked(&reach(shape, &[node])), before(vec![node]));
        if group.iter().all(|one| leads_here[*one]) {
            groups.push(group);
            // Whatever leads to a cycle is in no other one.
            seen.iter_mut()
                .zip(leads_here)
                .for_each(|(seen, leads)| *seen |= leads);
        }
    }
    groups.sort();
    groups
}
