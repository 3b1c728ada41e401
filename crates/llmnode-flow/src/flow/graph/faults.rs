//! What is wrong with a flow that was to be built.

use llmnode_runtime::{Category, NodeError};

/// One fault of a flow that was to be built. Its text says what is wrong, where, and what would be right.
#[derive(Debug, thiserror::Error)]
pub(super) enum FlowFault {
    /// It has no step.
    #[error("it has no step; `.step::<Node>(\"label\")` adds one")]
    NoSteps,
    /// A step has an empty label.
    #[error("a step has an empty label; positions, edges and pictures name it by its label")]
    EmptyLabel,
    /// Two steps have one label.
    #[error("two steps have the label `{label}`; give one of them another label")]
    DuplicateLabel {
        /// Their label.
        label: String,
    },
    /// It is to start at a step that it does not have.
    #[error("it starts at `{label}`, which is no step{}", proposal(nearest))]
    UnknownStart {
        /// Where it is to start.
        label: String,
        /// A step of a similar name.
        nearest: Option<String>,
    },
    /// An edge leaves a step that the flow does not have.
    #[error("an edge for `{action}` leaves `{label}`, which is no step{}", proposal(nearest))]
    UnknownStep {
        /// The step that the edge leaves.
        label: String,
        /// The edge's action.
        action: String,
        /// A step of a similar name.
        nearest: Option<String>,
    },
    /// An edge leads to a step that the flow does not have.
    #[error("the edge of `{label}` for `{action}` leads to `{to}`, which is no step{}", proposal(nearest))]
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
    #[error("two edges leave `{label}` for `{action}`; an action has one edge")]
    DuplicateEdge {
        /// The step.
        label: String,
        /// The action.
        action: String,
    },
    /// An action that a step can give has no edge.
    #[error(
        "`{label}` can give the action `{action}`, for which it has no edge; `To::End` ends the flow there"
    )]
    MissingEdge {
        /// The step.
        label: String,
        /// The action.
        action: String,
    },
    /// A step whose action may be any text has no edge at all.
    #[error("`{label}` has no edge; `To::End` ends the flow there")]
    NoEdges {
        /// The step.
        label: String,
    },
    /// An edge is for an action that its step cannot give.
    #[error("`{label}` has an edge for the action `{action}`, which it cannot give{}", proposal(nearest))]
    UnknownAction {
        /// The step.
        label: String,
        /// The action.
        action: String,
        /// An action of a similar name.
        nearest: Option<String>,
    },
    /// No edge leads to a step, from the start on.
    #[error("no way leads from the start to `{label}`")]
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
