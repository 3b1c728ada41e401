//! The body of a request, serialized from borrowed parts.
//!
//! Nothing is copied: texts, schemas and media are borrowed from the request and
//! written straight into the body. Members stand in the order of the struct, with
//! the conversation last, so that two requests of a node have as long a beginning
//! in common as they can: providers keep beginnings in caches.

use std::borrow::Cow;

use llmnode_model::{Message, ResponseFormat};
use llmnode_reader::OutputSchema;
use llmnode_reader::ask::{Profile, sent};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::cache_marks::SentCacheOptions;
use super::sent_message::SentMessage;
use crate::api::cache_fields::CacheKey;
use crate::api::messages::{Messages, instructed, strict_or};
use crate::api::prepared_request::{PreparedRequest, ToolChoice, max_tokens};
use crate::api::sent_calls::SentIds;
use crate::refusal::parts::Part;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<WireResponseFormat<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<Function<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<WireToolChoice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_options: Option<SentCacheOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<String>,
    #[serde(flatten)]
    extra: &'a Map<String, Value>,
    /// Last, for prompt caches: the requests of a node begin alike.
    messages: SentMessages<'a>,
}

/// Without it, chat completions report no usage in a stream.
#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

/// Messages are written one by one while the body is.
struct SentMessages<'a>(Messages<'a>, &'a PreparedRequest<'a>);

impl Serialize for SentMessages<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let SentMessages(messages, prepared) = self;
        let ids = SentIds::of(messages.iter(), prepared.id_form);
        let mark = prepared.cache_mark(messages);
        to.collect_seq(messages.iter().enumerate().map(|(at, message)| {
            let mark = match mark {
                Some(mark) if mark.message == at => Some(mark.bytes),
                _ => None,
            };
            SentMessage {
                message,
                parts: prepared.carried(message).unwrap_or_default(),
                ids: ids.at(at),
                mark,
                prepared,
            }
        }))
    }
}

fn is_result_with_image(message: &Message) -> bool {
    message.answers().is_some() && message.attachments().next().is_some()
}

impl<'a> Messages<'a> {
    /// In this API, results of tools cannot hold images: they follow a round's last
    /// result, as a user message. Not earlier, since servers refuse a message between
    /// the results of one round.
    fn with_images_after_results(self) -> Self {
        let messages: Vec<Cow<'a, Message>> = match self {
            Messages::Unchanged(all) if !all.iter().any(is_result_with_image) => return self,
            Messages::Rewritten(ref all)
                if !all.iter().any(|message| is_result_with_image(message)) =>
            {
                return self;
            }
            Messages::Unchanged(all) => all.iter().map(Cow::Borrowed).collect(),
            Messages::Rewritten(all) => all,
        };
        let mut sent = Vec::with_capacity(messages.len() + 1);
        let mut images = Message::user("");
        for message in messages {
            // The first message behind the results of a round.
            if message.answers().is_none() && images.attachments().next().is_some() {
                let of_round = std::mem::replace(&mut images, Message::user(""));
                sent.push(Cow::Owned(of_round));
            }
            match message.answers() {
                Some(id) if is_result_with_image(&message) => {
                    images = message
                        .attachments()
                        .fold(images, |images, image| images.attach(image.clone()));
                    let text = if message.content.is_empty() {
                        "The image follows."
                    } else {
                        &*message.content
                    };
                    sent.push(Cow::Owned(Message::tool(id, text)));
                }
                _ => sent.push(message),
            }
        }
        if images.attachments().next().is_some() {
            sent.push(Cow::Owned(images));
        }
        Messages::Rewritten(sent)
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum WireResponseFormat<'a> {
    JsonSchema { json_schema: JsonSchema<'a> },
    JsonObject,
}

#[derive(Serialize)]
struct JsonSchema<'a> {
    name: &'a str,
    schema: &'a RawValue,
    strict: bool,
}

