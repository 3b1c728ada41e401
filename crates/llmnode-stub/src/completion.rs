//! Answers of a model to a request, in the form of its API.

use serde_json::{Value, json};

use super::answer::answer;
use super::api::Api;
use super::billing::BilledPrompt;
use super::counts::{TokenCounts, tokens};
use super::log::LoggedRequest;
use super::model_answer::{Call, Envelope, ModelAnswer, Usage};
use super::prefix::signature;
use super::reply::{Content, StubReply, UsageRule};
use super::wire;

/// Replies whose bodies are built in advance.
impl StubReply {
    /// Builds the body of a chat completion now and not for each request, for benchmarks. The model's name is then `stub`, and
    /// the prompt counts as no tokens unless [`usage`](Self::usage) was set before. With this reply as the
    /// [`default_reply`](super::StubServerBuilder::default_reply) and the log off, requests are not even parsed. Replies that
    /// depend on the request stay as they are.
    pub fn prebuilt(mut self) -> Self {
        if let Some((body, usage)) = without_request(&self) {
            let body = body.to_string().into_bytes().into();
            self.content = Content::Bytes {
                status: 200,
                content_type: "application/json",
                body,
                usage,
            };
        }
        self
    }
}

/// A body and its usage. `None`: the reply is not an answer of a model.
pub(super) fn for_request(
    reply: &StubReply,
    request: &LoggedRequest,
) -> Option<(Value, Option<TokenCounts>)> {
    let api = request.api().unwrap_or(Api::Chat);
    let model = request.model().unwrap_or("stub");
    let id = |at| match reply.short_ids {
        true => short_id(request.request_id(), at),
        false => call_id(api, request.request_id(), at),
    };
    let answer = scripted(reply, id)?;
    let around = Envelope {
        id: request.request_id(),
        model,
        usage: usage(api, reply, answer.as_ref(), tokens(prompt_chars(request))),
        signature: request
            .json()
            .map(|body| signature(api, model, body))
            .unwrap_or_default(),
    };
    Some((
        wire::body(api, answer.as_ref(), &around),
        around.usage.counts(),
    ))
}

/// For a reply that does not depend on the request.
fn without_request(reply: &StubReply) -> Option<(Value, Option<TokenCounts>)> {
    let answer = scripted(reply, |at| call_id(Api::Chat, "", at))?;
    let usage = usage(Api::Chat, reply, answer.as_ref(), 0);
    let around = Envelope {
        id: "prebuilt",
        model: "stub",
        usage,
        signature: String::new(),
    };
    Some((
        wire::body(Api::Chat, answer.as_ref(), &around),
        around.usage.counts(),
    ))
}

/// Anthropic and OpenAI's Responses refuse an id that stands in two turns.
fn call_id(api: Api, request_id: &str, at: usize) -> String {
    match api {
        Api::Chat => format!("call_{}", at + 1),
        Api::Responses | Api::Gemini => format!("call_{request_id}_{}", at + 1),
        Api::Messages => format!("toolu_{request_id}_{}", at + 1),
    }
}

/// As Mistral's are: nine letters and digits.
fn short_id(request_id: &str, at: usize) -> String {
    let number: String = request_id.chars().filter(char::is_ascii_digit).collect();
    format!("c{number:0>6}{:0>2}", at + 1)
}

pub(super) struct Filler {
    pub(super) before: Vec<u8>,
    pub(super) bytes: u64,
    pub(super) after: Vec<u8>,
}

