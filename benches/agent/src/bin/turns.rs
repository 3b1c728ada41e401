//! What a turn of an agent costs: rig beside llmnode, on the server of `agent serve` (`benches/src/bin/agent.rs`).
//!
//! Usage: `turns URL [ROUNDS]`. The agent has 20 turns, with two calls in each but the last. What is measured is the processor time of
//! the thread that asks; both libraries do all their work on it.

use std::convert::Infallible;
use std::time::Duration;

use llmnode::prelude::*;
use nix::sys::resource::{UsageWho, getrusage};
use rig::agent::AgentBuilder;
use rig::providers::openai::OpenAIConfig;
use rig::tool::PortableTool;
use serde::Deserialize;
use serde_json::{Value, json};

const TURNS: usize = 20;
const KEY: &str = "sk-benchmark";
const QUESTION: &str = "What is 1 + 2, and which books are on rust?";
const ANSWER: &str = "It is 3, and there are two books.";

fn books(word: &str) -> Vec<String> {
    vec![format!("{word} in Action"), format!("Programming {word}")]
}

mod by_llmnode {
    use super::{books, llm_node, tool};

    /// Adds two numbers.
    #[tool]
    fn add(
        /// The first number.
        a: i64,
        /// The second number.
        b: i64,
    ) -> i64 {
        a + b
    }

    /// Finds books by a word of their title.
    #[tool]
    fn search(
        /// A word of the title.
        word: String,
    ) -> Vec<String> {
        books(&word)
    }

    #[llm_node(prompt = "{question}", tools = [Add, Search], turns = 20)]
    pub struct Work {
        pub question: &'static str,
    }
}

struct Add;

#[derive(Deserialize)]
struct Sum {
    a: i64,
    b: i64,
}

/// What llmnode sends of a tool, so that the requests are the same.
fn parameters(what: &str, properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "description": what})
}

impl PortableTool for Add {
    const NAME: &'static str = "add";
    type Args = Sum;
    type Output = i64;
    type Error = Infallible;

    fn description(&self) -> String {
        "Adds two numbers.".to_owned()
    }

    fn parameters(&self) -> Value {
        let number = |what: &str| json!({"type": "integer", "description": what});
        let numbers = json!({"a": number("The first number."), "b": number("The second number.")});
        parameters("Adds two numbers.", numbers, &["a", "b"])
    }

    async fn call(&self, Sum { a, b }: Sum) -> Result<i64, Infallible> {
        Ok(a + b)
    }
}

struct Search;

#[derive(Deserialize)]
struct Word {
    word: String,
}

impl PortableTool for Search {
    const NAME: &'static str = "search";
    type Args = Word;
    type Output = Vec<String>;
    type Error = Infallible;

    fn description(&self) -> String {
        "Finds books by a word of their title.".to_owned()
    }

    fn parameters(&self) -> Value {
        let word = json!({"word": {"type": "string", "description": "A word of the title."}});
        parameters("Finds books by a word of their title.", word, &["word"])
    }

    async fn call(&self, Word { word }: Word) -> Result<Vec<String>, Infallible> {
        Ok(books(&word))
    }
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

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    rustls::crypto::ring::default_provider()
        .install_default()
        .unwrap();
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().expect("the URL that `agent serve` prints");
    let rounds = arguments
        .next()
        .map_or(200, |rounds| rounds.parse().unwrap());
    let run = Run::new(
        OpenAi::builder()
            .base_url(&url)
            .api_key(KEY)
            .model("m")
            .build()
            .unwrap(),
    );
    let model = OpenAIConfig::new(KEY)
        .with_base_url(&url)
        .client()
        .chat("m");
    let agent = AgentBuilder::new(model).tool(Add).tool(Search).build();

    let mut figures: [Vec<f64>; 2] = Default::default();
    // The first round warms the connections up.
    for round in 0..=rounds {
        for way in (0..2).map(|way| (way + round) % 2) {
            let begun = cpu();
            let answer = match way {
                0 => agent
                    .prompt(QUESTION)
                    .max_turns(TURNS)
                    .await
                    .unwrap()
                    .output(),
                _ => run
                    .call(&by_llmnode::Work { question: QUESTION })
                    .await
                    .unwrap(),
            };
            let time = (cpu() - begun).as_secs_f64() * 1e6 / TURNS as f64;
            assert_eq!(answer, ANSWER);
            if round > 0 {
                figures[way].push(time);
            }
        }
    }
    let [rig, ours] = figures;
    let ratio = median(
        ours.iter()
            .zip(&rig)
            .map(|(ours, rig)| ours / rig)
            .collect(),
    );
    println!("| an agent of {TURNS} turns | processor time a turn | ratio |\n|---|---|---|");
    println!("| rig | {:.1} µs | 1.00 |", median(rig));
    println!("| llmnode | {:.1} µs | {ratio:.2} |", median(ours));
}
