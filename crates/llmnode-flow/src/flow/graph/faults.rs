//! The faults of a flow that cannot be built.

use llmnode_runtime::{Category, NodeError};

/// One fault of a flow that cannot be built. Its text says what is wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub(super) enum FlowFault {
    /// It has no step.
    #[error("it has no step; add one with `.step::<Node>(\"label\")`")]
    NoSteps,
    /// A step has an empty label.
    #[error("a step has an empty label; give it one, since positions, edges and pictures use it")]
    EmptyLabel,
    /// Two steps have one label.
    #[error("two steps have the label `{label}`; give one of them another label")]
    DuplicateLabel {
        /// Their label.
        label: String,
    },
    /// The flow starts at a step that it does not have.
    #[error("it starts at `{label}`, but there is no such step{}", proposal(nearest))]
    UnknownStart {
        /// Where it starts.
        label: String,
        /// A step of a similar name.
        nearest: Option<String>,
    },
    /// An edge leaves a step that the flow does not have.
    #[error("an edge for `{action}` starts at `{label}`, but there is no such step{}", proposal(nearest))]
    UnknownStep {
        /// The step that the edge leaves.
        label: String,
        /// The edge's action.
        action: String,
        /// A step of a similar name.
        nearest: Option<String>,
    },
    /// An edge leads to a step that the flow does not have.
    #[error(
        "the edge of `{label}` for `{action}` leads to `{to}`, but there is no such step{}",
        proposal(nearest)
    )]
    UnknownTarget {
        /// The step that the edge leaves.
        label: String,
        /// The edge's action.
        action: String,
        /// Where it leads.
        to: String,
        /// A step of a similar name.
        nearest: Option<String>,
    },
    /// Two edges leave one step for one action.
    #[error("`{label}` has two edges for `{action}`; remove one of them")]
    DuplicateEdge {
        /// The step.
        label: String,
        /// The action.
        action: String,
    },
    /// An action of a step has no edge.
    #[error(
        "`{label}` has no edge for its action `{action}`; add `.on(\"{label}\", \"{action}\", ..)`, with `To::End` to end the flow"
    )]
    MissingEdge {
        /// The step.
        label: String,
        /// The action.
        action: String,
    },
    /// A step whose action may be any text has no edge at all.
    #[error("`{label}` has no edge; add one with `.on(..)`, with `To::End` to end the flow")]
    NoEdges {
        /// The step.
        label: String,
    },
    /// An edge is for an action that its step does not have.
    #[error("`{label}` has an edge for `{action}`, which is not one of its actions{}", proposal(nearest))]
    UnknownAction {
        /// The step.
        label: String,
        /// The action.
        action: String,
        /// An action of a similar name.
        nearest: Option<String>,
    },
    /// A step cannot be reached from the start.
    #[error("no edge leads from the start to `{label}`; add one, or remove the step")]
    Unreachable {
        /// The step.
        label: String,
    },
}

fn proposal(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default()
}

/// The error that lists everything that is wrong with a flow.
pub(super) fn cannot_be_built(flow: &str, faults: &[FlowFault]) -> NodeError {
    let lines: String = faults.iter().map(|fault| format!("\n  - {fault}")).collect();
    NodeError::new(Category::ConfigError, format!("the flow `{flow}` cannot be built:{lines}"))
}
