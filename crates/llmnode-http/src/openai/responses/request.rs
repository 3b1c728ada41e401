//! The body of a request to the Responses API.

use std::collections::BTreeMap;

use llmnode_model::{Request, ResponseFormat};
use llmnode_reader::OutputSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::items::{Item, items};
use crate::api::messages::{instructed, strict_if_possible, temperature};
use crate::api::prepared_request::PreparedRequest;
use crate::http::reasoning::Refused;

/// Without it, reasoning cannot be sent back to a server that stores nothing.
const ENCRYPTED: &str = "reasoning.encrypted_content";

/// The API refuses lower limits.
pub(super) const LEAST_TOKENS: u32 = 16;

/// Fields that we write and `extra` may add to.
pub(super) const JOINED: &[&str] = &["include", "reasoning", "text", "tools"];

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<bool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    include: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    reasoning: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<TextConfig<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
    #[serde(flatten)]
    extra: BTreeMap<&'a str, &'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
    /// Last, for prompt caches: the requests of a node begin alike.
    input: Vec<Item<'a>>,
}

/// The program may add verbosity and the like.
#[derive(Serialize)]
struct TextConfig<'a> {
    #[serde(flatten)]
    given: BTreeMap<&'a str, &'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Format<'a> {
    JsonSchema { name: &'a str, schema: &'a RawValue, strict: bool },
    JsonObject,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Tool<'a> {
    Function {
        name: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        description: &'a str,
        parameters: &'a RawValue,
        strict: bool,
    },
    /// A provider's own tool, from `extra`.
    #[serde(untagged)]
    Given(&'a Value),
}

pub(super) fn encode(prepared: &PreparedRequest<'_>) -> Result<Vec<u8>, String> {
    let PreparedRequest { request, model, streams, shape, .. } = *prepared;
    let typed = prepared.typed();
    let function = typed.filter(|(format, _)| *format == ResponseFormat::Tool).map(|(_, schema)| schema);
    let given = |field: &str| request.extra.contains_key(field);
    let list = |field: &str| request.extra.get(field).and_then(Value::as_array).into_iter().flatten();
    let messages = instructed(prepared);
    let (instructions, input) = items(&messages, prepared)?;
    let encrypted = (!shape.quirks.no_include).then_some(ENCRYPTED);
    let extra = request.extra.iter().filter(|(name, _)| !JOINED.contains(&name.as_str()));
    let body = Body {
        model,
        store: (!given("store")).then_some(false),
        include: encrypted.into_iter().chain(list("include").filter_map(Value::as_str)).collect(),
        temperature: temperature(request).filter(|_| !shape.quirks.no_temperature),
        max_output_tokens: prepared
            .limit()
            .filter(|_| !given("max_output_tokens"))
            .map(|limit| limit.max(LEAST_TOKENS)),
        reasoning: reasoning(prepared),
        text: text(request, typed),
        tools: tools(prepared, function).chain(list("tools").map(Tool::Given)).collect(),
        tool_choice: tool_choice(request, function, shape.quirks.no_forced_tool),
        parallel_tool_calls: function
            .filter(|_| request.tools.is_empty() && !given("parallel_tool_calls"))
            .map(|_| false),
        stream: streams.then_some(true),
        extra: extra.map(|(name, value)| (name.as_str(), value)).collect(),
        instructions,
        input,
    };
    prepared.json(&body)
}

/// The program's members take precedence.
fn reasoning(prepared: &PreparedRequest<'_>) -> Map<String, Value> {
    let given = prepared.request.extra.get("reasoning").and_then(Value::as_object);
    let mut config = given.cloned().unwrap_or_default();
    if let Some(effort) = prepared.effort() {
        config.entry("effort").or_insert_with(|| effort.into());
        if effort != "none" && !prepared.shape.quirks.reasoning.contains(Refused::SUMMARY) {
            config.entry("summary").or_insert_with(|| "auto".into());
        }
    }
    config
}

fn text<'a>(
    request: &'a Request,
    typed: Option<(ResponseFormat, &'a OutputSchema)>,
) -> Option<TextConfig<'a>> {
    let given = request.extra.get("text").and_then(Value::as_object).into_iter().flatten();
    let given: BTreeMap<&str, &Value> = given.map(|(name, value)| (name.as_str(), value)).collect();
    let format = typed.filter(|_| !given.contains_key("format")).and_then(|(format, schema)| {
        let by_schema = |(raw, strict)| Some(Format::JsonSchema { name: schema.name(), schema: raw, strict });
        match format {
            ResponseFormat::Strict => by_schema(strict_if_possible(schema)),
            ResponseFormat::Schema => by_schema((schema.plain(), false)),
            ResponseFormat::JsonObject => Some(Format::JsonObject),
            _ => None,
        }
    });
    (format.is_some() || !given.is_empty()).then_some(TextConfig { given, format })
}

/// With a function for the answer, a model that has to answer now gets no other tool.
fn tools<'a>(
    prepared: &'a PreparedRequest<'_>,
    function: Option<&'a OutputSchema>,
) -> impl Iterator<Item = Tool<'a>> {
    let request = prepared.request;
    let listed = request.tools.iter().filter(move |_| !(request.answer_now && function.is_some()));
    let listed = listed.map(|tool| Tool::Function {
        name: &tool.name,
        description: &tool.description,
        parameters: prepared.allowed(&tool.schema).plain(),
        strict: false,
    });
    listed.chain(function.map(|schema| {
        let (parameters, strict) = strict_if_possible(schema);
        Tool::Function { name: schema.name(), description: "", parameters, strict }
    }))
}

fn tool_choice(request: &Request, function: Option<&OutputSchema>, free: bool) -> Option<Value> {
    match function {
        // By name if there is nothing else to call.
        Some(schema) if request.tools.is_empty() && !free => {
            Some(json!({"type": "function", "name": schema.name()}))
        }
        Some(_) => (!free).then(|| json!("required")),
        None => (request.answer_now && !request.tools.is_empty()).then(|| json!("none")),
    }
}
