//! How much memory an answer takes that comes in very many pieces: 8 MiB of text in two million.
//!
//! Usage: `parts`. Each row is the most bytes of the heap that a call had at once, plain and read along. The server has threads of
//! its own, whose memory does not count.

use std::io::{BufReader, Write};
use std::net::TcpStream;

use allocation_counter::measure;
use llmnode::prelude::*;
use llmnode::{Anthropic, BoxError, Gemini};
use llmnode_benches::request::{read_request, serve};
use serde_json::{Value, json};

const APIS: [&str; 4] = ["chat", "responses", "messages", "gemini"];
/// Of four bytes.
const PIECES: usize = 2_000_000;
/// A part of a message has some 30 bytes beside its text, and a body 8 MiB at most.
const PARTS: usize = 180_000;

#[llm_node(prompt = "Write {what}.", retries = 0)]
struct Tell {
    what: &'static str,
}

fn event(event: &Value) -> String {
    format!("data: {event}\n\n")
}

fn piece(api: &str) -> String {
    event(&match api {
        "chat" => json!({"choices": [{"index": 0, "delta": {"content": "word"}}]}),
        "responses" => {
            json!({"type": "response.output_text.delta", "output_index": 0, "delta": "word"})
        }
        "messages" => {
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "word"}})
        }
        _ => json!({"candidates": [{"content": {"parts": [{"text": "word"}]}}]}),
    })
}

/// The events before the pieces, and those behind them.
fn around(api: &str) -> (String, String) {
    match api {
        "chat" => {
            let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
            (String::new(), event(&end) + "data: [DONE]\n\n")
        }
        "responses" => {
            let text = "word".repeat(PIECES);
            let item =
                json!({"type": "message", "content": [{"type": "output_text", "text": text}]});
            let end = json!({"type": "response.completed", "response": {"status": "completed", "output": [item]}});
            (String::new(), event(&end))
        }
        "messages" => {
            let start = json!({"type": "message_start", "message": {"id": "m", "content": [], "usage": {}}});
            let block = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}});
            let end =
                json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}});
            (
                event(&start) + &event(&block),
                event(&end) + &event(&json!({"type": "message_stop"})),
            )
        }
        _ => (
            String::new(),
            event(&json!({"candidates": [{"finishReason": "STOP"}]})),
        ),
    }
}

/// An answer in one piece of JSON, whose text has many parts.
fn whole(api: &str) -> String {
    let parts = |part: &Value| vec![part.to_string(); PARTS].join(",");
    match api {
        "chat" => {
            let parts = parts(&json!({"type": "text", "text": "word"}));
            format!(
                r#"{{"choices":[{{"message":{{"content":[{parts}]}},"finish_reason":"stop"}}]}}"#
            )
        }
        "responses" => {
            let parts = parts(&json!({"type": "output_text", "text": "word"}));
            format!(
                r#"{{"status":"completed","output":[{{"type":"message","content":[{parts}]}}]}}"#
            )
        }
        "messages" => {
            let parts = parts(&json!({"type": "text", "text": "word"}));
            format!(r#"{{"type":"message","content":[{parts}],"stop_reason":"end_turn"}}"#)
        }
        _ => {
            let parts = parts(&json!({"text": "word"}));
            format!(
                r#"{{"candidates":[{{"content":{{"parts":[{parts}]}},"finishReason":"STOP"}}]}}"#
            )
        }
    }
}

/// The path begins with the API, and says whether the answer comes in one piece.
fn connection(mut stream: TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let request = read_request(&mut reader)?;
    let mut path = request.line.split('/').skip(1);
    let api = path.next()?;
    if path.next()? == "whole" {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
        return stream
            .write_all((head.to_owned() + &whole(api)).as_bytes())
            .ok();
    }
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let (before, behind) = around(api);
    stream
        .write_all((head.to_owned() + &before).as_bytes())
        .ok()?;
    let some = piece(api).repeat(1_000);
    for _ in 0..PIECES / 1_000 {
        stream.write_all(some.as_bytes()).ok()?;
    }
    stream.write_all(behind.as_bytes()).ok()
}

fn run(url: String, api: &str) -> Result<Run, BoxError> {
    // The last event of Responses has the text once more.
    const MOST: usize = 32 << 20;
    Ok(match api {
        "chat" => Run::new(
            OpenAi::builder()
                .base_url(url)
                .model("m")
                .max_body_bytes(MOST)
                .build()?,
        ),
        "responses" => Run::new(
            OpenAi::builder()
                .responses()
                .base_url(url)
                .model("m")
                .max_body_bytes(MOST)
                .build()?,
        ),
        "messages" => Run::new(
            Anthropic::builder()
                .base_url(url)
                .model("m")
                .max_body_bytes(MOST)
                .build()?,
        ),
        _ => Run::new(
            Gemini::builder()
                .base_url(url)
                .model("m")
                .max_body_bytes(MOST)
                .build()?,
        ),
    })
}

async fn ask(run: Run, listens: bool) -> String {
    let call = run.call(&Tell { what: "a story" });
    let outcome = if listens {
        let mut answer = call.stream();
        while answer.next().await.is_some() {}
        answer.finish().await
    } else {
        call.await
    };
    outcome.map_or_else(
        |error| error.to_string(),
        |text| format!("{} bytes", text.len()),
    )
}

fn main() -> Result<(), BoxError> {
    let url = serve(connection);
    println!("| API | answer | most of the heap, plain | read along | came |");
    println!("|---|---|---|---|---|");
    for api in APIS {
        for form in ["pieces", "whole"] {
            let mut came = String::new();
            let mut most = Vec::new();
            for listens in [false, true] {
                let run = run(format!("{url}/{api}/{form}"), api)?;
                let counted = measure(|| {
                    let runtime = tokio::runtime::Builder::new_current_thread()
                        .enable_all()
                        .build()
                        .unwrap();
                    came = runtime.block_on(ask(run, listens));
                });
                most.push(counted.bytes_max as f64 / 1e6);
            }
            println!(
                "| {api} | {form} | {:.1} MB | {:.1} MB | {came} |",
                most[0], most[1]
            );
        }
    }
    Ok(())
}
