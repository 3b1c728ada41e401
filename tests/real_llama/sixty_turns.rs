//! Two agents of sixty turns on a server whose window is far too small for them, with a model of 0.5B that sums up by itself.
//!
//! They need Qwen2.5-Coder-0.5B-Instruct and some ten minutes:
//! `LLMNODE_CONTEXT=2560 scripts/real-components --instruct-all cargo test --workspace --test real_llama sixty_turns -- --ignored`.
//! What such a model writes is reported; what the library promises whatever it writes is checked. The results are in
//! docs/verification.md.

use std::sync::{Arc, Mutex};

use llmnode::prelude::*;
use llmnode::{CompactionStep, Limits, Message, OpenAi, ToolCall, Toolset, Transcript};
use serde_json::{Value, json};

use crate::support::key;
use crate::wire::{Exchange, Wire};

const TURNS: usize = 60;

/// What the program says in its system text, in a message and in a pin.
const IN_SYSTEM: &str = "Prices are in euros, without taxes.";
const OF_USER: &str = "Never ship before Friday.";
const PINNED: &str = "The customer's number is 4711-b.";

/// What the shop has. Each is asked for twice: its price, and how many there are.
const ITEMS: [&str; 30] = [
    "lamp", "rope", "tent", "knife", "kettle", "stove", "map", "compass", "boots", "gloves", "hat",
    "coat", "torch", "bottle", "cup", "plate", "spoon", "fork", "blanket", "pillow", "bag", "belt",
    "whistle", "mirror", "soap", "towel", "radio", "clock", "pen", "chair",
];

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

#[llm_output]
struct Figure {
    /// The figure that was asked for.
    number: u32,
}

/// Answers questions. Nobody says how large the window is: the server does when it refuses.
#[llm_node(
    system = "You answer questions of customers of a shop. Call a tool for each question. Prices are in euros, without taxes.",
    prompt = "{question}",
    output = Figure,
    turns = 6,
    compact(keep = 3, with = Summarise),
    retries = 2,
    temperature = 0.0,
    max_tokens = 100
)]
struct Ask<'a> {
    #[node(history)]
    history: &'a [Message],
    question: &'a str,
    #[node(tools)]
    tools: Toolset,
}

/// What tools did, in order.
type Log = Arc<Mutex<Vec<String>>>;

/// Prices and stocks, each with a text of about so many bytes.
fn tools(log: &Log, bytes: usize) -> Toolset {
    let mut tools = Toolset::new();
    for (name, description) in [
        ("price", "Returns the price of an item in cents."),
        ("stock", "Returns how many pieces of an item are in stock."),
    ] {
        let log = Arc::clone(log);
        let properties = json!({"item": {"type": "string", "description": "The item's name."}});
        let schema = json!({"type": "object", "properties": properties, "required": ["item"]});
        tools = tools.json_function(name, description, schema, move |arguments: Value| {
            let item = arguments["item"].as_str().unwrap_or_default().to_owned();
            log.lock().unwrap().push(format!("{name} {item}"));
            let place = ITEMS.iter().position(|one| *one == item).unwrap_or(99);
            let filler = "It comes in a box of wood. ".repeat(bytes / 27);
            let said = format!("The {name} of {item} is {}. {filler}", 100 + place);
            async move { Ok::<_, BoxError>(said) }
        });
    }
    tools
}

fn question(number: usize) -> String {
    let item = ITEMS[number % ITEMS.len()];
    match number % 2 == number / ITEMS.len() % 2 {
        true => format!("What is the price of the item {item} in cents?"),
        false => format!("How many pieces of the item {item} are in stock?"),
    }
}

