//! The body of a request to Anthropic's Messages.
//!
//! Members are written in the order of the struct, which is the order in which a
//! provider's cache compares: first what is the same for all requests of a node
//! (model, settings, tools, system), last the conversation. Whatever a model may
//! refuse is an `Option`, and whether it is sent was decided before
//! (`api/shape.rs`).

use std::collections::BTreeMap;

use llmnode_model::ext::{AnswerLimit, LimitSetter};
use llmnode_model::{Request, ResponseFormat};
use llmnode_reader::ask::{Profile, sent};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::marks::{CacheControl, Marks};
use super::turns::{Block, Turn, turns};
use crate::api::messages::instructed;
use crate::api::prepared_request::{PreparedRequest, ToolChoice};
use crate::refusal::efforts::Thinking;
use crate::refusal::parts::Part;
use crate::refusal::quirks::Quirks;

/// The API requires a number. Above 21,333 a request without a stream may outlast ten minutes.
/// Source: Anthropic's SDK refuses it above this bound.
const DEFAULT_LIMIT: u32 = 21_000;
/// For an answer that the default has cut.
const RAISED_LIMIT: u32 = 32_000;
/// Room for the answer behind a budget of thoughts.
const ANSWER_TOKENS: u32 = 8_192;

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

/// Old models take `enabled` with a budget, new ones `adaptive`, with the effort in
/// `output_config`.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ThinkingConfig {
    Disabled,
    BetweenTools,
    Adaptive {
        #[serde(skip_serializing_if = "Option::is_none")]
        block_binding: Option<BlockBinding>,
    },
    Enabled {
        budget_tokens: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        block_binding: Option<BlockBinding>,
    },
}

/// What becomes of thoughts that were made behind another beginning of the conversation.
/// Needs the header `thinking-binding-controls`; see `api/ask.rs`.
#[derive(Serialize)]
struct BlockBinding {
    prefix_mismatch_behavior: &'static str,
}

/// The program's members take precedence.
/// `effort` and the schema of the answer are members of one object.
#[derive(Serialize)]
struct OutputConfig<'a> {
    #[serde(flatten)]
    of_extra: BTreeMap<&'a str, &'a Value>,
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

/// A tool of the program, Anthropic's search, or one that the program wrote into
/// `extra`.
#[derive(Serialize)]
#[serde(untagged)]
enum Tool<'a> {
    Function {
        name: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        description: &'a str,
        input_schema: &'a RawValue,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        defer_loading: bool,
    },
    /// Anthropic's own search of the tools that are not listed.
    Search {
        r#type: &'static str,
        name: &'static str,
    },
    /// A provider's own tool, from `extra`.
    Given(&'a Value),
}

/// The program's own members win: what it writes in `extra` is not written a second
/// time.
pub(super) fn encode(prepared: &PreparedRequest<'_>) -> Result<Vec<u8>, String> {
    let PreparedRequest {
        request,
        model,
        streams,
        shape,
        ..
    } = *prepared;
    let output_config = output_config(prepared);
    let messages = instructed(prepared);
    let marks = Marks::of(prepared, &messages);
    let (system, messages) = turns(&messages, prepared, marks)?;
    let mut extra = prepared.extra();
    // Thoughts cannot be switched on in the middle of a turn that began without
    // them.
    extra.retain(|name, _| !(shape.no_thinking && *name == "thinking"));
    let max_tokens = match request.extra.contains_key("max_tokens") {
        true => None,
        false => Some(limit(request, shape.quirks, prepared.thinking()).tokens),
    };
    let body = Body {
        model,
        max_tokens,
        temperature: prepared.temperature(),
        thinking: thinking(prepared),
        output_config,
        tools: tools(prepared),
        tool_choice: prepared.tool_choice().map(|choice| match choice {
            ToolChoice::Named(name) => named(name, !prepared.leaves_out(Part::ParallelCalls)),
            ToolChoice::Any => json!({"type": "any"}),
            ToolChoice::Nothing => json!({"type": "none"}),
        }),
        cache_control: marks.end,
        stream: streams.then_some(true),
        extra,
        system,
        messages,
    };
    prepared.json(&body)
}

/// The effort and the schema, unless the program writes these members itself.
/// `None`: there is nothing to say.
fn output_config<'a>(prepared: &'a PreparedRequest<'_>) -> Option<OutputConfig<'a>> {
    let of_extra = prepared.of_extra("output_config");
    let mut effort = prepared.effort();
    if of_extra.contains_key("effort") {
        effort = None;
    }
    let mut format = None;
    if let Some((ResponseFormat::Strict, schema)) = prepared.typed()
        && !of_extra.contains_key("format")
        && let Some(schema) = schema.anthropic()
    {
        format = Some(Format { schema });
    }
    if effort.is_none() && format.is_none() && of_extra.is_empty() {
        return None;
    }
    Some(OutputConfig {
        of_extra,
        effort,
        format,
    })
}

