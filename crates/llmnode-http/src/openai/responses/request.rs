//! The body of a request to the Responses API.
//!
//! The order of its fields is for prompt caches: what is the same for all requests of a node comes first, the conversation last.
//! Nothing is stored at the provider unless the program says so, so that thoughts have to come encrypted, and go back so.

use std::collections::BTreeMap;

use llmnode_model::{ResponseFormat, ToolSpec};
use llmnode_reader::OutputSchema;
use llmnode_reader::ask::{Profile, sent};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::super::cache_marks::SentCacheOptions;
use super::items::{Item, items};
use crate::api::cache_fields::CacheKey;
use crate::api::messages::{instructed, strict_or};
use crate::api::prepared_request::{PreparedRequest, ToolChoice};
use crate::refusal::parts::Part;

/// Without it, reasoning cannot be sent back to a server that stores nothing.
const ENCRYPTED: &str = "reasoning.encrypted_content";

/// The API refuses lower limits.
pub(super) const LEAST_TOKENS: u32 = 16;

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
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_options: Option<SentCacheOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<String>,
    #[serde(flatten)]
    extra: BTreeMap<&'a str, &'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
    /// Last, for prompt caches: the requests of a node begin alike.
    input: Vec<Item<'a>>,
}

/// The program may add verbosity and the like.
/// The form of the answer is a member of the same object.
#[derive(Serialize)]
struct TextConfig<'a> {
    #[serde(flatten)]
    of_extra: BTreeMap<&'a str, &'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format<'a>>,
}

/// As chat completions have it, without the envelope.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Format<'a> {
    JsonSchema {
        name: &'a str,
        schema: &'a RawValue,
        strict: bool,
    },
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
        #[serde(skip_serializing_if = "Option::is_none")]
        strict: Option<bool>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        defer_loading: bool,
    },
    /// OpenAI's own search of the tools that are not listed.
    #[serde(rename = "tool_search")]
    Search,
    /// Of tools that are not listed the model reads names and descriptions, but of
    /// those in a namespace nothing: only its own.
    Namespace {
        name: &'a str,
        description: String,
        tools: Vec<Tool<'a>>,
    },
    /// A provider's own tool, from `extra`.
    #[serde(untagged)]
    Given(&'a Value),
}

/// In the order of the struct: what is the same for all requests of a node comes
/// first.
pub(super) fn encode(prepared: &PreparedRequest<'_>) -> Result<Vec<u8>, String> {
    let PreparedRequest {
        request,
        model,
        streams,
        ..
    } = *prepared;
    let extra = &request.extra;
    let messages = instructed(prepared);
    let (instructions, input) = items(&messages, prepared)?;
    // Nothing is stored unless the program says so.
    let mut store = None;
    if !extra.contains_key("store") && !prepared.leaves_out(Part::Store) {
        store = Some(false);
    }
    let mut include = Vec::new();
    if !prepared.leaves_out(Part::Include) {
        include.push(ENCRYPTED);
    }
    let of_program = prepared.list_from_extra("include");
    include.extend(of_program.filter_map(Value::as_str));
    let mut max_output_tokens = None;
    if !extra.contains_key("max_output_tokens") {
        let limit = prepared.limit();
        max_output_tokens = limit.map(|limit| limit.max(LEAST_TOKENS));
    }
    // One call: with several of the answer's function, which of them is the answer?
    let mut parallel_tool_calls = None;
    if prepared.function().is_some()
        && request.tools.is_empty()
        && !extra.contains_key("parallel_tool_calls")
        && !prepared.leaves_out(Part::ParallelCalls)
    {
        parallel_tool_calls = Some(false);
    }
    let body = Body {
        model,
        store,
        include,
        temperature: prepared.temperature(),
        max_output_tokens,
        reasoning: reasoning(prepared),
        text: text(prepared),
        tools: tools(prepared),
        tool_choice: prepared.tool_choice().map(|choice| match choice {
            ToolChoice::Named(name) => json!({"type": "function", "name": name}),
            ToolChoice::Any => json!("required"),
            ToolChoice::Nothing => json!("none"),
        }),
        parallel_tool_calls,
        stream: streams.then_some(true),
        prompt_cache_options: prepared.cache.options.map(SentCacheOptions::from),
        prompt_cache_key: prepared.cache.key.map(CacheKey::text),
        extra: prepared.extra(),
        instructions,
        input,
    };
    prepared.json(&body)
}

