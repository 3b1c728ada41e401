//! The names of the fields: OpenTelemetry's semantic conventions for generative AI,
//! and llmnode's own.
//!
//! The conventions are still in development; what changes in them changes here.

/// `tracing-opentelemetry` takes the span's name, kind and status from these fields.
pub(super) const NAME: &str = "otel.name";
pub(super) const KIND: &str = "otel.kind";
pub(super) const STATUS: &str = "otel.status_code";
pub(super) const STATUS_DESCRIPTION: &str = "otel.status_description";

pub(super) const ERROR_TYPE: &str = "error.type";
pub(super) const HTTP_STATUS: &str = "http.response.status_code";
pub(super) const SERVER_ADDRESS: &str = "server.address";
pub(super) const SERVER_PORT: &str = "server.port";

pub(super) const OPERATION: &str = "gen_ai.operation.name";
pub(super) const PROVIDER: &str = "gen_ai.provider.name";
pub(super) const OUTPUT_TYPE: &str = "gen_ai.output.type";
pub(super) const REQUEST_MODEL: &str = "gen_ai.request.model";
pub(super) const REQUEST_MAX_TOKENS: &str = "gen_ai.request.max_tokens";
pub(super) const REQUEST_TEMPERATURE: &str = "gen_ai.request.temperature";
pub(super) const RESPONSE_ID: &str = "gen_ai.response.id";
pub(super) const RESPONSE_MODEL: &str = "gen_ai.response.model";
pub(super) const RESPONSE_FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
pub(super) const TIME_TO_FIRST_CHUNK: &str = "gen_ai.response.time_to_first_chunk";
pub(super) const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
pub(super) const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
pub(super) const CACHED_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
pub(super) const CACHE_WRITE_TOKENS: &str = "gen_ai.usage.cache_creation.input_tokens";
pub(super) const REASONING_TOKENS: &str = "gen_ai.usage.reasoning.output_tokens";
pub(super) const INPUT_MESSAGES: &str = "gen_ai.input.messages";
pub(super) const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";
pub(super) const TOOL_DEFINITIONS: &str = "gen_ai.tool.definitions";
pub(super) const CONVERSATION: &str = "gen_ai.conversation.id";
pub(super) const AGENT_NAME: &str = "gen_ai.agent.name";
pub(super) const TOOL_NAME: &str = "gen_ai.tool.name";
pub(super) const TOOL_TYPE: &str = "gen_ai.tool.type";
pub(super) const TOOL_DESCRIPTION: &str = "gen_ai.tool.description";
pub(super) const TOOL_CALL_ID: &str = "gen_ai.tool.call.id";
pub(super) const TOOL_ARGUMENTS: &str = "gen_ai.tool.call.arguments";
pub(super) const TOOL_RESULT: &str = "gen_ai.tool.call.result";

pub(super) const NODE: &str = "llmnode.node";
pub(super) const CALL_ID: &str = "llmnode.call.id";
pub(super) const CALL_PARENT: &str = "llmnode.call.parent";
pub(super) const CALL_LABELS: &str = "llmnode.call.labels";
pub(super) const CALL_DEGRADED: &str = "llmnode.call.degraded";
pub(super) const ATTEMPT_ID: &str = "llmnode.attempt.id";
pub(super) const ATTEMPT_KIND: &str = "llmnode.attempt.kind";
pub(super) const ATTEMPT_WAIT: &str = "llmnode.attempt.wait_ms";
pub(super) const ATTEMPT_COST: &str = "llmnode.attempt.cost";
pub(super) const CACHE_LOST: &str = "llmnode.cache.lost";
pub(super) const CACHE_CHANGED: &str = "llmnode.cache.changed";
pub(super) const REQUEST_ID: &str = "llmnode.request.id";
