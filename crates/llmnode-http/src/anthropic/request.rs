//! The body of a request to Anthropic's Messages.

use std::collections::BTreeMap;

use llmnode_model::{Request, ResponseFormat};
use llmnode_reader::OutputSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::turns::{Block, CacheControl, Turn, turns};
use crate::api::messages::{instructed, temperature};
use crate::api::prepared_request::PreparedRequest;
use crate::http::capabilities::Quirks;
use crate::http::reasoning::Thinking;

/// The API requires a number.
const MAX_TOKENS: u32 = 8192;

/// Fields that we write and `extra` may add to.
pub(super) const JOINED: &[&str] = &["output_config", "tools"];

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
    let typed = prepared.typed();
    let of = |wanted| typed.filter(|(format, _)| *format == wanted).map(|(_, schema)| schema);
    let function = of(ResponseFormat::Tool);
    let strict = of(ResponseFormat::Strict).and_then(OutputSchema::anthropic);
    let given = |name: &str| request.extra.get(name).and_then(Value::as_object).into_iter().flatten();
    let config: BTreeMap<_, _> = given("output_config").map(|(name, value)| (name.as_str(), value)).collect();
    let strict = strict.filter(|_| !config.contains_key("format"));
    let effort = prepared.effort().filter(|_| !config.contains_key("effort"));
    let messages = instructed(prepared);
    let (mut system, messages) = turns(&messages, prepared)?;
    let cache = prepared.cache_for_an_hour.map(CacheControl::new);
    if let Some(Block::Text { cache_control, .. }) = system.last_mut() {
        *cache_control = cache;
    }
    let thinks = !shape.no_thinking;
    let extra = request.extra.iter().filter(|(name, _)| !JOINED.contains(&name.as_str()));
    let extra = extra.filter(|(name, _)| thinks || *name != "thinking");
    let body =
        Body {
            model,
            max_tokens: (!request.extra.contains_key("max_tokens"))
                .then(|| limit(request, shape.quirks, prepared.thinking())),
            temperature: temperature(request).filter(|_| !shape.quirks.no_temperature),
            thinking: prepared.thinking().map(|way| match way {
                Thinking::Effort(_) => ThinkingConfig::Adaptive,
                Thinking::Budget(0) => ThinkingConfig::Disabled,
                Thinking::Budget(budget_tokens) => ThinkingConfig::Enabled { budget_tokens },
            }),
            output_config: (strict.is_some() || effort.is_some() || !config.is_empty()).then_some(
                OutputConfig { given: config, effort, format: strict.map(|schema| Format { schema }) },
            ),
            tools: tools(prepared, function),
            tool_choice: tool_choice(request, function, shape.quirks.no_forced_tool),
            cache_control: cache.filter(|_| !request.extra.contains_key("cache_control")),
            stream: streams.then_some(true),
            extra: extra.map(|(name, value)| (name.as_str(), value)).collect(),
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

/// With a function for the answer, a model that has to answer now gets no other tool.
fn tools<'a>(prepared: &'a PreparedRequest<'_>, function: Option<&'a OutputSchema>) -> Vec<Tool<'a>> {
    let request = prepared.request;
    let listed = request.tools.iter().filter(|_| !(request.answer_now && function.is_some()));
    let listed = listed.map(|tool| Tool::Function {
        name: &tool.name,
        description: &tool.description,
        input_schema: prepared.allowed(&tool.schema).plain(),
    });
    let own = function.map(|schema| Tool::Function {
        name: schema.name(),
        description: "",
        input_schema: schema.plain(),
    });
    let given = request.extra.get("tools").and_then(Value::as_array).into_iter().flatten().map(Tool::Given);
    listed.chain(own).chain(given).collect()
}

fn tool_choice(request: &Request, function: Option<&OutputSchema>, free: bool) -> Option<Value> {
    match function {
        // By name if there is nothing else to call.
        Some(schema) if request.tools.is_empty() && !free => {
            Some(json!({"type": "tool", "name": schema.name(), "disable_parallel_tool_use": true}))
        }
        Some(_) => (!free).then(|| json!({"type": "any"})),
        None => (request.answer_now && !request.tools.is_empty()).then(|| json!({"type": "none"})),
    }
}
