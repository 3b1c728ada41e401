//! The body of a request to `generateContent`.
//!
//! Settings of an answer are members of `generationConfig`, to which the program
//! may add; those of tools are in `toolConfig`. The schema of an answer is written
//! in Gemini's dialect (`Profile::Gemini`), or as an older endpoint wants it, if it
//! has refused the other name.

use std::collections::BTreeMap;

use llmnode_model::ResponseFormat;
use llmnode_reader::OutputSchema;
use llmnode_reader::ask::{Profile, sent};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::contents::{Content, Instruction, contents};
use crate::api::messages::instructed;
use crate::api::prepared_request::{PreparedRequest, ToolChoice};
use crate::refusal::efforts::Thinking;
use crate::refusal::parts::Part;

const SERVER_TOOLS_MARK: &str = "includeServerSideToolInvocations";

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
/// By member: what the program writes is not written by us.
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
    of_extra: BTreeMap<&'a str, &'a Value>,
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
    Parameters(&'a RawValue),
}

/// Messages come first, since the schema may have to be said in them.
pub(super) fn encode(prepared: &PreparedRequest<'_>) -> Result<Vec<u8>, String> {
    let messages = instructed(prepared);
    let (system_instruction, contents) = contents(&messages, prepared)?;
    let body = Body {
        system_instruction,
        tools: tools(prepared),
        tool_config: tool_config(prepared),
        generation_config: generation_config(prepared),
        extra: prepared.extra(),
        contents,
    };
    prepared.json(&body)
}

/// `None`, if there is nothing in it.
fn generation_config<'a>(prepared: &'a PreparedRequest<'_>) -> Option<GenerationConfig<'a>> {
    let of_extra = prepared.of_extra("generationConfig");
    let has_form = ["responseMimeType", "responseJsonSchema", "responseSchema"]
        .into_iter()
        .any(|name| of_extra.contains_key(name));
    let mut response_mime_type = None;
    let mut response_json_schema = None;
    match prepared.typed() {
        Some((ResponseFormat::Strict, schema)) if !has_form => {
            response_mime_type = Some("application/json");
            response_json_schema = schema.gemini();
        }
        Some((ResponseFormat::JsonObject, _)) if !has_form => {
            response_mime_type = Some("application/json");
        }
        _ => {}
    }
    let mut temperature = prepared.temperature();
    if of_extra.contains_key("temperature") {
        temperature = None;
    }
    let mut max_output_tokens = prepared.limit();
    if of_extra.contains_key("maxOutputTokens") {
        max_output_tokens = None;
    }
    let config = GenerationConfig {
        temperature,
        max_output_tokens,
        response_mime_type,
        response_json_schema,
        thinking_config: thinking_config(prepared),
        of_extra,
    };
    let is_needed = config.temperature.is_some()
        || config.max_output_tokens.is_some()
        || config.response_mime_type.is_some()
        || config.thinking_config.is_some()
        || !config.of_extra.is_empty();
    if !is_needed {
        return None;
    }
    Some(config)
}

/// Thoughts are asked for if somebody reads along.
fn thinking_config(prepared: &PreparedRequest<'_>) -> Option<Value> {
    let way = prepared.thinking()?;
    let mut config = match way {
        Thinking::Effort(effort) => {
            let level = effort.as_str().to_uppercase();
            json!({"thinkingLevel": level})
        }
        Thinking::Budget(tokens) => json!({"thinkingBudget": tokens}),
        Thinking::BetweenTools => return None,
    };
    if way != Thinking::Budget(0) && prepared.streams {
        config["includeThoughts"] = true.into();
    }
    Some(config)
}

/// All functions in one tool, as the API has it. The function of the answer is
/// written as strictly as the model can be held to, the node's own as they are:
/// their arguments are validated when they are read.
fn tools<'a>(prepared: &'a PreparedRequest<'_>) -> Vec<Tool<'a>> {
    let mut functions = Vec::new();
    for (tool, schema) in prepared.tools() {
        functions.push(Function {
            name: &tool.name,
            description: &tool.description,
            parameters: parameters(schema, prepared),
        });
    }
    if let Some(schema) = prepared.listed_function() {
        let parameters = match (parameters(schema, prepared), schema.gemini()) {
            (Parameters::ParametersJsonSchema(_), Some(strict)) => {
                Parameters::ParametersJsonSchema(strict)
            }
            (parameters, _) => parameters,
        };
        functions.push(Function {
            name: schema.name(),
            description: "",
            parameters,
        });
    }
    let mut tools = Vec::new();
    if !functions.is_empty() {
        tools.push(Tool::Functions { functions });
    }
    tools.extend(prepared.list_from_extra("tools").map(Tool::Given));
    tools
}

fn parameters<'a>(schema: &'a OutputSchema, prepared: &PreparedRequest<'_>) -> Parameters<'a> {
    match prepared.leaves_out(Part::JsonSchemaParameters) {
        true => Parameters::Parameters(sent(schema, Profile::OpenApi)),
        false => Parameters::ParametersJsonSchema(sent(schema, Profile::Gemini)),
    }
}

/// Google's mark for its own tools is only sent where it is needed.
fn tool_config(prepared: &PreparedRequest<'_>) -> Map<String, Value> {
    let mut config = Map::new();
    for (name, value) in prepared.of_extra("toolConfig") {
        config.insert(name.to_owned(), value.clone());
    }
    if let Some(choice) = prepared.tool_choice() {
        let mode = match choice {
            ToolChoice::Named(name) => json!({"mode": "ANY", "allowedFunctionNames": [name]}),
            ToolChoice::Any => json!({"mode": "ANY"}),
            ToolChoice::Nothing => json!({"mode": "NONE"}),
        };
        config.insert("functionCallingConfig".to_owned(), mode);
    }
    if own_tools_beside_functions(prepared) && !prepared.leaves_out(Part::ServerSideTools) {
        config.entry(SERVER_TOOLS_MARK).or_insert(true.into());
    }
    config
}

/// Google refuses its own tools beside functions unless it may tell of their calls,
/// which then go back as they came.
fn own_tools_beside_functions(prepared: &PreparedRequest<'_>) -> bool {
    let has_functions = prepared.tools().next().is_some() || prepared.listed_function().is_some();
    has_functions && prepared.list_from_extra("tools").any(is_own_tool)
}

/// A tool that is no list of functions.
fn is_own_tool(tool: &Value) -> bool {
    let Value::Object(members) = tool else {
        return false;
    };
    members
        .keys()
        .any(|name| name != "functionDeclarations" && name != "function_declarations")
}
