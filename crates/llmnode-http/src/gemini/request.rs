//! The body of a request to `generateContent`.

use std::collections::BTreeMap;

use llmnode_model::{Request, ResponseFormat};
use llmnode_reader::OutputSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::contents::{Content, Instruction, contents};
use super::parameters::parameters;
use crate::api::messages::{instructed, max_tokens, temperature};
use crate::api::prepared_request::PreparedRequest;
use crate::http::reasoning::Thinking;

/// Fields of ours that `extra` may add to.
pub(super) const JOINED: &[&str] = &["generationConfig", "tools", "toolConfig"];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Instruction<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    tool_config: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generation_config: Option<GenerationConfig<'a>>,
    #[serde(flatten)]
    extra: BTreeMap<&'a str, &'a Value>,
    /// Last, so that the requests of a node begin alike.
    contents: Vec<Content<'a>>,
}

/// What the program gives goes before ours.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<Value>,
    #[serde(flatten)]
    given: BTreeMap<&'a str, &'a Value>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Tool<'a> {
    Functions {
        #[serde(rename = "functionDeclarations")]
        functions: Vec<Function<'a>>,
    },
    /// One of the provider's own, from `extra`.
    Given(&'a Value),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Function<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    #[serde(flatten)]
    parameters: Parameters<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Parameters<'a> {
    ParametersJsonSchema(&'a RawValue),
    /// For what does not know the other name.
    Parameters(Value),
}

pub(super) fn encode(prepared: &PreparedRequest<'_>) -> Result<Vec<u8>, String> {
    let PreparedRequest { request, shape, .. } = *prepared;
    let typed = prepared.typed();
    let function = typed.filter(|(format, _)| *format == ResponseFormat::Tool).map(|(_, schema)| schema);
    let messages = instructed(prepared);
    let (system_instruction, contents) = contents(&messages, prepared)?;
    let extra = request.extra.iter().filter(|(name, _)| !JOINED.contains(&name.as_str()));
    let body = Body {
        system_instruction,
        tools: tools(prepared, function),
        tool_config: tool_config(request, function, shape.quirks.no_forced_tool),
        generation_config: generation_config(prepared, typed),
        extra: extra.map(|(name, value)| (name.as_str(), value)).collect(),
        contents,
    };
    prepared.json(&body)
}

fn generation_config<'a>(
    prepared: &PreparedRequest<'a>,
    typed: Option<(ResponseFormat, &'a OutputSchema)>,
) -> Option<GenerationConfig<'a>> {
    let PreparedRequest { request, shape, .. } = *prepared;
    let given: BTreeMap<&str, &Value> = members(request, "generationConfig").collect();
    let free = |name: &str| !given.contains_key(name);
    let own_form =
        ["responseMimeType", "responseJsonSchema", "responseSchema"].into_iter().any(|name| !free(name));
    let typed = typed.filter(|_| !own_form);
    let schema = typed.filter(|(format, _)| *format == ResponseFormat::Strict);
    let is_json = typed
        .is_some_and(|(format, _)| matches!(format, ResponseFormat::Strict | ResponseFormat::JsonObject));
    let limit =
        max_tokens(request).map(|limit| shape.quirks.most_tokens.map_or(limit, |most| limit.min(most)));
    let config = GenerationConfig {
        temperature: temperature(request).filter(|_| free("temperature") && !shape.quirks.no_temperature),
        max_output_tokens: limit.filter(|_| free("maxOutputTokens")),
        response_mime_type: is_json.then_some("application/json"),
        response_json_schema: schema.and_then(|(_, schema)| schema.gemini()),
        thinking_config: thinking_config(prepared),
        given,
    };
    let says = config.temperature.is_some()
        || config.max_output_tokens.is_some()
        || config.response_mime_type.is_some()
        || config.thinking_config.is_some()
        || !config.given.is_empty();
    says.then_some(config)
}

/// Thoughts are asked for if somebody reads along.
fn thinking_config(prepared: &PreparedRequest<'_>) -> Option<Value> {
    let (mut config, thinks) = match prepared.thinking()? {
        Thinking::Effort(effort) => (json!({"thinkingLevel": effort.as_str().to_uppercase()}), true),
        Thinking::Budget(tokens) => (json!({"thinkingBudget": tokens}), tokens > 0),
    };
    if thinks && prepared.streams {
        config["includeThoughts"] = true.into();
    }
    Some(config)
}

fn members<'a>(request: &'a Request, field: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let given = request.extra.get(field).and_then(Value::as_object).into_iter().flatten();
    given.map(|(name, value)| (name.as_str(), value))
}

/// With a function for the answer, a model that has to answer now is offered nothing else.
fn tools<'a>(prepared: &'a PreparedRequest<'_>, function: Option<&'a OutputSchema>) -> Vec<Tool<'a>> {
    let request = prepared.request;
    let parameters = |schema| match prepared.shape.quirks.no_json_schema_parameters {
        true => Parameters::Parameters(parameters(schema)),
        false => Parameters::ParametersJsonSchema(schema),
    };
    let listed = request.tools.iter().filter(|_| !(request.answer_now && function.is_some()));
    let listed = listed.map(|tool| Function {
        name: &tool.name,
        description: &tool.description,
        parameters: parameters(prepared.allowed(&tool.schema).plain()),
    });
    let own = function.map(|schema| Function {
        name: schema.name(),
        description: "",
        parameters: parameters(schema.gemini().unwrap_or_else(|| schema.plain())),
    });
    let functions: Vec<Function<'_>> = listed.chain(own).collect();
    let ours = (!functions.is_empty()).then_some(Tool::Functions { functions });
    let given = request.extra.get("tools").and_then(Value::as_array).into_iter().flatten().map(Tool::Given);
    ours.into_iter().chain(given).collect()
}

fn tool_config(request: &Request, function: Option<&OutputSchema>, free: bool) -> Map<String, Value> {
    let mode = match function {
        // By name if there is nothing else to call.
        Some(schema) if request.tools.is_empty() && !free => {
            Some(json!({"mode": "ANY", "allowedFunctionNames": [schema.name()]}))
        }
        Some(_) => (!free).then(|| json!({"mode": "ANY"})),
        None => (request.answer_now && !request.tools.is_empty()).then(|| json!({"mode": "NONE"})),
    };
    let given = members(request, "toolConfig").map(|(name, value)| (name.to_owned(), value.clone()));
    let mut config: Map<String, Value> = given.collect();
    config.extend(mode.map(|mode| ("functionCallingConfig".to_owned(), mode)));
    config
}