/// One call: with several, which of them is the answer?
fn named(name: &str, alone: bool) -> Value {
    let mut choice = json!({"type": "tool", "name": name});
    if alone {
        choice["disable_parallel_tool_use"] = true.into();
    }
    choice
}

/// An effort is `adaptive` here; the effort itself stands in `output_config`.
fn thinking(prepared: &PreparedRequest<'_>) -> Option<ThinkingConfig> {
    let binds = prepared.shape.drops_bound_thoughts && prepared.may_drop_bound_thoughts();
    let block_binding = binds.then_some(BlockBinding {
        prefix_mismatch_behavior: "drop_block",
    });
    match prepared.thinking() {
        Some(Thinking::Effort(_)) => Some(ThinkingConfig::Adaptive { block_binding }),
        Some(Thinking::Budget(0)) => Some(ThinkingConfig::Disabled),
        Some(Thinking::BetweenTools) => Some(ThinkingConfig::BetweenTools),
        Some(Thinking::Budget(budget_tokens)) => Some(ThinkingConfig::Enabled {
            budget_tokens,
            block_binding,
        }),
        // A model whose thoughts are bound thinks by itself.
        None => block_binding.map(|binding| ThinkingConfig::Adaptive {
            block_binding: Some(binding),
        }),
    }
}

/// Thoughts count as well, so that a budget for them leaves the default room for an answer.
/// A number is required, and decides two things: where an answer is cut, and what
/// may be reserved under limits. By whom it was set is kept, because only a default
/// may be raised.
pub(super) fn limit(request: &Request, quirks: Quirks, thinking: Option<Thinking>) -> AnswerLimit {
    if let Some(of_extra) = request.extra.get("max_tokens").and_then(tokens) {
        return AnswerLimit {
            tokens: of_extra,
            by: LimitSetter::Program,
            rises: false,
        };
    }
    let most = quirks.most_tokens.unwrap_or(u32::MAX);
    if let Some(set) = request.max_tokens {
        let by = if set > most {
            LimitSetter::Model
        } else {
            LimitSetter::Program
        };
        return AnswerLimit {
            tokens: quirks.limited(set),
            by,
            rises: false,
        };
    }
    let of_extra = request
        .extra
        .get("thinking")
        .and_then(|thinking| tokens(&thinking["budget_tokens"]));
    let budget = match (of_extra, thinking) {
        (Some(of_extra), _) => of_extra,
        (None, Some(Thinking::Budget(budget))) => budget,
        (None, _) => 0,
    };
    // Thoughts come out of the same number.
    let least = if budget == 0 {
        0
    } else {
        budget.saturating_add(ANSWER_TOKENS)
    };
    let higher = RAISED_LIMIT.max(least).min(most);
    let lower = DEFAULT_LIMIT.max(least).min(most);
    let tokens = if request.raised { higher } else { lower };
    let by = if tokens == most {
        LimitSetter::Model
    } else {
        LimitSetter::Default
    };
    AnswerLimit {
        tokens,
        by,
        rises: tokens < higher,
    }
}

/// A number of tokens in `extra`. One that is too great for the field is as good as
/// the greatest.
fn tokens(value: &Value) -> Option<u32> {
    value
        .as_u64()
        .map(|tokens| u32::try_from(tokens).unwrap_or(u32::MAX))
}

/// The order is fixed, since the list is the beginning of the cached prompt: the
/// search, the tools, the function for the answer, those that are found later, the
/// program's.
fn tools<'a>(prepared: &'a PreparedRequest<'_>) -> Vec<Tool<'a>> {
    let listed = prepared.tools().map(|(tool, schema)| Tool::Function {
        name: &tool.name,
        description: &tool.description,
        input_schema: sent(schema, Profile::Anthropic),
        defer_loading: false,
    });
    let answer_function = prepared.listed_function().map(|schema| Tool::Function {
        name: schema.name(),
        description: "",
        input_schema: sent(schema, Profile::Anthropic),
        defer_loading: false,
    });
    let deferred = prepared
        .deferred_tools()
        .map(|(tool, schema)| Tool::Function {
            name: &tool.name,
            description: &tool.description,
            input_schema: sent(schema, Profile::Anthropic),
            defer_loading: true,
        });
    let search = prepared.searches_tools().then_some(Tool::Search {
        r#type: "tool_search_tool_bm25_20251119",
        name: "tool_search_tool_bm25",
    });
    search
        .into_iter()
        .chain(listed)
        .chain(answer_function)
        .chain(deferred)
        .chain(prepared.list_from_extra("tools").map(Tool::Given))
        .collect()
}
