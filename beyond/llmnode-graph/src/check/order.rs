//! The steps of a graph in the order in which values reach them, with forks and joins taken apart.

use std::collections::HashMap;

use crate::shape::{FoundFork, Shape, To};

pub(super) struct PointGraph {
    pub(super) points: Vec<Point>,
}

#[derive(Default)]
pub(super) struct Point {
    pub(super) from: Vec<(usize, StepExit)>,
    /// Passed after all of `from`, as after a fork; otherwise after one.
    pub(super) is_join: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StepExit {
    Done,
    /// By failure or refusal: its writes are not applied.
    Failed,
    Cleared,
}

type Branch = (usize, To);

impl PointGraph {
    pub(super) fn new(
        shape: &Shape,
        forks: &[FoundFork],
        is_iterator: &dyn Fn(usize) -> bool,
    ) -> Self {
        let mut flat = PointGraph { points: Vec::new() };
        flat.points.resize_with(shape.ways.len(), Point::default);
        let mut within: Vec<Option<Branch>> = vec![None; shape.ways.len()];
        let mut fork_at = HashMap::new();
        for fork in forks {
            // What follows a fork belongs to the branch of the fork's node.
            let join = flat.point(true);
            flat.lead(join, StepExit::Done, fork.join, within[fork.from]);
            fork_at.insert((fork.from, fork.handle), fork);
            for nodes in &fork.branches {
                let end = flat.point(false);
                flat.points[join].from.push((end, StepExit::Done));
                nodes
                    .iter()
                    .for_each(|node| within[*node] = Some((end, fork.join)));
            }
        }
        for (node, handles) in shape.ways.iter().enumerate() {
            for (place, handle) in handles.iter().enumerate() {
                let by = match &*handle.name {
                    "error" | "rejected" => StepExit::Failed,
                    "complete" if is_iterator(node) => StepExit::Cleared,
                    _ => StepExit::Done,
                };
                match fork_at.get(&(node, place)) {
                    Some(fork) => {
                        let heads = fork.branches.iter().map(|branch| branch[0]);
                        heads.for_each(|head| flat.points[head].from.push((node, by)));
                    }
                    None => {
                        for way in &handle.to {
                            flat.lead(node, by, way.to, within[node]);
                        }
                    }
                }
            }
        }
        flat
    }

    fn point(&mut self, is_join: bool) -> usize {
        self.points.push(Point {
            is_join,
            ..Point::default()
        });
        self.points.len() - 1
    }

    /// Inside a branch, an edge to the join leads to the branch's end.
    fn lead(&mut self, from: usize, by: StepExit, to: To, within: Option<Branch>) {
        let to = match (within, to) {
            (Some((end, join)), to) if join == to => end,
            (_, To::Node(to)) => to,
            (_, To::End) => return,
        };
        self.points[to].from.push((from, by));
    }
}
