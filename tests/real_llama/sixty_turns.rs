//! Two agents of sixty turns on a server whose window is far too small for them, with a model of 0.5B that sums up by itself.
//!
//! They need Qwen2.5-Coder-0.5B-Instruct and some ten minutes:
//! `LLMNODE_CONTEXT=2048 scripts/real-components --instruct-all cargo test -p llmnode -p llmnode-testkit --test real_llama sixty_turns -- --ignored --nocapture`.
//! What such a model writes is reported; what the library promises whatever it writes is checked. The results are in
//! docs/verification.md.

use std::sync::{Arc, Mutex};

use llmnode::prelude::*;
use llmnode::{CompactionStep, Limits, Message, OpenAi, Toolset, Transcript};
use serde_json::{Value, json};

use crate::support::key;
use crate::wire::{Exchange, Wire};

const TURNS: usize = 60;

/// What the program says in its system text, in a message and in a pin.
const IN_SYSTEM: &str = "Prices are in euros, without taxes.";
const OF_USER: &str = "Never ship before Friday.";
const PINNED: &str = "The customer's number is 4711-b.";

/// A model that loses its way is asked to go on, this often at most.
const MOST_CALLS: usize = 40;

/// Sums up.
#[llm_node(
    prompt = "Sum up this part of a conversation:\n{part:fence}",
    output = llmnode::Summary,
    retries = 2,
    temperature = 0.0,
    max_tokens = 250
)]
struct Summarise {
    part: Transcript,
}

/// Reads a book page by page. Nobody says how large the window is: the server does when it refuses.
#[llm_node(
    system = "You read a book. For each page, call next_page again. Never write the pages yourself. Prices are in euros, without taxes.",
    prompt = "{question}",
    turns = 80,
    compact(keep = 3, with = Summarise),
    temperature = 0.0,
    max_tokens = 100
)]
struct Read<'a> {
    #[node(history)]
    history: &'a [Message],
    question: &'a str,
    #[node(tools)]
    tools: Toolset,
}

/// How many pages were read, and how often the tool ran.
#[derive(Default)]
struct Book {
    read: Mutex<usize>,
}

/// The next page, of about so many bytes.
fn tools(book: &Arc<Book>, bytes: usize) -> Toolset {
    let book = Arc::clone(book);
    let schema = json!({"type": "object", "properties": {}});
    Toolset::new().json_function(
        "next_page",
        "Reads the next page of the book.",
        schema,
        move |_: Value| {
            let mut read = book.read.lock().unwrap();
            *read += 1;
            let number = *read;
            let text = format!("On page {number}, a lamp costs {} cents. ", 100 + number);
            let filler = "The rope is ten metres long. ".repeat(bytes / 29);
            let end = match number < TURNS {
                true => "Call next_page for the next page.",
                false => "This was the last page.",
            };
            async move { Ok::<_, BoxError>(format!("{text}{filler}{end}")) }
        },
    )
}

fn history() -> Vec<Message> {
    vec![
        Message::user(format!("Good morning. {OF_USER}")),
        Message::assistant("Good morning! I shall keep that in mind."),
        Message::user(PINNED).pinned(),
        Message::assistant("Thank you."),
    ]
}

/// The requests of the agent itself that the server answered, or refused as too long.
fn own(wire: &Wire) -> Vec<Exchange> {
    let all = wire.exchanges().into_iter();
    let is_own = |one: &Exchange| one.question.get("tools").is_some();
    all.filter(is_own).collect()
}

/// Bytes of each page, and the run's name.
async fn agent(name: &str, bytes: usize, url: &str) {
    let wire = Wire::to(url).await;
    let model = OpenAi::builder()
        .base_url(wire.base_url())
        .api_key(key())
        .model("Qwen2.5-Coder-0.5B-Instruct")
        .build()
        .unwrap();
    let run = Run::new(model).with_limits(Limits::new().requests(1_000));
    let book = Arc::new(Book::default());
    let mut history = history();
    let mut calls = 0;
    let mut steps: Vec<CompactionStep> = Vec::new();
    let mut question = "Read the whole book.";
    while *book.read.lock().unwrap() < TURNS && calls < MOST_CALLS {
        calls += 1;
        let tools = tools(&book, bytes);
        let node = Read {
            history: &history,
            question,
            tools,
        };
        match run.call(&node).report().await {
            Ok(report) => {
                steps.extend(report.compacted.iter().map(|one| one.step));
                history = report.history().unwrap();
            }
            Err(error) => {
                assert_ne!(error.category(), Category::ContextLengthError, "{error}");
                println!("{name}: {error}");
            }
        }
        question = "Go on: call next_page.";
    }
    let read = *book.read.lock().unwrap();
    let own = own(&wire);
    let ledger = run.ledger().snapshot();
    let attempts = ledger.calls.iter().flat_map(|call| &call.attempts);
    let called: usize = attempts
        .map(|attempt| {
            let tools = attempt.tools.iter();
            tools.filter(|tool| tool.outcome == "ok").count()
        })
        .sum();
    let refused = own.iter().filter(|one| one.status == 400).count();
    let summaries = steps
        .iter()
        .filter(|step| **step == CompactionStep::Summary);
    let of_summaries = ledger.calls.iter().filter(|call| call.node == "Summarise");
    println!(
        "{name}: {read} pages in {} requests and {calls} calls; {} summaries of {} that were asked for, {} times results were left out; \
         {refused} refused as too long",
        own.len(),
        summaries.clone().count(),
        of_summaries.count(),
        steps.len() - summaries.count(),
    );
    assert!(read >= TURNS, "{name}: {read} pages");
    assert_eq!(called, read, "{name}: each call ran its tool once");
    assert!(!steps.is_empty());
    for one in own {
        let sent = one.question["messages"].to_string();
        for kept in [IN_SYSTEM, OF_USER, PINNED] {
            assert!(sent.contains(kept), "{name}: {kept} is lost");
        }
    }
}

#[tokio::test]
#[ignore = "needs scripts/real-components --instruct-all with LLMNODE_CONTEXT=2048, and ten minutes"]
async fn two_agents_of_sixty_turns_end_within_a_small_window() {
    let Ok(url) = std::env::var("LLMNODE_QWEN_URL") else {
        return;
    };
    // The results of one are long enough to be left out, and those of the other have to be summed up.
    let long = agent("long pages", 1_100, &url);
    let short = agent("short pages", 250, &url);
    tokio::join!(long, short);
}