/// Two questions that were answered as they should be: without them, this model writes prose.
fn history() -> Vec<Message> {
    let price = ToolCall::new("call_1", "price", r#"{"item": "candle"}"#);
    let stock = ToolCall::new("call_2", "stock", r#"{"item": "candle"}"#);
    let price_of = "What is the price of the item candle in cents?";
    let stock_of = "How many pieces of the item candle are in stock?";
    vec![
        Message::user(format!("{OF_USER} {price_of}")),
        Message::assistant("").calling([price]),
        Message::tool("call_1", "The price of candle is 98."),
        Message::assistant(r#"{"number": 98}"#),
        Message::user(format!("{PINNED} {stock_of}")).pinned(),
        Message::assistant("").calling([stock]),
        Message::tool("call_2", "The stock of candle is 7."),
        Message::assistant(r#"{"number": 7}"#),
    ]
}

/// The requests of the agent itself.
fn own(wire: &Wire) -> Vec<Exchange> {
    let all = wire.exchanges().into_iter();
    let is_own = |one: &Exchange| !one.messages()[0].to_string().contains("Sum up this part");
    all.filter(is_own).collect()
}

/// A conversation until its agent has made sixty requests. `bytes`: of a result.
async fn agent(name: &str, bytes: usize, url: &str) {
    let wire = Wire::to(url).await;
    let model = OpenAi::builder()
        .base_url(wire.base_url())
        .api_key(key())
        .model("Qwen2.5-Coder-0.5B-Instruct")
        .build()
        .unwrap();
    let run = Run::new(model).with_limits(Limits::new().requests(1_000));
    let log = Log::default();
    let mut history = history();
    let mut steps: Vec<CompactionStep> = Vec::new();
    let mut asked = 0;
    let mut right = 0;
    while own(&wire).len() < TURNS && asked < TURNS {
        let question = question(asked);
        let number = 100 + asked as u32 % ITEMS.len() as u32;
        asked += 1;
        let tools = tools(&log, bytes);
        let node = Ask {
            history: &history,
            question: &question,
            tools,
        };
        match run.call(&node).report().await {
            Ok(report) => {
                right += usize::from(report.value.number == number);
                steps.extend(report.compacted.iter().map(|one| one.step));
                history = report.history().unwrap();
            }
            Err(error) => {
                assert_ne!(error.category(), Category::ContextLengthError, "{error}");
                println!("{name}: {question} {error}");
            }
        }
    }
    let own = own(&wire);
    let ledger = run.ledger().snapshot();
    let attempts = ledger.calls.iter().flat_map(|call| &call.attempts);
    let called = attempts.flat_map(|attempt| &attempt.tools);
    let called = called.filter(|tool| tool.outcome == "ok").count();
    let refused = own.iter().filter(|one| one.status == 400).count();
    let is_summary = |step: &&CompactionStep| **step == CompactionStep::Summary;
    let summaries = steps.iter().filter(is_summary).count();
    let tried = ledger.calls.iter().filter(|call| call.node == "summarise");
    let log = log.lock().unwrap();
    let mut distinct = log.clone();
    distinct.sort_unstable();
    distinct.dedup();
    println!(
        "{name}: {asked} questions, {right} right, {} requests, {} calls of tools, {} of them distinct; {summaries} summaries in {} calls, \
         {} times results were left out; {refused} refused as too long",
        own.len(),
        log.len(),
        distinct.len(),
        tried.count(),
        steps.len() - summaries,
    );
    assert!(own.len() >= TURNS, "{name}: {} requests", own.len());
    assert_eq!(called, log.len(), "{name}: each call ran its tool once");
    assert!(!steps.is_empty(), "{name}: nothing was compacted");
    for one in own {
        let sent = one.question["messages"].to_string();
        for kept in [IN_SYSTEM, OF_USER, PINNED] {
            assert!(sent.contains(kept), "{name}: {kept} is lost");
        }
    }
}

#[tokio::test]
#[ignore = "needs scripts/real-components --instruct-all with LLMNODE_CONTEXT=2560, and ten minutes"]
async fn two_agents_of_sixty_turns_end_within_a_small_window() {
    let Ok(url) = std::env::var("LLMNODE_QWEN_URL") else {
        return;
    };
    // The results of one are long enough to be left out, and those of the other have to be summed up.
    let long = agent("long results", 1_080, &url);
    let short = agent("short results", 250, &url);
    tokio::join!(long, short);
}
