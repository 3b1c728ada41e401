//! One answer in the form of each provider, whole and as a stream: a server that gives it, and runs that ask it.

use std::io::{BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use llmnode::{Anthropic, BoxError, Gemini, OpenAi, Run, llm_node, llm_output};
use serde_json::{Value, json};

use crate::loops::{CALLS, ROUNDS};
use crate::request::{Request, read_request};

/// Which of the items, and how many.
#[llm_output]
pub struct Item {
    /// Its name.
    pub item: String,
    /// How many are needed.
    pub count: u32,
}

/// A call whose answer is typed.
#[llm_node(
    system = "You choose from the list, and say how many of it are needed.",
    prompt = "Goal: {goal}\nItems: a rope, a key, a lamp, a ladder, a map of the house. Choose one.",
    output = Item
)]
pub struct Choose {
    /// What the items are for.
    pub goal: &'static str,
}

/// A call whose answer is a text, for streams.
#[llm_node(prompt = "Write {what}.")]
pub struct Tell {
    /// What is written.
    pub what: &'static str,
}

/// The APIs in the order of the tables, each with a run on it.
pub fn wires(url: &str) -> Result<[(&'static str, Run); 4], BoxError> {
    let openai = || OpenAi::builder().base_url(url).model("m");
    let anthropic = Anthropic::builder().base_url(url).model("m");
    let gemini = Gemini::builder().base_url(url).model("m");
    Ok([
        ("chat", Run::new(openai().build()?)),
        ("Responses", Run::new(openai().responses().build()?)),
        ("Messages", Run::new(anthropic.build()?)),
        ("Gemini", Run::new(gemini.build()?)),
    ])
}

/// The same text, whole and in pieces, as each provider writes it.
struct Bodies {
    path: &'static str,
    whole: String,
    stream: String,
    /// The calls of an agent's turn, on the API that agents are measured on.
    calls: Option<String>,
}

fn events(named: bool, events: impl IntoIterator<Item = Value>) -> String {
    let event = |event: Value| match (named, event["type"].as_str()) {
        (true, Some(name)) => format!("event: {name}\ndata: {event}\n\n"),
        _ => format!("data: {event}\n\n"),
    };
    events.into_iter().map(event).collect()
}

fn words(count: usize) -> impl Iterator<Item = &'static str> {
    std::iter::repeat_n("word", count)
}

fn chat(answer: &str, pieces: usize) -> Bodies {
    let usage = json!({"prompt_tokens": 90, "completion_tokens": 12, "total_tokens": 102, "prompt_tokens_details": {"cached_tokens": 64}});
    let chunk = |choices: Value| json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices});
    let delta = |delta: Value, finish: Option<&str>| {
        chunk(json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]))
    };
    let all = words(pieces).map(|piece| delta(json!({"content": piece}), None));
    let stream = events(false, all.chain([delta(json!({}), Some("stop"))])) + "data: [DONE]\n\n";
    let choice = json!({"index": 0, "message": {"role": "assistant", "content": answer, "refusal": null}, "logprobs": null, "finish_reason": "stop"});
    let whole = json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage});
    let calls = CALLS.map(|(name, arguments)| {
        json!({"id": format!("call_{name}"), "type": "function", "function": {"name": name, "arguments": arguments}})
    });
    let message =
        json!({"role": "assistant", "content": null, "refusal": null, "tool_calls": calls});
    let choice =
        json!({"index": 0, "message": message, "logprobs": null, "finish_reason": "tool_calls"});
    let turn = json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage});
    Bodies {
        path: "/chat/completions",
        whole: whole.to_string(),
        stream,
        calls: Some(turn.to_string()),
    }
}

