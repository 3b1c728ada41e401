//! The names by which servers call the parts of a request: data, in lower case.
//!
//! A server that names a part in another way gets a row in [`NAMES`], with the server behind it. What is done about a part is
//! decided elsewhere (`reading.rs`), by the phrase in which the name is found.

use super::parts::Part;

/// What a refusal is about.
/// A field of the request, or a thing that several fields make up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Part(Part),
    /// The most tokens of an answer.
    Limit,
    Effort,
    /// Whichever response format was sent.
    Format,
    JsonSchema,
    /// The schema of the answer.
    Schema,
    /// The schema of the function that the text names, which may be the answer's.
    NamedSchema,
    ToolSchema,
    Tools,
    ToolChoice,
    OnlyStreams,
}

/// Whose names these are: OpenAI's where nothing else is said.
/// The longest name that is found counts, so the order does not matter.
pub(super) const NAMES: &[(&str, Field)] = &[
    ("max_completion_tokens", Field::Limit),
    ("max_output_tokens", Field::Limit),
    ("maxoutputtokens", Field::Limit), // Google
    ("max_new_tokens", Field::Limit),  // TGI
    ("max_tokens", Field::Limit),
    ("max output tokens", Field::Limit),               // Bedrock
    ("maximum output tokens", Field::Limit),           // Bedrock
    ("maximum number of output tokens", Field::Limit), // Google
    ("temperature", Field::Part(Part::Temperature)),
    ("stream_options", Field::Part(Part::StreamOptions)),
    ("include_usage", Field::Part(Part::StreamOptions)),
    ("streaming", Field::Part(Part::Stream)),
    ("stream", Field::Part(Part::Stream)),
    ("'store'", Field::Part(Part::Store)),
    ("parameter: store", Field::Part(Part::Store)),
    ("`store`", Field::Part(Part::Store)),
    ("reasoning.summary", Field::Part(Part::Summary)),
    ("reasoning summary", Field::Part(Part::Summary)),
    ("reasoning summaries", Field::Part(Part::Summary)),
    ("parallel_tool_calls", Field::Part(Part::ParallelCalls)),
    ("parallel tool calls", Field::Part(Part::ParallelCalls)),
    (
        "disable_parallel_tool_use",
        Field::Part(Part::ParallelCalls),
    ), // Anthropic
    ("cache_control", Field::Part(Part::Cache)), // Anthropic
    ("prompt_cache_breakpoint", Field::Part(Part::CacheOptions)),
    ("prompt_cache_retention", Field::Part(Part::Cache)),
    ("prompt_cache_options", Field::Part(Part::CacheOptions)),
    ("prompt_cache_key", Field::Part(Part::CacheKey)),
    ("prompt caching", Field::Part(Part::Cache)), // Bedrock
    (
        "includeserversidetoolinvocations",
        Field::Part(Part::ServerSideTools),
    ), // Google
    (
        "include_server_side_tool_invocations",
        Field::Part(Part::ServerSideTools),
    ), // Google
    ("reasoning_content", Field::Part(Part::CarriedFields)), // DeepSeek
    ("reasoning_details", Field::Part(Part::CarriedFields)), // OpenRouter
    ("thinking_blocks", Field::Part(Part::CarriedFields)), // LiteLLM
    ("thought_signature", Field::Part(Part::CarriedFields)), // Google
    ("extra_content", Field::Part(Part::CarriedFields)), // Google, by chat completions
    ("system role", Field::Part(Part::System)),
    ("system message", Field::Part(Part::System)),
    ("system messages", Field::Part(Part::System)),
    ("system prompt", Field::Part(Part::System)),
    ("system prompts", Field::Part(Part::System)),
    ("system instruction", Field::Part(Part::System)), // Google
    ("system_instruction", Field::Part(Part::System)), // Google
    ("systeminstruction", Field::Part(Part::System)),  // Google
    ("role 'system'", Field::Part(Part::System)),
    ("role \"system\"", Field::Part(Part::System)),
    ("role `system`", Field::Part(Part::System)),
    ("role: system", Field::Part(Part::System)),
    ("'system' role", Field::Part(Part::System)),
    ("instructions", Field::Part(Part::System)),
    ("response_format", Field::Format),
    ("response format", Field::Format),
    ("output_config.format", Field::Format), // Anthropic
    ("output_format", Field::Format),        // Anthropic
    ("output format", Field::Format),        // Anthropic
    ("output_config", Field::Format),        // Anthropic
    ("text.format", Field::Format),
    ("response_mime_type", Field::Format), // Google
    ("responsemimetype", Field::Format),   // Google
    ("response mime type", Field::Format), // Google
    ("json mode", Field::Format),          // Google, DashScope
    ("json_object", Field::Format),
    ("grammar constraints", Field::Format),      // llama.cpp
    ("responsejsonschema", Field::JsonSchema),   // Google
    ("response_json_schema", Field::JsonSchema), // Google
    ("response_schema", Field::JsonSchema),      // Google
    ("responseschema", Field::JsonSchema),       // Google
    ("json_schema", Field::JsonSchema),
    ("json schema", Field::JsonSchema),
    ("structured output", Field::JsonSchema),
    ("controlled generation", Field::JsonSchema), // Vertex
    ("structured outputs", Field::JsonSchema),
    ("tool_choice", Field::ToolChoice),
    ("toolchoice", Field::ToolChoice), // Bedrock
    ("tool choice", Field::ToolChoice),
    ("function_calling_config", Field::ToolChoice), // Google
    ("functioncallingconfig", Field::ToolChoice),   // Google
    ("function calling mode", Field::ToolChoice),   // Google
    ("forced tool", Field::ToolChoice),             // Moonshot
    ("force a tool", Field::ToolChoice),            // Anthropic
    ("force tool", Field::ToolChoice),              // Anthropic
    ("forcing tool", Field::ToolChoice),            // Anthropic
    ("forcing a tool", Field::ToolChoice),
    ("forced function", Field::ToolChoice), // Google
    ("function calling", Field::Tools),
    ("tool calling", Field::Tools),
    ("tool use", Field::Tools),
    ("tool calls", Field::Tools),
    ("tools", Field::Tools),
    ("tool", Field::Tools),
    ("functions", Field::Tools),
    ("reasoning_effort", Field::Effort),
    ("reasoning.effort", Field::Effort),
    ("reasoningeffort", Field::Effort), // xAI
    ("reasoning effort", Field::Effort),
    ("reasoning", Field::Effort),
    ("output_config: extra", Field::Effort), // Anthropic, older models
    ("output_config.effort", Field::Effort), // Anthropic
    ("effort", Field::Effort),               // Anthropic
    ("enable_thinking", Field::Effort),      // DashScope
    ("thinking_budget", Field::Effort),      // Google
    ("thinkingbudget", Field::Effort),       // Google
    ("thinking_level", Field::Effort),       // Google
    ("thinkinglevel", Field::Effort),        // Google
    ("thinking_config", Field::Effort),      // Google
    ("thinkingconfig", Field::Effort),       // Google
    ("budget_tokens", Field::Effort),        // Anthropic
    ("thinking", Field::Effort),
    ("thoughts", Field::Effort),
    ("budget", Field::Effort), // Google
    ("think", Field::Effort),  // Ollama
];

/// Members of a request that hold the prompt, or what came back: a refusal of one
/// of them is about no setting.
pub(super) const CONTENTS: [&str; 6] = [
    "messages", "message", "input", "contents", "content", "prompt",
];

/// Members at the top of a request, by which a path is recognised.
pub(super) const TOP: [&str; 24] = [
    "cache_control",
    "contents",
    "generation_config",
    "generationconfig",
    "include",
    "input",
    "instructions",
    "max_tokens",
    "messages",
    "output_config",
    "output_format",
    "parallel_tool_calls",
    "reasoning",
    "response_format",
    "store",
    "stream_options",
    "system",
    "system_instruction",
    "text",
    "thinking",
    "tool_choice",
    "tool_config",
    "toolconfig",
    "tools",
];