/// The filler itself is left out, since it may be huge.
pub(super) fn filler_completion(
    reply: &StubReply,
    bytes: u64,
    request: &LoggedRequest,
) -> (Filler, Option<TokenCounts>) {
    const MARK: &str = "filler";
    let mut marked = reply.clone();
    marked.content = Content::Message {
        content: Some(MARK.to_owned()),
        refusal: None,
    };
    if let UsageRule::Counted = reply.usage {
        marked = marked.usage(tokens(prompt_chars(request)), bytes.div_ceil(4));
    }
    let (body, usage) = for_request(&marked, request).unwrap_or_default();
    let mut before = body.to_string().into_bytes();
    // Inside a JSON string the quotes would be escaped, so this finds the member itself.
    let member = wire::text_member(request.api().unwrap_or(Api::Chat));
    let key = format!(r#""{member}":"{MARK}"#).into_bytes();
    let at = before
        .windows(key.len())
        .position(|w| w == key)
        .map_or(before.len(), |at| at + key.len());
    let after = before.split_off(at);
    before.truncate(before.len() - MARK.len().min(before.len()));
    (
        Filler {
            before,
            bytes,
            after,
        },
        usage,
    )
}

/// `Some(None)`: no choices. `None`: not an answer of a model, or one that depends on the request.
fn scripted(reply: &StubReply, id: impl Fn(usize) -> String) -> Option<Option<ModelAnswer>> {
    let mut model_answer = ModelAnswer {
        reasoning: reply.reasoning.clone(),
        finish: "stop".to_owned(),
        ..ModelAnswer::default()
    };
    match &reply.content {
        Content::Message { content, refusal } => {
            model_answer.content.clone_from(content);
            model_answer.refusal.clone_from(refusal);
        }
        Content::Calls { content, calls } => {
            model_answer.content.clone_from(content);
            model_answer.finish = "tool_calls".to_owned();
            model_answer.calls = calls
                .iter()
                .enumerate()
                .map(|(at, (name, arguments)): (usize, &(String, String))| Call {
                    id: id(at),
                    name: name.clone(),
                    arguments: arguments.clone(),
                })
                .collect();
        }
        Content::NoChoices => return Some(None),
        _ => return None,
    }
    if let Some(reason) = &reply.finish_reason {
        model_answer.finish.clone_from(reason);
    }
    Some(Some(model_answer))
}

fn usage(api: Api, reply: &StubReply, model_answer: Option<&ModelAnswer>, prompt: u64) -> Usage {
    match &reply.usage {
        UsageRule::Counted => Usage::Counted(TokenCounts::new(
            prompt,
            tokens(model_answer.map_or(0, answer_chars)),
        )),
        UsageRule::Counts(counts) => Usage::Counted(*counts),
        UsageRule::Explicit(usage) => Usage::Given(usage.clone()),
        UsageRule::Billed(billed) => {
            let answer = tokens(model_answer.map_or(0, answer_chars));
            Usage::Given(billed_usage(api, *billed, answer))
        }
        UsageRule::Omitted => Usage::None,
    }
}

/// As the API reports it.
fn billed_usage(api: Api, billed: BilledPrompt, answer: u64) -> Value {
    let BilledPrompt {
        input,
        read,
        written,
        written_long,
    } = billed;
    let total = input + answer;
    match api {
        Api::Chat => {
            json!({"prompt_tokens": input, "completion_tokens": answer, "total_tokens": total,
            "prompt_tokens_details": {"cached_tokens": read, "cache_write_tokens": written}})
        }
        Api::Responses => {
            json!({"input_tokens": input, "output_tokens": answer, "total_tokens": total,
            "input_tokens_details": {"cached_tokens": read, "cache_write_tokens": written}})
        }
        Api::Messages => json!({"input_tokens": input - read - written, "output_tokens": answer,
            "cache_read_input_tokens": read, "cache_creation_input_tokens": written,
            "cache_creation": {"ephemeral_1h_input_tokens": written_long,
                "ephemeral_5m_input_tokens": written - written_long}}),
        Api::Gemini => json!({"promptTokenCount": input, "candidatesTokenCount": answer,
            "totalTokenCount": total, "cachedContentTokenCount": read}),
    }
}

fn answer_chars(model_answer: &ModelAnswer) -> usize {
    let text = model_answer
        .content
        .as_deref()
        .or(model_answer.refusal.as_deref())
        .map_or(0, |text| text.chars().count());
    text + model_answer
        .calls
        .iter()
        .map(|call| call.arguments.chars().count())
        .sum::<usize>()
}

fn prompt_chars(request: &LoggedRequest) -> usize {
    request
        .messages()
        .iter()
        .map(|(_, text)| text.chars().count())
        .sum()
}

/// An error if no answer is possible.
pub(super) fn from_schema(reply: StubReply, request: &LoggedRequest) -> StubReply {
    let body = request.json().unwrap_or(&Value::Null);
    let shape = wire::answer_shape(request.api().unwrap_or(Api::Chat), body);
    let mut text = match answer(&shape, &request.messages()) {
        Ok(text) => text,
        Err(fault) => {
            let message = format!(
                "StubServer: no reply is scripted for this request, and none can be made up from its schema because of \
                 {fault}; script one, such as `StubReply::json(..)`"
            );
            return StubReply::error(400, "invalid_request_error", "no_scripted_reply", &message);
        }
    };
    let room = shape
        .limit
        .and_then(|tokens| usize::try_from(tokens.saturating_mul(4)).ok());
    let cut = room
        .and_then(|chars| text.char_indices().nth(chars))
        .map(|(at, _)| at);
    if let Some(at) = cut {
        text.truncate(at);
    }
    // As with OpenAI, a forced call does not end with `tool_calls`.
    let finish_reason = if cut.is_some() { "length" } else { "stop" }.to_owned();
    let content = match shape.function {
        Some((name, _)) => Content::Calls {
            content: None,
            calls: vec![(name.to_owned(), text)],
        },
        None => Content::Message {
            content: Some(text),
            refusal: None,
        },
    };
    StubReply {
        content,
        finish_reason: reply.finish_reason.or(Some(finish_reason)),
        ..reply
    }
}