/// The same envelope around a function and around its name.
#[derive(Serialize)]
#[serde(tag = "type", rename = "function")]
struct Tool<F> {
    function: F,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    parameters: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum WireToolChoice<'a> {
    Mode(&'static str),
    Named(Tool<FunctionName<'a>>),
}

#[derive(Serialize)]
struct FunctionName<'a> {
    name: &'a str,
}

/// A member that the program writes in `extra` is not written by us as well: JSON
/// with a member twice is read in another way by each server.
pub(super) fn encode(prepared: &PreparedRequest<'_>) -> Result<Vec<u8>, String> {
    let PreparedRequest {
        request,
        model,
        streams,
        ..
    } = *prepared;
    let quirks = prepared.shape.quirks;
    let typed = prepared.typed();
    let function = prepared.function();
    let extra = &request.extra;
    let limit = max_tokens(request).map(|limit| quirks.limited(limit));
    let messages = instructed(prepared).with_images_after_results();
    // One call: with several of the answer's function, which of them is the answer?
    let mut parallel_tool_calls = None;
    if function.is_some()
        && request.tools.is_empty()
        && !extra.contains_key("parallel_tool_calls")
        && !prepared.leaves_out(Part::ParallelCalls)
    {
        parallel_tool_calls = Some(false);
    }
    let mut stream_options = None;
    if streams && !extra.contains_key("stream_options") && !prepared.leaves_out(Part::StreamOptions)
    {
        stream_options = Some(StreamOptions {
            include_usage: true,
        });
    }
    let body = Body {
        model,
        messages: SentMessages(messages, prepared),
        temperature: prepared.temperature(),
        max_tokens: limit.filter(|_| !quirks.max_completion_tokens),
        max_completion_tokens: limit.filter(|_| quirks.max_completion_tokens),
        reasoning_effort: prepared.effort(),
        response_format: typed.and_then(|(format, schema)| response_format(schema, format)),
        tools: tools(prepared),
        tool_choice: tool_choice(prepared),
        parallel_tool_calls,
        stream: streams.then_some(true),
        stream_options,
        prompt_cache_options: prepared.cache.options.map(SentCacheOptions::from),
        prompt_cache_key: prepared.cache.key.map(CacheKey::text),
        extra,
    };
    prepared.json(&body)
}

/// The node's tools, then the function for the answer.
fn tools<'a>(prepared: &'a PreparedRequest<'_>) -> Vec<Tool<Function<'a>>> {
    let listed = prepared.tools().map(|(tool, schema)| Function {
        name: &tool.name,
        description: &tool.description,
        parameters: sent(schema, Profile::Function),
        strict: None,
    });
    let answer = prepared
        .listed_function()
        .map(|schema| answer_function(schema, prepared));
    listed
        .chain(answer)
        .map(|function| Tool { function })
        .collect()
}

/// By name, any, or none.
fn tool_choice<'a>(prepared: &'a PreparedRequest<'_>) -> Option<WireToolChoice<'a>> {
    prepared.tool_choice().map(|choice| match choice {
        ToolChoice::Named(name) => WireToolChoice::Named(Tool {
            function: FunctionName { name },
        }),
        ToolChoice::Any => WireToolChoice::Mode("required"),
        ToolChoice::Nothing => WireToolChoice::Mode("none"),
    })
}

/// `None` for the formats that are no field of the request.
fn response_format(
    schema: &OutputSchema,
    format: ResponseFormat,
) -> Option<WireResponseFormat<'_>> {
    let (raw, strict) = match format {
        ResponseFormat::Strict => strict_or(schema, Profile::Output),
        ResponseFormat::Schema => (sent(schema, Profile::Output), false),
        ResponseFormat::JsonObject => return Some(WireResponseFormat::JsonObject),
        _ => return None,
    };
    Some(WireResponseFormat::JsonSchema {
        json_schema: JsonSchema {
            name: schema.name(),
            schema: raw,
            strict,
        },
    })
}

/// Its parameters are the schema of the answer.
fn answer_function<'a>(schema: &'a OutputSchema, prepared: &PreparedRequest<'_>) -> Function<'a> {
    let (parameters, strict) = strict_or(schema, Profile::Function);
    let strict = Some(strict).filter(|_| !prepared.leaves_out(Part::StrictFunctions));
    Function {
        name: schema.name(),
        description: "",
        parameters,
        strict,
    }
}