fn responses(answer: &str, pieces: usize) -> Bodies {
    let message = |text: &str, status: &str| {
        json!({"id": "msg_1", "type": "message", "status": status, "role": "assistant",
        "content": [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]})
    };
    let response = |output: Value| {
        json!({"id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "error": null,
        "incomplete_details": null, "model": "m", "output": [output], "store": false,
        "usage": {"input_tokens": 90, "input_tokens_details": {"cached_tokens": 64}, "output_tokens": 12,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 102}})
    };
    let begin = json!({"type": "response.output_item.added", "output_index": 0, "item": message("", "in_progress")});
    let all = words(pieces).map(|piece| json!({"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": piece}));
    let end = json!({"type": "response.completed", "response": response(message(&words(pieces).collect::<String>(), "completed"))});
    let stream = events(true, [begin].into_iter().chain(all).chain([end]));
    Bodies {
        path: "/responses",
        whole: response(message(answer, "completed")).to_string(),
        stream,
        calls: None,
    }
}

fn messages(answer: &str, pieces: usize) -> Bodies {
    let message = |content: Value, stop: Option<&str>| {
        json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
        "content": content, "stop_reason": stop, "stop_sequence": null,
        "usage": {"input_tokens": 26, "cache_read_input_tokens": 64, "cache_creation_input_tokens": 0, "output_tokens": 12}})
    };
    let begin = [
        json!({"type": "message_start", "message": message(json!([]), None)}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    ];
    let all = words(pieces).map(|piece| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}));
    let end = [
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null}, "usage": {"output_tokens": 12}}),
        json!({"type": "message_stop"}),
    ];
    let whole = message(json!([{"type": "text", "text": answer}]), Some("end_turn")).to_string();
    Bodies {
        path: "/messages",
        whole,
        stream: events(true, begin.into_iter().chain(all).chain(end)),
        calls: None,
    }
}

fn gemini(answer: &str, pieces: usize) -> Bodies {
    let response = |text: &str, count: usize, finish: Option<&str>| {
        let mut candidate =
            json!({"content": {"parts": [{"text": text}], "role": "model"}, "index": 0});
        candidate
            .as_object_mut()
            .unwrap()
            .extend(finish.map(|finish| ("finishReason".to_owned(), json!(finish))));
        json!({"candidates": [candidate], "usageMetadata": {"promptTokenCount": 90, "cachedContentTokenCount": 64,
            "candidatesTokenCount": count, "totalTokenCount": 90 + count}, "modelVersion": "m", "responseId": "r1"})
    };
    // Each event has the count so far.
    let all = words(pieces)
        .enumerate()
        .map(|(at, piece)| response(piece, at + 1, None));
    let stream = events(false, all.chain([response("", pieces, Some("STOP"))]));
    Bodies {
        path: "enerateContent",
        whole: response(answer, 12, Some("STOP")).to_string(),
        stream,
        calls: None,
    }
}

/// Starts a server, and returns its address. It answers by the path, and as a stream of so many pieces if the request or the path asks for one.
pub fn serve(pieces: usize) -> String {
    let answer = json!({"item": "rope", "count": 2}).to_string();
    let all = Arc::new([
        chat(&answer, pieces),
        responses(&answer, pieces),
        messages(&answer, pieces),
        gemini(&answer, pieces),
    ]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let all = Arc::clone(&all);
            std::thread::spawn(move || connection(stream.unwrap(), &*all));
        }
    });
    url
}

fn connection(mut stream: TcpStream, all: &[Bodies]) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let Request { line, body } = read_request(&mut reader)?;
        let bodies = all.iter().find(|bodies| line.contains(bodies.path))?;
        let body = String::from_utf8_lossy(&body);
        let streams = line.contains("alt=sse") || body.contains("\"stream\":true");
        let turns = body.matches("\"assistant\"").count();
        let has_turns_left = body.contains("\"tools\":[") && turns + 1 < ROUNDS;
        let (kind, body) = match (streams, &bodies.calls) {
            (true, _) => ("text/event-stream", &bodies.stream),
            (false, Some(calls)) if has_turns_left => ("application/json", calls),
            _ => ("application/json", &bodies.whole),
        };
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all((head + body).as_bytes()).ok()?;
    }
}
