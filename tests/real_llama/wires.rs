//! The same node, the same tools and the same flow over each wire, on a model that speaks (W13). `scripts/litellm` serves it.
//!
//! What was executed is taken from the tools' own log. Each wire's correspondence is recorded, and played back without a server.
//! `LLMNODE_FLOWS=3` sets how many of the letters are read.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use llmnode::prelude::*;
use llmnode::{Anthropic, Cassette, CassetteMode, ChatModel, Gemini, OpenAi};

use crate::support::{key, variable};

#[derive(Default)]
struct Shop {
    letter: String,
    question: Option<Question>,
    figure: Option<Figure>,
    executed: Mutex<Vec<String>>,
}

impl Shop {
    fn note(&self, tool: &str, argument: &str) {
        self.executed
            .lock()
            .unwrap()
            .push(format!("{tool} {argument}"));
    }
}

/// Returns the price of an item in cents.
#[tool]
fn price(
    /// The item's name.
    item: String,
    shop: &Shop,
) -> Result<u32, String> {
    shop.note("price", &item);
    match item.as_str() {
        "lamp" => Ok(1250),
        "tent" => Ok(9900),
        "knife" => Ok(1575),
        other => Err(format!("there is no item {other:?}")),
    }
}

/// Returns how many pieces of an item are in stock.
#[tool]
fn stock(
    /// The item's name.
    item: String,
    shop: &Shop,
) -> Result<u32, String> {
    shop.note("stock", &item);
    match item.as_str() {
        "lamp" => Ok(17),
        "tent" => Ok(3),
        "knife" => Ok(42),
        other => Err(format!("there is no item {other:?}")),
    }
}

/// Returns how many days the delivery to a city takes.
#[tool]
fn delivery(
    /// The city's name.
    city: String,
    shop: &Shop,
) -> Result<u32, String> {
    shop.note("delivery", &city);
    match city.as_str() {
        "Rome" => Ok(4),
        "Oslo" => Ok(6),
        other => Err(format!("there is no delivery to {other:?}")),
    }
}

#[llm_output]
struct Question {
    /// What the customer wants to know, as one question.
    question: String,
}

#[llm_output]
struct Figure {
    /// The figure that was asked for.
    number: u32,
}

#[llm_node(
    prompt = "A customer writes:\n{state.letter}\nWhat does the customer want to know?",
    output = Question,
    state = Shop,
    store = question,
    retries = 2,
    temperature = 0.0,
    max_tokens = 60
)]
struct ReadLetter {}

#[llm_node(
    system = "You answer questions of customers of a shop. Use the tools.",
    prompt = "{question}",
    output = Figure,
    state = Shop,
    store = figure,
    tools = [Price, Stock, Delivery],
    turns = 4,
    retries = 2,
    temperature = 0.0,
    max_tokens = 60
)]
struct LookUp {
    #[prep(state.question.as_ref().map(|read| read.question.clone()))]
    question: String,
}

flow! { Correspondence(Shop): ReadLetter => LookUp, LookUp => end }

const LETTERS: [(&str, u32); 12] = [
    ("What does the lamp cost, in cents?", 1250),
    ("How many pieces of the item tent are in stock?", 3),
    ("How many days does a delivery to Rome take?", 4),
    ("What is the price of the item knife in cents?", 1575),
    ("How many pieces of the item lamp are in stock?", 17),
    ("How many days does a delivery to Oslo take?", 6),
    ("What is the price of the item tent in cents?", 9900),
    ("How many pieces of the item knife are in stock?", 42),
    ("I want to know the price of the item lamp in cents.", 1250),
    (
        "Please tell me how many pieces of the item tent you have in stock.",
        3,
    ),
    ("Do you deliver to Oslo, and how many days does it take?", 6),
    (
        "I would like a knife. What is its price in cents? The item is called knife.",
        1575,
    ),
];

const MODEL: &str = "Qwen2.5-Coder-0.5B-Instruct";

#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    /// Answers of the node without tools.
    read: usize,
    executed: usize,
    /// Answers of the agent.
    validated: usize,
    right: usize,
    requests: u64,
    /// Requests that nobody reported the tokens of.
    unknown: u64,
    tokens: (u64, u64),
}

/// Over the wire, and once more from what was recorded of it.
async fn correspond(wire: &str, model: impl ChatModel + 'static) -> Tally {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("wires-{}-{wire}.json", std::process::id()));
    let recorder = Cassette::open(&file)
        .mode(CassetteMode::Record)
        .around(move || Ok(model))
        .unwrap();
    let tally = letters(wire, recorder).await;
    let nowhere = || -> Result<OpenAi, _> { panic!("no server is needed") };
    let player = Cassette::open(&file).around(nowhere).unwrap();
    assert_eq!(
        letters(&format!("{wire}, played back"), player).await,
        tally
    );
    std::fs::remove_file(&file).unwrap();
    tally
}

