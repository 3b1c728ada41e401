//! Ten questions for an agent with three tools. What was executed is taken from the tools' own log.

use std::sync::Mutex;
use std::time::Instant;

use llmnode::OpenAi;
use llmnode::prelude::*;
use serde_json::{Value, json};

struct Shop {
    log: Mutex<Vec<(&'static str, Value)>>,
}

impl Shop {
    fn note(&self, tool: &'static str, arguments: Value) {
        self.log
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .push((tool, arguments));
    }
}

/// Returns the price of an item in cents.
#[tool]
fn price(
    /// The item's name.
    item: String,
    shop: &Shop,
) -> Result<u32, String> {
    shop.note("price", json!({"item": item}));
    match item.as_str() {
        "lamp" => Ok(1250),
        "rope" => Ok(480),
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
    shop.note("stock", json!({"item": item}));
    match item.as_str() {
        "lamp" => Ok(17),
        "rope" => Ok(0),
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
    shop.note("delivery", json!({"city": city}));
    match city.as_str() {
        "Rome" => Ok(4),
        "Oslo" => Ok(6),
        "Bern" => Ok(2),
        other => Err(format!("there is no delivery to {other:?}")),
    }
}

#[llm_output]
struct Figure {
    /// The figure that was asked for.
    number: u32,
}

#[llm_node(
    system = "You answer questions of customers of a shop. Use the tools.",
    prompt = "{question}",
    output = Figure,
    state = Shop,
    tools = [Price, Stock, Delivery],
    turns = 4,
    retries = 2,
    temperature = 0.0,
    max_tokens = 200
)]
struct Answer {
    question: String,
}

const QUESTIONS: [(&str, &str, &str, u32); 10] = [
    ("What does the lamp cost, in cents?", "price", "lamp", 1250),
    (
        "How many tents are in stock? The item is called tent.",
        "stock",
        "tent",
        3,
    ),
    (
        "How many days does a delivery to Rome take?",
        "delivery",
        "Rome",
        4,
    ),
    (
        "What is the price of the item knife in cents?",
        "price",
        "knife",
        1575,
    ),
    (
        "How many pieces of the item lamp do you have?",
        "stock",
        "lamp",
        17,
    ),
    (
        "How long does it take to deliver to Oslo, in days?",
        "delivery",
        "Oslo",
        6,
    ),
    (
        "What is the price of the tent in cents?",
        "price",
        "tent",
        9900,
    ),
    (
        "How many pieces of the item knife are in stock?",
        "stock",
        "knife",
        42,
    ),
    (
        "In how many days is a parcel in Bern?",
        "delivery",
        "Bern",
        2,
    ),
    (
        "What is the price of a rope in cents? The item is called rope.",
        "price",
        "rope",
        480,
    ),
];

pub async fn run() -> Result<(), Box<dyn std::error::Error>> {
    for streamed in [false, true] {
        // The first question meets a model of which nothing is known.
        let model = OpenAi::from_env()?;
        let (mut executed, mut right, mut requests, began) = (0, 0, 0, Instant::now());
        for (question, tool, argument, number) in QUESTIONS {
            let run = Run::new(model.clone()).with_state(Shop {
                log: Mutex::default(),
            });
            let node = Answer {
                question: question.into(),
            };
            let call = run.call(&node);
            let answer = if streamed {
                call.stream().report().await.map(|report| report.value)
            } else {
                call.await
            };
            let log = run
                .state()
                .log
                .lock()
                .map(|log| log.clone())
                .unwrap_or_default();
            let calls = log.iter().any(|(name, arguments)| {
                *name == tool
                    && arguments
                        .as_object()
                        .is_some_and(|all| all.values().all(|one| one == argument))
            });
            let is_right = answer.as_ref().is_ok_and(|answer| answer.number == number);
            executed += u32::from(calls);
            right += u32::from(is_right);
            requests += run.ledger().total().requests;
            if std::env::var_os("SHOW").is_some() {
                let answer = answer
                    .map(|answer| answer.number)
                    .map_err(|error| error.to_string());
                eprintln!("{question} {is_right} {log:?} {answer:?}");
            }
        }
        let way = if streamed { "streamed" } else { "plain" };
        let seconds = began.elapsed().as_secs();
        println!(
            "| agents, {way} | 10 | executed {executed} | right {right} | requests {requests} | {seconds} s |"
        );
    }
    Ok(())
}
