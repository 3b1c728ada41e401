//! What a flow looks like: pictures are drawn from it, and journals compare it.

use std::any::TypeId;
use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// What a step of a flow is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "snake_case")]
pub enum Outline {
    /// A node, by its name.
    Node(Cow<'static, str>),
    /// A node that runs once for each item of a batch, by its name.
    Batch(Cow<'static, str>),
    /// A flow, with its name and its steps. The first step is the start. A flow
    /// within itself has no steps here.
    Flow(Cow<'static, str>, Vec<OutlineStep>),
    /// Nodes that run side by side.
    Parallel(Vec<Outline>),
}

impl From<&'static str> for Outline {
    fn from(node: &'static str) -> Self {
        Outline::Node(node.into())
    }
}

impl From<String> for Outline {
    fn from(node: String) -> Self {
        Outline::Node(node.into())
    }
}

/// A step of a flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OutlineStep {
    /// Its label in the flow.
    pub label: Cow<'static, str>,
    /// What it is.
    pub place: Outline,
    /// Where it leads, by action. The action of a plain arrow is empty.
    pub edges: Vec<(Cow<'static, str>, EdgeTarget)>,
}

/// The target of an edge. A text converts to the label of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "snake_case")]
pub enum EdgeTarget {
    /// The step with this label.
    Step(Cow<'static, str>),
    /// The end of the flow, with the action of the step that is left.
    End,
    /// Nowhere yet: `todo!()`.
    Todo,
}

impl From<&str> for EdgeTarget {
    fn from(label: &str) -> Self {
        EdgeTarget::Step(label.to_owned().into())
    }
}

impl From<String> for EdgeTarget {
    fn from(label: String) -> Self {
        EdgeTarget::Step(label.into())
    }
}

/// The flows around a step that is outlined, so that the outline of a flow within itself ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct OuterFlows<'a>(Option<(TypeId, &'a OuterFlows<'a>)>);

impl<'a> OuterFlows<'a> {
    pub(super) fn and<F: 'static>(&'a self) -> Option<OuterFlows<'a>> {
        let flow = TypeId::of::<F>();
        let mut outer = self;
        while let Some((other, next)) = outer.0 {
            if other == flow {
                return None;
            }
            outer = next;
        }
        Some(OuterFlows(Some((flow, self))))
    }
}
