//! What llama.cpp's server reads from its cache: the turns of an agent begin as the turn before them did.
//!
//! The weights are random, so a bias leads the model to its one tool. What is checked is what the server counts and what the record
//! says of it, not what the model says.

use llmnode::prelude::*;
use llmnode::{AttemptRecord, CacheLost, OpenAi};

use crate::support::{key, only, tools_url};

const TURNS: usize = 10;

/// Of what the turn before has sent, so much is read from the cache.
const LEAST_SHARE: f64 = 0.9;

/// Measures a depth.
#[tool]
fn zoom(depth: u8) -> String {
    format!("At {depth} the water is clear.")
}

#[llm_output]
struct Clarity {
    clear: bool,
}

/// The eleventh turn is told to answer by name, which this server ignores: with the bias it ends in an error, and is not counted.
#[llm_node(
    system = "Measure the lake at each depth before you answer.",
    prompt = "{notes}\nIs the lake clear?",
    output = Clarity,
    tools = [Zoom],
    turns = 11,
    retries = 0,
    transport_retries = 0,
    temperature = 0.0,
    max_tokens = 200
)]
struct Measure {
    notes: String,
}

#[tokio::test]
#[ignore = "needs scripts/real-components"]
async fn turns_of_an_agent_read_their_beginning_from_the_cache() {
    let model = OpenAi::builder()
        .base_url(tools_url())
        .api_key(key())
        .model("tiny-random")
        .build()
        .unwrap();
    // Of a shorter prompt, no record says what became of it.
    let notes = (0..180).map(|day| format!("Day {day}: wind and some rain.\n"));
    let node = Measure {
        notes: notes.collect(),
    };
    // A call begins with a brace and names the tool; without the bias, random weights hardly ever begin one.
    let outcome = Run::new(model)
        .call(&node)
        .extra("logit_bias", only("z{"))
        .extra("parallel_tool_calls", false)
        .report()
        .await;
    let record = outcome
        .as_ref()
        .map_or_else(|error| error.record().unwrap(), |report| &report.record);

    let turns = record.attempts.get(..TURNS).expect("ten turns");
    assert!(turns.iter().all(|turn| turn.tools.len() == 1), "{turns:?}");
    let mut least = f64::INFINITY;
    for pair in turns.windows(2) {
        let share = share_read(&pair[0], &pair[1]);
        assert!(share >= LEAST_SHARE, "{share}: {pair:?}");
        assert_eq!(*pair[1].cache_lost(), CacheLost::Kept, "{pair:?}");
        least = least.min(share);
    }
    println!("{TURNS} turns: each read at least {least:.3} of the prompt before it from the cache");
}

/// The cached tokens of a turn, by all tokens of the prompt of the turn before it.
fn share_read(before: &AttemptRecord, turn: &AttemptRecord) -> f64 {
    let before = before.usage.and_then(|usage| usage.input).unwrap();
    let cached = turn.usage.and_then(|usage| usage.cached).unwrap();
    cached as f64 / before as f64
}
