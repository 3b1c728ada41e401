//! One row of a wire: a provider's own answer, served as it is, and what is read from it and sent back.

use std::error::Error;

use llmnode::prelude::*;
use llmnode::{
    Anthropic, Category, ChatModel, Completion, FinishReason, Gemini, Group, Message, ModelError,
    OutputSchema, Request, Retry, Sink, TokenUsage, ToolSpec,
};
use serde_json::{Map, Value, json};

use crate::server::{Response, Server};

/// Listens if the row's body was asked for as a stream, and keeps the reported usage.
struct Listener {
    streams: bool,
    usage: Option<TokenUsage>,
}

impl Sink for Listener {
    fn request_id(&mut self, _: &str) {}
    fn usage(&mut self, usage: TokenUsage) {
        self.usage = Some(usage);
    }
    fn listens(&self) -> bool {
        self.streams
    }
}

/// Whether the row is one of a wire; `Err` if that is not spoken.
pub(crate) fn spoken(row: &Value) -> Option<Result<(), String>> {
    let wire = row["wire"].as_str()?;
    let known = ["anthropic", "chat", "gemini", "responses"].contains(&wire);
    Some(
        known
            .then_some(())
            .ok_or_else(|| format!("the wire {wire} is not spoken")),
    )
}

/// Runs a row.
pub(crate) async fn answer(row: &Value) -> Result<Value, Box<dyn Error>> {
    let responses = Response::sequence(&json!({"server": row}))?;
    let server = Server::start(responses).await?;
    let model: Box<dyn ChatModel> = match row["wire"].as_str() {
        Some("anthropic") => Box::new(
            Anthropic::builder()
                .base_url(server.base_url())
                .model("m")
                .build()?,
        ),
        Some("gemini") => Box::new(
            Gemini::builder()
                .base_url(server.base_url())
                .model("m")
                .build()?,
        ),
        Some("responses") => Box::new(
            OpenAi::builder()
                .base_url(server.base_url())
                .model("m")
                .responses()
                .build()?,
        ),
        _ => Box::new(
            OpenAi::builder()
                .base_url(server.base_url())
                .model("m")
                .build()?,
        ),
    };
    let asked = request(&row["asked"]);
    let mut listener = Listener {
        streams: row["kind"] == "sse",
        usage: None,
    };
    let outcome = model.complete(&asked, &mut listener).await;
    let mut answer = json!({"id": row["id"], "echo": []});
    let members = match &outcome {
        Ok(completion) => read(completion, &row["asked"]),
        Err(error) => failed(error),
    };
    answer.as_object_mut().ok_or("an object")?.extend(members);
    let usage = match &outcome {
        Ok(completion) => completion.usage,
        Err(error) => error.usage.as_deref().copied(),
    };
    answer["usage"] = json!(usage.or(listener.usage));
    if let Ok(completion) = outcome {
        answer["echo"] = echo(&*model, &server, asked, completion).await?;
    }
    Ok(answer)
}

