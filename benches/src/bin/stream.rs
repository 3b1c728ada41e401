//! What a streamed token costs: llmnode beside async-openai's stream by hand, on one server.
//!
//! Usage: `stream [ROUNDS]`; `stream serve`, then `stream memory llmnode|async-openai URL` for the memory of 1,000 open streams. Each round streams the same 2,000 tokens in each way, and takes the processor time of the thread
//! that reads them. The server has a thread of its own.

use std::time::{Duration, Instant};

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{
    ChatCompletionRequestUserMessage, CreateChatCompletionRequest, CreateChatCompletionRequestArgs,
};
use llmnode::prelude::*;
use llmnode::stub_server::StubReply;
use llmnode::{Event, StubServer};
use llmnode_benches::measure::{median, resident};
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::json;
use tokio_stream::StreamExt;

const TOKENS: usize = 2000;
const KEY: &str = "sk-benchmark";

#[llm_node(prompt = "Write {what}.")]
struct Write {
    what: String,
}

#[llm_output]
struct Story {
    title: String,
    lines: Vec<String>,
}

#[llm_node(prompt = "Write {what}.", output = Story)]
struct WriteStory {
    what: String,
}

/// The processor time of this thread.
fn cpu() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_THREAD).unwrap();
    let time = |time: nix::sys::time::TimeVal| {
        Duration::new(
            time.tv_sec().unsigned_abs(),
            1000 * u32::try_from(time.tv_usec()).unwrap(),
        )
    };
    time(usage.user_time()) + time(usage.system_time())
}

/// A server that streams this text, four characters an event, on a thread of its own.
fn serve(text: &str, pause: Duration) -> String {
    let chunk = |choices: serde_json::Value| {
        let chunk = json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_735_689_600, "model": "m", "choices": choices,
        });
        format!("data: {chunk}\n\n")
    };
    let choice = |delta: serde_json::Value, finish: Option<&str>| {
        chunk(json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]))
    };
    let characters: Vec<char> = text.chars().collect();
    let mut events = vec![choice(json!({"role": "assistant", "content": ""}), None)];
    let piece = |piece: &[char]| choice(json!({"content": piece.iter().collect::<String>()}), None);
    events.extend(characters.chunks(4).map(piece));
    events.push(choice(json!({}), Some("stop")));
    events.push("data: [DONE]\n\n".to_owned());
    if !pause.is_zero() {
        // The first piece comes at once.
        let first = events.remove(0);
        events[0].insert_str(0, &first);
    }
    let (told, url) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let builder = StubServer::builder()
                .default_reply(StubReply::stream(events).pause(pause))
                .log_limit(0);
            let server = builder.start().await.unwrap();
            told.send(server.base_url()).unwrap();
            std::future::pending::<()>().await;
        });
    });
    url.recv().unwrap()
}

/// The request that async-openai sends.
fn story() -> CreateChatCompletionRequest {
    CreateChatCompletionRequestArgs::default()
        .model("m")
        .messages(vec![
            ChatCompletionRequestUserMessage::from("Write a story.").into(),
        ])
        .build()
        .unwrap()
}

/// Streams once; when the first piece came.
async fn by_async_openai(client: &Client<OpenAIConfig>, length: usize) -> Duration {
    let begun = Instant::now();
    let mut stream = client.chat().create_stream(story()).await.unwrap();
    let (mut text, mut first) = (String::new(), None);
    while let Some(chunk) = stream.next().await {
        for choice in chunk.unwrap().choices {
            if let Some(content) = choice.delta.content.filter(|content| !content.is_empty()) {
                first.get_or_insert_with(|| begun.elapsed());
                text += &content;
            }
        }
    }
    assert_eq!(text.len(), length);
    first.unwrap()
}

async fn by_llmnode(run: &Run, length: usize) -> Duration {
    let begun = Instant::now();
    let node = Write {
        what: "a story".to_owned(),
    };
    let mut answer = run.call(&node).stream();
    let (mut text, mut first) = (String::new(), None);
    while let Some(event) = answer.next().await {
        if let Event::Text(piece) = event {
            first.get_or_insert_with(|| begun.elapsed());
            text += &piece;
        }
    }
    assert_eq!(
        (text.len(), answer.finish().await.unwrap().len()),
        (length, length)
    );
    first.unwrap()
}

/// As a type, with a look at the answer after each event.
async fn typed(run: &Run, _: usize) -> Duration {
    let begun = Instant::now();
    let node = WriteStory {
        what: "a story".to_owned(),
    };
    let mut answer = run.call(&node).stream();
    let (mut lines, mut first) = (0, None);
    while answer.next().await.is_some() {
        first.get_or_insert_with(|| begun.elapsed());
        lines = answer
            .partial()
            .map_or(0, |story| story["lines"].as_array().map_or(0, Vec::len));
    }
    let story = answer.finish().await.unwrap();
    assert!(!story.title.is_empty());
    assert_eq!(story.lines.len(), lines);
    first.unwrap()
}

