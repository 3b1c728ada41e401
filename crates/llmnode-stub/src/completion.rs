//! Bodies of chat completions, in the shape of OpenAI's.

use serde_json::{Value, json};

use super::answer::{answer, forced_function};
use super::log::{LoggedRequest, TokenCounts};
use super::reply::{Content, StubReply, UsageRule};

/// 2025-01-01T00:00:00Z; fixed, so that equal requests get equal bytes.
const CREATED: u64 = 1_735_689_600;

#[derive(Default)]
struct Message {
    content: Option<String>,
    refusal: Option<String>,
    /// Names and arguments (JSON).
    calls: Vec<(String, String)>,
    finish_reason: String,
}

/// Replies whose bodies are built in advance.
impl StubReply {
    /// Builds the body now and not for each request, for benchmarks. The model's name is then `stub`, and the prompt counts
    /// as no tokens unless [`usage`](Self::usage) was set before. With this reply as the
    /// [`default_reply`](super::StubServerBuilder::default_reply) and the log off, requests are not even parsed. Replies that
    /// depend on the request stay as they are.
    pub fn prebuilt(mut self) -> Self {
        if let Some((body, usage)) = without_request(&self) {
            self.content =
                Content::Bytes { status: 200, content_type: "application/json", body: body.into(), usage };
        }
        self
    }
}

/// `None`: the reply is not a completion.
pub(super) fn for_request(
    reply: &StubReply,
    request: &LoggedRequest,
) -> Option<(Vec<u8>, Option<TokenCounts>)> {
    let message = scripted(reply)?;
    let model = request.json().and_then(|body| body.get("model")).and_then(Value::as_str).unwrap_or("stub");
    let prompt: usize = request.messages().iter().map(|(_, text)| text.chars().count()).sum();
    Some(build(reply, message, model, request.request_id(), tokens(prompt)))
}

/// For a reply that does not depend on the request.
pub(super) fn without_request(reply: &StubReply) -> Option<(Vec<u8>, Option<TokenCounts>)> {
    Some(build(reply, scripted(reply)?, "stub", "prebuilt", 0))
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
    let mut empty = reply.clone();
    empty.content = Content::Message { content: Some(String::new()), refusal: None };
    if let UsageRule::Counted = reply.usage {
        let prompt: usize = request.messages().iter().map(|(_, text)| text.chars().count()).sum();
        empty = empty.usage(tokens(prompt), bytes.div_ceil(4));
    }
    let (mut before, usage) = for_request(&empty, request).unwrap_or_default();
    // Inside a JSON string the quotes would be escaped, so this finds the key itself.
    let key = br#""content":""#;
    let at = before.windows(key.len()).position(|w| w == key).map_or(before.len(), |at| at + key.len());
    let after = before.split_off(at);
    (Filler { before, bytes, after }, usage)
}

/// `Some(None)`: no choices. `None`: not a completion, or one that depends on the request.
fn scripted(reply: &StubReply) -> Option<Option<Message>> {
    match &reply.content {
        Content::Message { content, refusal } => Some(Some(Message {
            content: content.clone(),
            refusal: refusal.clone(),
            finish_reason: "stop".to_owned(),
            ..Message::default()
        })),
        Content::Calls { content, calls } => Some(Some(Message {
            content: content.clone(),
            calls: calls.clone(),
            finish_reason: "tool_calls".to_owned(),
            ..Message::default()
        })),
        Content::NoChoices => Some(None),
        _ => None,
    }
}

/// An error if no answer is possible.
pub(super) fn from_schema(reply: StubReply, request: &LoggedRequest) -> StubReply {
    let body = request.json().unwrap_or(&Value::Null);
    let mut text = match answer(body, &request.messages()) {
        Ok(text) => text,
        Err(fault) => {
            let message = format!(
                "StubServer: no reply is scripted for this request, and none can be made up from its schema because of \
                 {fault}; script one, such as `StubReply::json(..)`"
            );
            return StubReply::error(400, "invalid_request_error", "no_scripted_reply", &message);
        }
    };
    let limit = ["max_completion_tokens", "max_tokens"].iter().find_map(|name| body.get(name)?.as_u64());
    let room = limit.and_then(|tokens| usize::try_from(tokens.saturating_mul(4)).ok());
    let cut = room.and_then(|chars| text.char_indices().nth(chars)).map(|(at, _)| at);
    if let Some(at) = cut {
        text.truncate(at);
    }
    // As with OpenAI, a forced call does not end with `tool_calls`.
    let finish_reason = if cut.is_some() { "length" } else { "stop" }.to_owned();
    let content = match forced_function(body) {
        Some(name) => Content::Calls { content: None, calls: vec![(name.to_owned(), text)] },
        None => Content::Message { content: Some(text), refusal: None },
    };
    StubReply { content, finish_reason: reply.finish_reason.or(Some(finish_reason)), ..reply }
}

fn build(
    reply: &StubReply,
    message: Option<Message>,
    model: &str,
    id: &str,
    prompt_tokens: u64,
) -> (Vec<u8>, Option<TokenCounts>) {
    let text = message.as_ref().and_then(|m| m.content.as_deref().or(m.refusal.as_deref()));
    let called = message.iter().flat_map(|m| &m.calls).map(|(_, arguments)| arguments.chars().count());
    let completion_tokens = tokens(text.map_or(0, |t| t.chars().count()) + called.sum::<usize>());
    let usage = match &reply.usage {
        UsageRule::Counted => Some(TokenCounts::new(prompt_tokens, completion_tokens).to_json()),
        UsageRule::Explicit(usage) => Some(usage.clone()),
        UsageRule::Omitted => None,
    };
    let choices: Vec<Value> =
        message.into_iter().map(|m| choice(m, reply.finish_reason.as_deref())).collect();
    let mut body = json!({
        "id": format!("chatcmpl-{id}"),
        "object": "chat.completion",
        "created": CREATED,
        "model": model,
        "choices": choices,
    });
    let counts = usage.as_ref().and_then(TokenCounts::from_json);
    if let Some(usage) = usage {
        body["usage"] = usage;
    }
    (body.to_string().into_bytes(), counts)
}

fn choice(message: Message, finish_reason: Option<&str>) -> Value {
    let mut choice = json!({
        "index": 0,
        "message": {"role": "assistant", "content": message.content, "refusal": message.refusal},
        "logprobs": null,
        "finish_reason": finish_reason.unwrap_or(&message.finish_reason),
    });
    if !message.calls.is_empty() {
        let call = |(index, (name, arguments)): (usize, &(String, String))| {
            let function = json!({"name": name, "arguments": arguments});
            json!({"id": format!("call_{}", index + 1), "type": "function", "function": function})
        };
        choice["message"]["tool_calls"] = message.calls.iter().enumerate().map(call).collect();
    }
    choice
}

fn tokens(chars: usize) -> u64 {
    chars.div_ceil(4) as u64
}