/// Each letter plain and streamed.
async fn letters(wire: &str, model: Arc<dyn ChatModel>) -> Tally {
    let (mut tally, began) = (Tally::default(), Instant::now());
    let letters =
        std::env::var("LLMNODE_FLOWS").map_or(LETTERS.len(), |flows| flows.parse().unwrap());
    for (letter, number) in LETTERS.into_iter().take(letters) {
        for streamed in [false, true] {
            let shop = Shop {
                letter: letter.to_owned(),
                ..Shop::default()
            };
            let mut run = Run::new(Arc::clone(&model)).with_state(shop);
            let outcome = match streamed {
                true => run.flow(Correspondence).on_event(|_, _| {}).await,
                false => run.flow(Correspondence).await,
            };
            let (shop, total) = (run.state(), run.ledger().total());
            let executed = shop.executed.lock().unwrap();
            tally.read += usize::from(shop.question.is_some());
            tally.executed += executed.len();
            tally.validated += usize::from(shop.figure.is_some());
            tally.right += usize::from(
                shop.figure
                    .as_ref()
                    .is_some_and(|figure| figure.number == number),
            );
            tally.requests += total.requests;
            tally.unknown += total.total.unreported_calls;
            tally.tokens.0 += total.input.known;
            tally.tokens.1 += total.output.known;
            if std::env::var_os("SHOW").is_some() {
                let question = shop.question.as_ref().map(|read| &read.question);
                let figure = shop.figure.as_ref().map(|figure| figure.number);
                let error = outcome
                    .err()
                    .map(|error| error.to_string())
                    .unwrap_or_default();
                println!(
                    "  {wire} streamed={streamed} {letter} | {question:?} {executed:?} {figure:?} {error}"
                );
            }
        }
    }
    let Tally {
        read,
        executed,
        validated,
        right,
        requests,
        unknown,
        tokens: (input, output),
    } = &tally;
    println!(
        "{wire}: {} flows, {read} letters read, {executed} tools executed, {validated} answers validated, {right} right, {requests} requests, \
         {input} + {output} tokens, {unknown} of unknown usage, {} s",
        2 * letters,
        began.elapsed().as_secs()
    );
    tally
}

fn assert_works(wire: &str, tally: &Tally) {
    assert!(tally.executed >= 20, "{wire}: {tally:?}");
    assert!(tally.validated >= 1, "{wire}: {tally:?}");
    assert_eq!(tally.unknown, 0, "{wire}: {tally:?}");
}

/// Where nothing is enforced, this model's agents often end in prose: what they call and read counts.
fn assert_speaks(wire: &str, tally: &Tally) {
    assert!(
        tally.executed >= 20 && tally.read >= 20,
        "{wire}: {tally:?}"
    );
    assert_eq!(tally.unknown, 0, "{wire}: {tally:?}");
}

/// `None`: the script was not started.
fn gateway() -> Option<String> {
    let url = std::env::var("LLMNODE_LITELLM_URL").ok();
    if url.is_none() {
        println!("skipped: scripts/litellm serves the gateway");
    }
    url
}

#[tokio::test]
#[ignore = "needs scripts/litellm"]
async fn chat_behind_litellm() {
    let Some(url) = gateway() else { return };
    let model = OpenAi::builder()
        .base_url(url + "/v1")
        .api_key(key())
        .model("qwen")
        .build()
        .unwrap();
    assert_works("chat", &correspond("chat, LiteLLM", model).await);
}

#[tokio::test]
#[ignore = "needs scripts/litellm"]
async fn messages_behind_litellm() {
    let Some(url) = gateway() else { return };
    let model = Anthropic::builder()
        .base_url(url)
        .api_key(key())
        .model("qwen")
        .build()
        .unwrap();
    assert_works("Messages", &correspond("Messages, LiteLLM", model).await);
}

#[tokio::test]
#[ignore = "needs scripts/litellm"]
async fn responses_behind_litellm() {
    let Some(url) = gateway() else { return };
    let model = OpenAi::builder()
        .base_url(url + "/v1")
        .api_key(key())
        .model("qwen-responses")
        .responses();
    assert_works(
        "Responses",
        &correspond("Responses, LiteLLM", model.build().unwrap()).await,
    );
}

#[tokio::test]
#[ignore = "needs scripts/litellm"]
async fn gemini_behind_litellm() {
    let Some(url) = gateway() else { return };
    let model = Gemini::builder()
        .base_url(url + "/v1beta")
        .api_key(key())
        .model("qwen")
        .build()
        .unwrap();
    assert_works("Gemini", &correspond("Gemini, LiteLLM", model).await);
}

/// The same server's own wires.
fn server() -> Option<String> {
    gateway()?;
    Some(variable("LLMNODE_QWEN_URL"))
}

#[tokio::test]
#[ignore = "needs scripts/litellm"]
async fn chat_of_llama_cpp() {
    let Some(url) = server() else { return };
    let model = OpenAi::builder()
        .base_url(url)
        .api_key(key())
        .model(MODEL)
        .build()
        .unwrap();
    assert_works("chat", &correspond("chat, llama.cpp", model).await);
}

#[tokio::test]
#[ignore = "needs scripts/litellm"]
async fn messages_of_llama_cpp() {
    let Some(url) = server() else { return };
    let model = Anthropic::builder()
        .base_url(url)
        .api_key(key())
        .model(MODEL)
        .build()
        .unwrap();
    assert_speaks("Messages", &correspond("Messages, llama.cpp", model).await);
}

#[tokio::test]
#[ignore = "needs scripts/litellm"]
async fn responses_of_llama_cpp() {
    let Some(url) = server() else { return };
    let model = OpenAi::builder()
        .base_url(url)
        .api_key(key())
        .model(MODEL)
        .responses();
    assert_speaks(
        "Responses",
        &correspond("Responses, llama.cpp", model.build().unwrap()).await,
    );
}
