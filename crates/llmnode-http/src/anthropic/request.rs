//! The body of a request to Anthropic's Messages.

use std::collections::BTreeMap;

use llmnode_model::{Request, ResponseFormat};
use llmnode_reader::internal::{Profile, sent};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::turns::{Block, CacheControl, Turn, turns};
use crate::api::messages::instructed;
use crate::api::prepared_request::{PreparedRequest, ToolChoice};
use crate::http::capabilities::Quirks;
use crate::http::reasoning::Thinking;

/// The API requires a number.
const MAX_TOKENS: u32 = 8192;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<ThinkingConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
    #[serde(flatten)]
    extra: BTreeMap<&'a str, &'a Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'a>>,
    /// Last, for prompt caches: the requests of a node begin alike.
    messages: Vec<Turn<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ThinkingConfig {
    Disabled,
    Adaptive,
    Enabled { budget_tokens: u32 },
}

/// The program's members take precedence.
#[derive(Serialize)]
struct OutputConfig<'a> {
    #[serde(flatten)]
    given: BTreeMap<&'a str, &'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "json_schema")]
struct Format<'a> {
    schema: &'a RawValue,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Tool<'a> {
    Function {
        name: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        description: &'a str,
        input_schema: &'a RawValue,
    },
    /// A provider's own tool, from `extra`.
    Given(&'a Value),
}

pub(super) fn encode(prepared: &PreparedRequest<'_>) -> Result<Vec<u8>, String> {
    let PreparedRequest { request, model, streams, shape, .. } = *prepared;
    let strict = prepared.typed().filter(|(format, _)| *format == ResponseFormat::Strict);
    let strict = strict.and_then(|(_, schema)| schema.anthropic());
    let config = prepared.given("output_config");
    let strict = strict.filter(|_| !config.contains_key("format"));
    let effort = prepared.effort().filter(|_| !config.contains_key("effort"));
    let messages = instructed(prepared);
    let (mut system, messages) = turns(&messages, prepared)?;
    let cache = prepared.cache_for_an_hour.map(CacheControl::new);
    if let Some(Block::Text { cache_control, .. }) = system.last_mut() {
        *cache_control = cache;
    }
    let mut extra = prepared.extra();
    extra.retain(|name, _| !(shape.no_thinking && *name == "thinking"));
    let body =
        Body {
            model,
            max_tokens: (!request.extra.contains_key("max_tokens"))
                .then(|| limit(request, shape.quirks, prepared.thinking())),
            temperature: prepared.temperature(),
            thinking: prepared.thinking().map(|way| match way {
                Thinking::Effort(_) => ThinkingConfig::Adaptive,
                Thinking::Budget(0) => ThinkingConfig::Disabled,
                Thinking::Budget(budget_tokens) => ThinkingConfig::Enabled { budget_tokens },
            }),
            output_config: (strict.is_some() || effort.is_some() || !config.is_empty()).then_some(
                OutputConfig { given: config, effort, format: strict.map(|schema| Format { schema }) },
            ),
            tools: tools(prepared),
            tool_choice: prepared.tool_choice().map(|choice| match choice {
                ToolChoice::Named(name) => {
                    json!({"type": "tool", "name": name, "disable_parallel_tool_use": true})
                }
                ToolChoice::Any => json!({"type": "any"}),
                ToolChoice::Nothing => json!({"type": "none"}),
            }),
            cache_control: cache.filter(|_| !request.extra.contains_key("cache_control")),
            stream: streams.then_some(true),
            extra,
            system,
            messages,
        };
    prepared.json(&body)
}

/// Thoughts come on top of the default.
pub(super) fn limit(request: &Request, quirks: Quirks, thinking: Option<Thinking>) -> u32 {
    let tokens = |value: &Value| value.as_u64().map(|tokens| u32::try_from(tokens).unwrap_or(u32::MAX));
    if let Some(given) = request.extra.get("max_tokens").and_then(tokens) {
        return given;
    }
    let budget = request.extra.get("thinking").and_then(|thinking| tokens(&thinking["budget_tokens"]));
    let budget = budget.unwrap_or_else(|| match thinking {
        Some(Thinking::Effort(effort)) => effort.tokens(),
        Some(Thinking::Budget(tokens)) => tokens,
        None => 0,
    });
    let limit = request.max_tokens.unwrap_or(MAX_TOKENS.saturating_add(budget));
    quirks.most_tokens.map_or(limit, |most| limit.min(most))
}

fn tools<'a>(prepared: &'a PreparedRequest<'_>) -> Vec<Tool<'a>> {
    let listed = prepared.tools().map(|(tool, schema)| Tool::Function {
        name: &tool.name,
        description: &tool.description,
        input_schema: sent(schema, Profile::Anthropic),
    });
    let own = prepared.function().map(|schema| Tool::Function {
        name: schema.name(),
        description: "",
        input_schema: sent(schema, Profile::Anthropic),
    });
    listed.chain(own).chain(prepared.given_list("tools").map(Tool::Given)).collect()
}