/// A summary is asked for, as the thoughts themselves are never shown.
fn reasoning(prepared: &PreparedRequest<'_>) -> Map<String, Value> {
    let of_extra = prepared
        .request
        .extra
        .get("reasoning")
        .and_then(Value::as_object);
    let mut config = of_extra.cloned().unwrap_or_default();
    if let Some(effort) = prepared.effort() {
        config.entry("effort").or_insert_with(|| effort.into());
        if effort != "none" && !prepared.leaves_out(Part::Summary) {
            config.entry("summary").or_insert_with(|| "auto".into());
        }
    }
    config
}

/// `None`, if there is nothing to say.
fn text<'a>(prepared: &'a PreparedRequest<'_>) -> Option<TextConfig<'a>> {
    let of_extra = prepared.of_extra("text");
    let mut format = None;
    if let Some((wanted_format, schema)) = prepared.typed()
        && !of_extra.contains_key("format")
    {
        format = text_format(wanted_format, schema);
    }
    if format.is_none() && of_extra.is_empty() {
        return None;
    }
    Some(TextConfig { of_extra, format })
}

/// `None`: the form of the answer is no field of the request, but a function or
/// words.
fn text_format(format: ResponseFormat, schema: &OutputSchema) -> Option<Format<'_>> {
    let (raw, strict) = match format {
        ResponseFormat::Strict => strict_or(schema, Profile::Output),
        ResponseFormat::Schema => (sent(schema, Profile::Output), false),
        ResponseFormat::JsonObject => return Some(Format::JsonObject),
        _ => return None,
    };
    Some(Format::JsonSchema {
        name: schema.name(),
        schema: raw,
        strict,
    })
}

/// `strict: false` is said, since this API takes it for granted otherwise.
///
/// The order stays the same from turn to turn, since tools stand before the
/// conversation in the provider's cache: the search, the node's tools in their own
/// order, the function of the answer, what the provider is to find, and last what
/// the program has written itself.
fn tools<'a>(prepared: &'a PreparedRequest<'_>) -> Vec<Tool<'a>> {
    let may_say_strict = !prepared.leaves_out(Part::StrictFunctions);
    let listed = prepared.tools().map(|(tool, schema)| Tool::Function {
        name: &tool.name,
        description: &tool.description,
        parameters: sent(schema, Profile::Function),
        strict: may_say_strict.then_some(false),
        defer_loading: false,
    });
    let answer = prepared.listed_function().map(|schema| {
        let (parameters, strict) = strict_or(schema, Profile::Function);
        Tool::Function {
            name: schema.name(),
            description: "",
            parameters,
            strict: may_say_strict.then_some(strict),
            defer_loading: false,
        }
    });
    let search = prepared.searches_tools().then_some(Tool::Search);
    search
        .into_iter()
        .chain(listed)
        .chain(answer)
        .chain(deferred(prepared))
        .chain(prepared.list_from_extra("tools").map(Tool::Given))
        .collect()
}

/// The tools that OpenAI is to find, those of one server in a namespace. A group of
/// one tool needs no namespace, and one with the name of a tool cannot have it.
fn deferred<'a>(prepared: &'a PreparedRequest<'_>) -> Vec<Tool<'a>> {
    let mut groups: BTreeMap<&str, Vec<&ToolSpec>> = BTreeMap::new();
    for (tool, _) in prepared.deferred_tools() {
        groups.entry(tool.group()).or_default().push(tool);
    }
    let mut deferred = Vec::new();
    for (group, members) in groups {
        let functions = members.iter().map(|tool| deferred_function(prepared, tool));
        let is_a_tool = prepared.tools().any(|(tool, _)| tool.name == group)
            || members.iter().any(|tool| tool.name == group);
        if members.len() == 1 || is_a_tool {
            deferred.extend(functions);
            continue;
        }
        deferred.push(Tool::Namespace {
            name: group,
            description: namespace_description(&members),
            tools: functions.collect(),
        });
    }
    deferred
}

fn deferred_function<'a>(prepared: &'a PreparedRequest<'_>, tool: &'a ToolSpec) -> Tool<'a> {
    Tool::Function {
        name: &tool.name,
        description: &tool.description,
        parameters: sent(prepared.allowed(&tool.schema), Profile::Function),
        strict: Some(false).filter(|_| !prepared.leaves_out(Part::StrictFunctions)),
        defer_loading: true,
    }
}

/// All that the model knows of a namespace before it searches, so the names of its tools are in it.
fn namespace_description(members: &[&ToolSpec]) -> String {
    const MOST_BYTES: usize = 1_000;
    let mut description = format!("{} tools:", members.len());
    for tool in members {
        if description.len() + tool.name.len() > MOST_BYTES {
            description.push_str(" and others");
            break;
        }
        description.push(' ');
        description.push_str(&tool.name);
    }
    description
}
