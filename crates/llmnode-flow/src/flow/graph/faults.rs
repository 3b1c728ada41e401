//! The faults of a flow that cannot be built.

use llmnode_runtime::{Category, NodeError};

#[derive(Debug, thiserror::Error)]
pub(super) enum FlowFault {
    #[error("it has no step; add one with `.step::<Node>(\"label\")`")]
    NoSteps,
    #[error("a step has an empty label; give it one, since positions, edges and pictures use it")]
    EmptyLabel,
    #[error("two steps have the label `{label}`; give one of them another label")]
    DuplicateLabel {
        /// Their label.
        label: String,
    },
    #[error(
        "it starts at `{label}`, but there is no such step{}",
        proposal(nearest)
    )]
    UnknownStart {
        label: String,
        /// A step of a similar name.
        nearest: Option<String>,
    },
    #[error(
        "an edge for `{action}` starts at `{label}`, but there is no such step{}",
        proposal(nearest)
    )]
    UnknownStep {
        label: String,
        action: String,
        /// A step of a similar name.
        nearest: Option<String>,
    },
    #[error(
        "the edge of `{label}` for `{action}` leads to `{to}`, but there is no such step{}",
        proposal(nearest)
    )]
    UnknownTarget {
        label: String,
        action: String,
        to: String,
        /// A step of a similar name.
        nearest: Option<String>,
    },
    #[error("`{label}` has two edges for `{action}`; remove one of them")]
    DuplicateEdge {
        /// The step.
        label: String,
        action: String,
    },
    #[error(
        "`{label}` has no edge for its action `{action}`; add `.on(\"{label}\", \"{action}\", \
         ..)`, with `EdgeTarget::End` to end the flow"
    )]
    MissingEdge {
        /// The step.
        label: String,
        action: String,
    },
    #[error(
        "`{label}` has no edge; add one with `.on(..)`, with `EdgeTarget::End` to end the flow"
    )]
    NoEdges {
        /// The step.
        label: String,
    },
    #[error(
        "`{label}` has an edge for `{action}`, which is not one of its actions{}",
        proposal(nearest)
    )]
    UnknownAction {
        label: String,
        action: String,
        /// An action of a similar name.
        nearest: Option<String>,
    },
    #[error("no edge leads from the start to `{label}`; add one, or remove the step")]
    Unreachable {
        /// The step.
        label: String,
    },
}

fn proposal(nearest: &Option<String>) -> String {
    nearest
        .as_ref()
        .map(|nearest| format!("; did you mean `{nearest}`?"))
        .unwrap_or_default()
}

pub(super) fn cannot_be_built(flow: &str, faults: &[FlowFault]) -> NodeError {
    let lines: String = faults
        .iter()
        .map(|fault| format!("\n  - {fault}"))
        .collect();
    NodeError::new(
        Category::ConfigError,
        format!("the flow `{flow}` cannot be built:{lines}"),
    )
}
