//! The steps of a plan in the order in which what they write reaches others, forks and joins taken apart.

use crate::shape::{Next, Region, To};

/// The points of a graph that values pass. The first are the nodes of the file.
pub(super) struct Flat {
    pub(super) points: Vec<Point>,
}

/// A point that values pass.
#[derive(Default)]
pub(super) struct Point {
    /// From where values come.
    pub(super) from: Vec<(usize, By)>,
    /// Whether all of what leads here has run when it is passed, as behind a fork; else one of it.
    pub(super) is_join: bool,
}

/// How a step was left.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// What it writes is written.
    Done,
    /// It failed, or was refused: what it writes is not written.
    Failed,
    /// A loop is complete: what it wrote is cleared.
    Cleared,
}

impl Flat {
    /// The points of a plan over so many nodes.
    pub(super) fn new(nodes: usize, region: &Region, is_iterator: &dyn Fn(usize) -> bool) -> Self {
        let points = (0..nodes).map(|_| Point::default()).collect();
        let mut flat = Flat { points };
        flat.region(region, None, is_iterator);
        flat
    }

    fn point(&mut self, is_join: bool) -> usize {
        self.points.push(Point { from: Vec::new(), is_join });
        self.points.len() - 1
    }

    /// Joins the points of a region; `exit`: where its ways out lead.
    fn region(&mut self, region: &Region, exit: Option<usize>, is_iterator: &dyn Fn(usize) -> bool) {
        let own: std::collections::HashSet<usize> = region.nodes.iter().copied().collect();
        let place = |to: To| match to {
            To::Node(node) if own.contains(&node) => Some(node),
            _ => exit,
        };
        for ((node, handle), next) in &region.next {
            let by = match &**handle {
                "error" | "rejected" => By::Failed,
                "complete" if is_iterator(*node) => By::Cleared,
                _ => By::Done,
            };
            match next {
                Next::One(to) => {
                    if let Some(to) = place(*to) {
                        self.points[to].from.push((*node, by));
                    }
                }
                Next::Fork(index) => {
                    let fork = &region.forks[*index];
                    let join = self.point(true);
                    for branch in &fork.branches {
                        self.points[branch.entry].from.push((*node, by));
                        let end = self.point(false);
                        self.region(branch, Some(end), is_iterator);
                        self.points[join].from.push((end, By::Done));
                    }
                    if let Some(to) = place(fork.join) {
                        self.points[to].from.push((join, By::Done));
                    }
                }
            }
        }
    }
}