fn request(asked: &Value) -> Request {
    let mut request = Request::new(vec![Message::user("Go on.")]);
    request.max_tokens = asked["max_tokens"]
        .as_u64()
        .and_then(|most| most.try_into().ok());
    if asked["temperature"] == true {
        request.temperature = Some(0.5);
    }
    let any = || {
        std::sync::Arc::new(OutputSchema::from_value(
            "Any",
            json!({"type": "object", "properties": {"a": {"type": "string"}}}),
        ))
    };
    if asked["schema"] == true || asked["strict"] == true {
        request.output = Some(any());
    }
    let named = asked["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    // Where nobody recorded the tools, the answer may have calls all the same.
    let names = named.map(str::to_owned).chain(["unknown".to_owned()]);
    request.tools = names.map(|name| ToolSpec::new(name, "", any())).collect();
    request
}

fn read(completion: &Completion, asked: &Value) -> Map<String, Value> {
    let named: Vec<_> = asked["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let unexpected = FinishReason::Other("UNEXPECTED_TOOL_CALL".to_owned());
    let unexpected = completion.finish.as_ref() == Some(&unexpected);
    let is_there = |call: &llmnode::ToolCall| {
        !unexpected && (named.is_empty() || named.contains(&&*call.name))
    };
    let (outcome, category, retry) = match &completion.finish {
        // What the attempt loop makes of them.
        Some(FinishReason::Length)
            if completion.text.is_empty() || !completion.calls.is_empty() =>
        {
            ("failure", "truncated_output", "no")
        }
        Some(FinishReason::Length) => ("length", "", ""),
        Some(FinishReason::Continue) => ("continue", "", ""),
        _ if completion.refusal.is_some() => ("failure", "refusal", "no"),
        Some(FinishReason::Error) => ("failure", "server_error", "transport"),
        _ if !completion.calls.is_empty() && !completion.calls.iter().any(is_there) => {
            ("feedback", "schema_error", "feedback")
        }
        _ if !completion.calls.is_empty() => ("calls", "", ""),
        Some(FinishReason::ContentFilter) => ("failure", "content_filter", "no"),
        _ if completion.text.is_empty() => ("empty", "", ""),
        _ => ("answer", "", ""),
    };
    // What was cut is not executed.
    let calls = if outcome == "failure" {
        &[][..]
    } else {
        &completion.calls
    };
    let call = |call: &llmnode::ToolCall| {
        let arguments = serde_json::from_str::<Value>(&call.arguments).unwrap_or(Value::Null);
        json!({"name": call.name, "arguments": arguments, "id": call.id})
    };
    let finish = completion.finish.as_ref().map(|finish| match finish {
        FinishReason::Stop | FinishReason::Length | FinishReason::ContentFilter => finish.as_str(),
        _ => "other",
    });
    let mut members = object(json!({
        "outcome": outcome,
        "text": completion.text,
        "reasoning": completion.reasoning,
        "calls": calls.iter().map(call).collect::<Vec<_>>(),
        "finish": finish,
    }));
    if !category.is_empty() {
        members.extend(object(json!({"category": category, "retry": retry})));
    }
    members
}

fn failed(error: &ModelError) -> Map<String, Value> {
    let retry = match error.retry {
        Some(Retry::Adapted) => "adapted",
        Some(Retry::Transport) => "transport",
        Some(Retry::Feedback) => "feedback",
        Some(_) => "no",
        None => match error.category.group() {
            Group::Transport => "transport",
            Group::Answer => "feedback",
            _ => "no",
        },
    };
    object(json!({
        "outcome": if retry == "feedback" { "feedback" } else { "failure" },
        "category": error.category.as_str(),
        "retry": retry,
        "finish": match error.category {
            Category::ContentFilter => Some("content_filter"),
            // The provider itself found the model's mistake.
            Category::SchemaError => Some("other"),
            _ => None,
        },
        "message": error.message,
        "wait_s": error.retry_after.map(|wait| wait.as_secs_f64()),
    }))
}

/// The assistant's turn in the next request of the conversation.
async fn echo(
    model: &dyn ChatModel,
    server: &Server,
    mut asked: Request,
    completion: Completion,
) -> Result<Value, Box<dyn Error>> {
    let results: Vec<Message> = completion
        .calls
        .iter()
        .map(|call| Message::tool(&*call.id, "done"))
        .collect();
    let said = Message::assistant(completion.text)
        .calling(completion.calls)
        .carrying(completion.carried);
    asked.messages.push(said);
    asked.messages.extend(results);
    asked.messages.push(Message::user("And now?"));
    // Only what is sent counts.
    let _ = model
        .complete(
            &asked,
            &mut Listener {
                streams: false,
                usage: None,
            },
        )
        .await;
    let Some((_, body)) = server.asked().into_iter().nth(1) else {
        return Ok(json!([]));
    };
    let body: Value = serde_json::from_str(&body)?;
    Ok(json!(turn(&body)))
}

/// The parts of the assistant's turn, on whichever wire.
fn turn(body: &Value) -> Vec<Value> {
    let list = |name: &str| body[name].as_array().into_iter().flatten();
    if body["input"].is_array() {
        let asked = |item: &Value| item["role"] == "user" || item["type"] == "function_call_output";
        return list("input").filter(|item| !asked(item)).cloned().collect();
    }
    let said = |message: &&Value| message["role"] == "assistant" || message["role"] == "model";
    let Some(turn) = list("messages").chain(list("contents")).find(said) else {
        return Vec::new();
    };
    match turn["content"].as_array().or(turn["parts"].as_array()) {
        Some(parts) => parts.clone(),
        None => vec![turn.clone()],
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
