//! The edges of a typed flow, as `flow!` states them.

/// A step of a typed flow: its label, and the edges that leave it.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    /// What the flow calls the step.
    pub label: &'static str,
    /// In the order of the arms.
    pub edges: &'static [Edge],
}

/// An edge of a typed flow.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The action that takes it, as the flow writes it; empty for a plain arrow.
    pub action: &'static str,
    /// Where it leads.
    pub to: Target,
}

impl Stop {
    /// A step of that label, and the edges that leave it.
    pub const fn new(label: &'static str, edges: &'static [Edge]) -> Self {
        Stop { label, edges }
    }
}

impl Edge {
    /// To the step of an index.
    pub const fn to(action: &'static str, step: usize) -> Self {
        Edge { action, to: Target::Step(step) }
    }

    /// Out of the flow.
    pub const fn end(action: &'static str) -> Self {
        Edge { action, to: Target::End }
    }

    /// Nowhere yet.
    pub const fn todo(action: &'static str) -> Self {
        Edge { action, to: Target::Todo }
    }
}

/// Where an edge leads.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    /// To the step of that index.
    Step(usize),
    /// Out of the flow.
    End,
    /// Nowhere yet: `todo!()`.
    Todo,
}

/// The edge that is taken, by its index, and the flow's own action, if it leads out.
#[derive(Debug)]
pub struct Arm<A> {
    pub(super) edge: usize,
    pub(super) action: Option<A>,
}

impl<A> Arm<A> {
    /// To a step, or to none yet.
    pub fn to(edge: usize) -> Self {
        Arm { edge, action: None }
    }

    /// Out of the flow.
    pub fn end(edge: usize, action: A) -> Self {
        Arm { edge, action: Some(action) }
    }
}
