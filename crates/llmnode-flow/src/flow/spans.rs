//! The spans of a flow and of its steps.

use llmnode_runtime::Category;
use llmnode_runtime::ext::Position;
use tracing::Span;
use tracing::field::Empty;

// As in the spans of the runtime.
const NAME: &str = "otel.name";
const STATUS: &str = "otel.status_code";
const STATUS_DESCRIPTION: &str = "otel.status_description";
const ERROR_TYPE: &str = "error.type";
const OPERATION: &str = "gen_ai.operation.name";
const NODE: &str = "llmnode.node";

const CONVERSATION: &str = "gen_ai.conversation.id";
const AGENT_NAME: &str = "gen_ai.agent.name";
/// The name before version 0.1.0 of the conventions for generative AI, kept for one release.
const WORKFLOW: &str = "gen_ai.workflow.name";
const FLOW_STEPS: &str = "llmnode.flow.steps";
const STEP_POSITION: &str = "llmnode.step.position";
const STEP_ACTION: &str = "llmnode.step.action";
const CALL_ID: &str = "llmnode.call.id";
const CALL_PARENT: &str = "llmnode.call.parent";
const CALL_LABELS: &str = "llmnode.call.labels";
const CALL_DEGRADED: &str = "llmnode.call.degraded";

pub(crate) struct FlowSpan(Span);

impl FlowSpan {
    pub(crate) fn begin(flow: &str) -> Self {
        FlowSpan(tracing::info_span!(
            target: "llmnode::flow",
            "flow",
            { NAME } = %format_args!("invoke_workflow {flow}"),
            { OPERATION } = "invoke_workflow",
            { AGENT_NAME } = flow,
            { WORKFLOW } = flow,
            { FLOW_STEPS } = Empty,
            { ERROR_TYPE } = Empty,
            { STATUS } = Empty,
            { STATUS_DESCRIPTION } = Empty,
        ))
    }

    pub(crate) fn span(&self) -> &Span {
        &self.0
    }

    pub(crate) fn end(&self, steps: u64, category: Option<Category>) {
        self.0
            .record(FLOW_STEPS, i64::try_from(steps).unwrap_or(i64::MAX));
        failed(&self.0, category);
    }
}

pub(crate) struct StepSpan(Span);

impl StepSpan {
    pub(crate) fn none() -> Self {
        StepSpan(Span::none())
    }

    pub(crate) fn begin(at: &Position, node: &str) -> Self {
        StepSpan(tracing::info_span!(
            target: "llmnode::flow",
            "step",
            { NAME } = at.labels().last().unwrap_or(node),
            { NODE } = node,
            { STEP_POSITION } = %at,
            { STEP_ACTION } = Empty,
            // Set where the step is nothing but its node's call, which then has no span.
            { CALL_ID } = Empty,
            { CALL_PARENT } = Empty,
            { CALL_LABELS } = Empty,
            { CONVERSATION } = Empty,
            { CALL_DEGRADED } = Empty,
            { OPERATION } = Empty,
            { AGENT_NAME } = Empty,
            { ERROR_TYPE } = Empty,
            { STATUS } = Empty,
            { STATUS_DESCRIPTION } = Empty,
        ))
    }

    pub(crate) fn span(&self) -> &Span {
        &self.0
    }

    pub(crate) fn edge_taken(&self, action: &str) {
        self.0.record(STEP_ACTION, action);
    }

    pub(crate) fn end(&self, category: Option<Category>) {
        failed(&self.0, category);
    }
}

fn failed(span: &Span, category: Option<Category>) {
    if let Some(category) = category {
        span.record(ERROR_TYPE, category.as_str())
            .record(STATUS, "ERROR");
        span.record(STATUS_DESCRIPTION, category.as_str());
    }
}