/// How the time of a whole stream grows with the answer, with a look at it after each piece of four characters.
async fn growth() {
    println!("\n| answer | with a look after each piece | ratio |\n|---|---|---|");
    let mut last: Option<f64> = None;
    for bytes in [250_000, 500_000, 1_000_000] {
        let line = "x".repeat(90);
        let lines = vec![line; bytes / 93];
        let story: Vec<char> = json!({"title": "A story", "lines": lines})
            .to_string()
            .chars()
            .collect();
        let pieces: Vec<String> = story
            .chunks(4)
            .map(|piece| piece.iter().collect())
            .collect();
        let mut times = Vec::new();
        for _ in 0..5 {
            let run = Run::new(ScriptedModel::new().reply(llmnode::Reply::pieces(pieces.clone())));
            let begun = cpu();
            typed(&run, 0).await;
            times.push((cpu() - begun).as_secs_f64());
        }
        let time = median(times);
        let ratio = last.map_or("".to_owned(), |last| format!("{:.2}", time / last));
        println!("| {} KB | {:.0} ms | {ratio} |", bytes / 1000, time * 1e3);
        last = Some(time);
    }
}

/// The memory of a stream that has given its first piece, of a thousand, in KB.
async fn memory(way: &str, url: &str) {
    const OPEN: usize = 1000;
    let run = Run::new(
        OpenAi::builder()
            .base_url(url)
            .api_key(KEY)
            .model("m")
            .build()
            .unwrap(),
    );
    let config = OpenAIConfig::new().with_api_base(url).with_api_key(KEY);
    let client = Client::build(reqwest::Client::new(), config);
    let node = Write {
        what: "a story".to_owned(),
    };
    let before = resident("VmRSS");
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..OPEN {
        if way == "llmnode" {
            let mut answer = run.call(&node).stream();
            assert!(answer.next().await.is_some());
            ours.push(answer);
        } else {
            let mut stream = client.chat().create_stream(story()).await.unwrap();
            assert!(stream.next().await.is_some());
            theirs.push(stream);
        }
    }
    println!(
        "{way}: {:.1} KB",
        (resident("VmRSS") - before) / (ours.len() + theirs.len()) as f64
    );
}

fn main() {
    rustls::crypto::ring::default_provider()
        .install_default()
        .unwrap();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve"] => {
            println!("{}", serve(&"word".repeat(50), Duration::from_secs(60)));
            std::thread::park();
            return;
        }
        ["memory", way, url] => return runtime.block_on(memory(way, url)),
        _ => {}
    }
    let rounds = std::env::args()
        .nth(1)
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(200);
    let lines: Vec<String> = (0..200)
        .map(|line| format!("This is line {line} of the story."))
        .collect();
    let story = json!({"title": "A story", "lines": lines}).to_string();
    let story: String = story.chars().take(4 * TOKENS).collect();
    let whole = story
        .rfind("\",")
        .map_or(story.clone(), |end| format!("{}\"]}}", &story[..end]));
    let url = serve(&whole, Duration::ZERO);
    let run = Run::new(
        OpenAi::builder()
            .base_url(&url)
            .api_key(KEY)
            .model("m")
            .build()
            .unwrap(),
    );
    let config = OpenAIConfig::new().with_api_base(&url).with_api_key(KEY);
    let client = Client::build(reqwest::Client::new(), config);
    let mut figures: [(Vec<f64>, Vec<f64>); 3] = Default::default();
    runtime.block_on(async {
        for round in 0..rounds {
            for way in (0..3).map(|way| (way + round) % 3) {
                let begun = cpu();
                let first = match way {
                    0 => by_async_openai(&client, whole.len()).await,
                    1 => by_llmnode(&run, whole.len()).await,
                    _ => typed(&run, whole.len()).await,
                };
                let (times, firsts) = &mut figures[way];
                times.push((cpu() - begun).as_secs_f64());
                firsts.push(first.as_secs_f64());
            }
        }
    });
    let tokens = (whole.len() / 4) as f64;
    let [(theirs, theirs_first), ..] = &figures;
    println!(
        "| {tokens} tokens | processor time a token | ratio | first piece | ratio |\n|---|---|---|---|---|"
    );
    for (name, (times, firsts)) in ["async-openai by hand", "llmnode, text", "llmnode, typed"]
        .iter()
        .zip(&figures)
    {
        let ratio = |ours: &[f64], other: &[f64]| {
            median(
                ours.iter()
                    .zip(other)
                    .map(|(ours, other)| ours / other)
                    .collect(),
            )
        };
        println!(
            "| {name} | {:.2} µs | {:.2} | {:.0} µs | {:.2} |",
            median(times.clone()) * 1e6 / tokens,
            ratio(times, theirs),
            median(firsts.clone()) * 1e6,
            ratio(firsts, theirs_first),
        );
    }
    runtime.block_on(growth());
}
