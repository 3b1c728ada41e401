//! What a call and a streamed event cost on each wire, beside chat completions: one answer, in the form of each provider.
//!
//! Usage: `wires [ROUNDS]`. Each round makes the same calls on each wire, in turn, and takes the processor time of the thread that
//! makes them; the server has a thread of its own. A ratio is the median over the rounds, so that other load hardly counts.

use std::io::{BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use llmnode::prelude::*;
use llmnode::{Anthropic, BoxError, Event, Gemini};
use llmnode_benches::measure::{median, thread_cpu};
use llmnode_benches::request::{Request, read_request};
use serde_json::{Value, json};

const CALLS: usize = 40;
const PIECES: usize = 2000;

#[llm_output]
struct Item {
    item: String,
    count: u32,
}

#[llm_node(
    system = "You choose from the list, and say how many of it are needed.",
    prompt = "Goal: {goal}\nItems: a rope, a key, a lamp, a ladder, a map of the house. Choose one.",
    output = Item
)]
struct Choose {
    goal: &'static str,
}

#[llm_node(prompt = "Write {what}.")]
struct Tell {
    what: &'static str,
}

/// The same text, whole and in pieces, as each provider writes it.
struct Bodies {
    path: &'static str,
    whole: String,
    stream: String,
}

fn events(named: bool, events: impl IntoIterator<Item = Value>) -> String {
    let event = |event: Value| match (named, event["type"].as_str()) {
        (true, Some(name)) => format!("event: {name}\ndata: {event}\n\n"),
        _ => format!("data: {event}\n\n"),
    };
    events.into_iter().map(event).collect()
}

fn pieces() -> impl Iterator<Item = &'static str> {
    std::iter::repeat_n("word", PIECES)
}

fn chat(answer: &str) -> Bodies {
    let usage = json!({"prompt_tokens": 90, "completion_tokens": 12, "total_tokens": 102, "prompt_tokens_details": {"cached_tokens": 64}});
    let chunk = |choices: Value| json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices});
    let delta = |delta: Value, finish: Option<&str>| {
        chunk(json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]))
    };
    let all = pieces().map(|piece| delta(json!({"content": piece}), None));
    let stream = events(false, all.chain([delta(json!({}), Some("stop"))])) + "data: [DONE]\n\n";
    let choice = json!({"index": 0, "message": {"role": "assistant", "content": answer, "refusal": null}, "logprobs": null, "finish_reason": "stop"});
    let whole = json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage});
    Bodies {
        path: "/chat/completions",
        whole: whole.to_string(),
        stream,
    }
}

fn responses(answer: &str) -> Bodies {
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
    let all = pieces().map(|piece| json!({"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": piece}));
    let end = json!({"type": "response.completed", "response": response(message(&pieces().collect::<String>(), "completed"))});
    let stream = events(true, [begin].into_iter().chain(all).chain([end]));
    Bodies {
        path: "/responses",
        whole: response(message(answer, "completed")).to_string(),
        stream,
    }
}

fn messages(answer: &str) -> Bodies {
    let message = |content: Value, stop: Option<&str>| {
        json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
        "content": content, "stop_reason": stop, "stop_sequence": null,
        "usage": {"input_tokens": 26, "cache_read_input_tokens": 64, "cache_creation_input_tokens": 0, "output_tokens": 12}})
    };
    let begin = [
        json!({"type": "message_start", "message": message(json!([]), None)}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    ];
    let all = pieces().map(|piece| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}));
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
    }
}

fn gemini(answer: &str) -> Bodies {
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
    let all = pieces()
        .enumerate()
        .map(|(at, piece)| response(piece, at + 1, None));
    let stream = events(false, all.chain([response("", PIECES, Some("STOP"))]));
    Bodies {
        path: "enerateContent",
        whole: response(answer, 12, Some("STOP")).to_string(),
        stream,
    }
}

/// Answers by the path, and as a stream if the request or the path asks for one.
fn serve() -> String {
    let answer = json!({"item": "rope", "count": 2}).to_string();
    let all = Arc::new([
        chat(&answer),
        responses(&answer),
        messages(&answer),
        gemini(&answer),
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
        let streams =
            line.contains("alt=sse") || String::from_utf8_lossy(&body).contains("\"stream\":true");
        let (kind, body) = match streams {
            true => ("text/event-stream", &bodies.stream),
            false => ("application/json", &bodies.whole),
        };
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all((head + body).as_bytes()).ok()?;
    }
}

/// Microseconds of a call, and of an event.
async fn round(run: &Run) -> Result<[f64; 2], BoxError> {
    let began = thread_cpu();
    for _ in 0..CALLS {
        assert_eq!(run.call(&Choose { goal: "climb down" }).await?.count, 2);
    }
    let called = thread_cpu();
    let mut answer = run.call(&Tell { what: "a story" }).stream();
    let mut length = 0;
    while let Some(event) = answer.next().await {
        if let Event::Text(piece) = event {
            length += piece.len();
        }
    }
    assert_eq!(
        (length, answer.finish().await?.len()),
        (4 * PIECES, 4 * PIECES)
    );
    let each = |time: Duration, count: usize| time.as_secs_f64() * 1e6 / count as f64;
    Ok([
        each(called - began, CALLS),
        each(thread_cpu() - called, PIECES),
    ])
}

fn main() -> Result<(), BoxError> {
    rustls::crypto::ring::default_provider()
        .install_default()
        .map_err(|_| "a provider is there")?;
    let rounds = std::env::args()
        .nth(1)
        .map_or(Ok(200), |rounds| rounds.parse::<usize>())?;
    let url = serve();
    let openai = || OpenAi::builder().base_url(url.as_str()).model("m");
    let runs = [
        ("chat completions", Run::new(openai().build()?)),
        ("Responses", Run::new(openai().responses().build()?)),
        (
            "Messages",
            Run::new(
                Anthropic::builder()
                    .base_url(url.as_str())
                    .model("m")
                    .build()?,
            ),
        ),
        (
            "Gemini",
            Run::new(
                Gemini::builder()
                    .base_url(url.as_str())
                    .model("m")
                    .build()?,
            ),
        ),
    ];
    let mut figures: [Vec<[f64; 2]>; 4] = Default::default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        for at in 0..rounds + 3 {
            for way in (0..runs.len()).map(|way| (way + at) % runs.len()) {
                let figure = round(&runs[way].1).await?;
                // The first rounds warm up.
                if at >= 3 {
                    figures[way].push(figure);
                }
            }
        }
        Ok::<(), BoxError>(())
    })?;
    println!("| wire | a call | to chat | a streamed event | to chat |\n|---|---|---|---|---|");
    for ((name, _), own) in runs.iter().zip(&figures) {
        let column = |at: usize| {
            let time = median(own.iter().map(|figure| figure[at]).collect());
            let ratio = median(
                own.iter()
                    .zip(&figures[0])
                    .map(|(own, chat)| own[at] / chat[at])
                    .collect(),
            );
            (time, ratio)
        };
        let ((call, call_ratio), (event, event_ratio)) = (column(0), column(1));
        println!("| {name} | {call:.1} µs | {call_ratio:.2} | {event:.2} µs | {event_ratio:.2} |");
    }
    Ok(())
}
