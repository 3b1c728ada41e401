//! The names of the fields: OpenTelemetry's semantic conventions for generative AI, and llmnode's own.
//!
//! The conventions are still in development; what changes in them changes here.

/// What OpenTelemetry's layer for `tracing` takes as the span's name.
pub(crate) const NAME: &str = "otel.name";
/// What that layer takes as the span's kind.
pub(crate) const KIND: &str = "otel.kind";
/// What that layer takes as the span's status.
pub(crate) const STATUS: &str = "otel.status_code";

pub(crate) const ERROR_TYPE: &str = "error.type";
pub(crate) const HTTP_STATUS: &str = "http.response.status_code";
pub(crate) const SERVER_ADDRESS: &str = "server.address";
pub(crate) const SERVER_PORT: &str = "server.port";

pub(crate) const OPERATION: &str = "gen_ai.operation.name";
pub(crate) const WORKFLOW: &str = "gen_ai.workflow.name";
pub(crate) const PROVIDER: &str = "gen_ai.provider.name";
pub(crate) const OUTPUT_TYPE: &str = "gen_ai.output.type";
pub(crate) const REQUEST_MODEL: &str = "gen_ai.request.model";
pub(crate) const REQUEST_MAX_TOKENS: &str = "gen_ai.request.max_tokens";
pub(crate) const REQUEST_TEMPERATURE: &str = "gen_ai.request.temperature";
pub(crate) const RESPONSE_ID: &str = "gen_ai.response.id";
pub(crate) const RESPONSE_MODEL: &str = "gen_ai.response.model";
pub(crate) const RESPONSE_FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
pub(crate) const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
pub(crate) const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
pub(crate) const CACHED_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
pub(crate) const REASONING_TOKENS: &str = "gen_ai.usage.reasoning.output_tokens";
pub(crate) const INPUT_MESSAGES: &str = "gen_ai.input.messages";
pub(crate) const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";

pub(crate) const NODE: &str = "llmnode.node";
pub(crate) const CALL_ID: &str = "llmnode.call.id";
pub(crate) const CALL_PARENT: &str = "llmnode.call.parent";
pub(crate) const CALL_DEGRADED: &str = "llmnode.call.degraded";
pub(crate) const ATTEMPT_ID: &str = "llmnode.attempt.id";
pub(crate) const ATTEMPT_KIND: &str = "llmnode.attempt.kind";
pub(crate) const ATTEMPT_WAIT: &str = "llmnode.attempt.wait_ms";
pub(crate) const REQUEST_ID: &str = "llmnode.request.id";
pub(crate) const FLOW_STEPS: &str = "llmnode.flow.steps";
pub(crate) const STEP_POSITION: &str = "llmnode.step.position";
pub(crate) const STEP_ACTION: &str = "llmnode.step.action";
