//! Agents against llama.cpp: tool calls as its grammar allows them, side by side, streamed and not.
//!
//! The weights are random, so most calls mean nothing. What is checked: each run ends as designed, the ledger has the
//! server's figures, and tools really run. `LLMNODE_AGENTS=50` sets the number of runs; the default is 5.

use llmnode::prelude::*;
use llmnode::{
    Anthropic, AttemptRecord, Category, ChatModel, Event, Group, OpenAi, ResponseFormat,
};
use serde_json::json;

use crate::support::{key, tools_url};

struct World {
    shelf: Vec<String>,
}

/// Finds books on the shelf.
#[tool]
async fn search(
    /// How many at most.
    limit: u8,
    world: &World,
) -> Vec<String> {
    world.shelf.iter().take(limit.into()).cloned().collect()
}

/// Adds two numbers.
#[tool]
fn add(a: i16, b: i16) -> Result<i16, String> {
    a.checked_add(b)
        .ok_or_else(|| "the sum is too large".to_owned())
}

#[llm_output]
#[derive(Clone, Copy)]
enum Day {
    Monday,
    Friday,
}

/// Says whether the library is open.
#[tool]
fn is_open(day: Day) -> bool {
    matches!(day, Day::Monday)
}

/// Switches the light.
#[tool(alone)]
async fn light(on: bool) {
    tokio::task::yield_now().await;
    let _ = on;
}

/// Repeats a mark.
#[tool]
fn repeat(times: u8, day: Option<Day>) -> String {
    let mark = if day.is_some() { "*" } else { "-" };
    mark.repeat(times.into())
}

#[llm_output]
struct Rating {
    stars: u8,
}

#[validate]
impl Rating {
    fn at_most_200(&self) -> Result<(), Invalid> {
        if self.stars <= 200 {
            Ok(())
        } else {
            Err(Invalid::at("stars", "is more than 200"))
        }
    }
}

/// Rates.
#[llm_node(
    system = "Be brief.",
    prompt = "{question}",
    output = Rating,
    state = World,
    tools = [Search, Add, IsOpen, Light, Repeat],
    turns = 4,
    retries = 3,
    max_tokens = 300,
    transport_retries = 4
)]
struct Rate {
    question: String,
}

const TOOLS: [&str; 5] = ["search", "add", "is_open", "light", "repeat"];

#[tokio::test]
#[ignore = "needs scripts/real-components"]
async fn tools_run_and_answers_are_validated() {
    let model = OpenAi::builder()
        .base_url(tools_url())
        .api_key(key())
        .model("tiny-random")
        .build()
        .unwrap();
    // The server answers 500 to a call that it cannot read, and says nothing of tokens; the model is told.
    let silent = [Category::Network, Category::ServerError];
    // Each call that it cannot read takes a turn, so that fewer tools run than its model begins to call.
    rate(model, runs(5), 1.2, (5, 0), &silent).await;
}

/// Rates by itself.
#[llm_node(prompt = "{question}", output = Rating, retries = 3, max_tokens = 300, transport_retries = 4)]
struct RateAlone {
    question: String,
}

/// The same server speaks Anthropic's Messages, where it hardly enforces anything: most answers are cut before they call, so
/// that only the accounts are checked of them.
#[tokio::test]
#[ignore = "needs scripts/real-components"]
async fn tools_run_by_messages_too() {
    let builder = Anthropic::builder()
        .base_url(tools_url())
        .api_key(key())
        .model("tiny-random");
    let silent = [Category::Network, Category::ServerError];
    rate(
        builder.clone().build().unwrap(),
        runs(12),
        15.0,
        (0, 0),
        &silent,
    )
    .await;
    // Another handle, which has not learned yet that nothing is enforced.
    let run = Run::new(builder.build().unwrap());
    let mut good = 0;
    for seed in 0..runs(24) {
        let node = RateAlone {
            question: format!("How good is book {seed}?"),
        };
        let call = run
            .call(&node)
            .response_format(ResponseFormat::Tool)
            .temperature(1.0);
        match call
            .extra("seed", seed)
            .extra("logit_bias", json!([["{", 15.0]]))
            .await
        {
            Ok(rating) => {
                good += 1;
                assert!(rating.stars <= 200);
            }
            Err(error) => assert!(
                error.category().group() == Group::Answer
                    || matches!(
                        error.category(),
                        Category::TruncatedOutput | Category::ServerError
                    ),
                "{error}"
            ),
        }
    }
    println!("{good} answers accepted by a tool that had to be called");
    let total = run.ledger().total();
    assert!(
        total.requests >= 24 && total.total.unreported_calls < total.requests,
        "{total:?}"
    );
}

fn runs(default: u64) -> u64 {
    std::env::var("LLMNODE_AGENTS").map_or(default, |runs| runs.parse().unwrap())
}

/// `least`: tools executed and answers accepted, in five runs. `silent_failures` report no usage, or a part of it.
async fn rate(
    model: impl ChatModel + 'static,
    runs: u64,
    bias: f64,
    least: (u64, u64),
    silent_failures: &[Category],
) {
    let shelf = ["Rust in Action", "Deep C"].map(str::to_owned).into();
    let run = Run::new(model).with_state(World { shelf });
    // The server closes a connection now and then as a request goes out on it: nothing reports that request's usage.
    let (mut good, mut events, mut lost) = (0, 0, 0);
    for seed in 0..runs {
        let node = Rate {
            question: format!("How good is book {seed}?"),
        };
        // Without a bias, random weights hardly ever begin a call.
        let call = run
            .call(&node)
            .temperature(1.0)
            .extra("seed", seed)
            .extra("logit_bias", json!([["{", bias]]));
        let outcome = if seed % 2 == 0 {
            call.report().await
        } else {
            let mut answer = call.stream();
            while let Some(event) = answer.next().await {
                events += u32::from(matches!(
                    event,
                    Event::ToolCalls(_) | Event::ToolResult { .. }
                ));
            }
            answer.report().await
        };
        let record = outcome
            .as_ref()
            .map_or_else(|error| error.record().unwrap(), |report| &report.record);
        // Of a message that breaks off, the output is unknown.
        let is_silent =
            |attempt: &&AttemptRecord| attempt.usage.is_none_or(|usage| usage.output.is_none());
        for silent in record.attempts.iter().filter(is_silent) {
            assert!(
                silent
                    .category
                    .is_some_and(|one| silent_failures.contains(&one)),
                "{silent:?}"
            );
            lost += 1;
        }
        match outcome {
            Ok(report) => {
                good += 1;
                assert!(report.value.stars <= 200);
                assert_eq!(
                    report.record.attempts[0].response_format,
                    Some(ResponseFormat::Tool)
                );
            }
            // As random weights must: bad answers, and such as are cut.
            Err(error) => assert!(
                error.category().group() == Group::Answer
                    || matches!(
                        error.category(),
                        Category::TruncatedOutput | Category::ServerError
                    ),
                "{error}"
            ),
        }
    }
    let nodes = run.ledger().snapshot().nodes;
    let calls: u64 = TOOLS
        .iter()
        .filter_map(|tool| nodes.get(*tool))
        .map(|stats| stats.visits)
        .sum();
    println!(
        "{runs} runs: {calls} tools executed, {good} answers accepted, {events} events of tools in streams"
    );
    assert!(
        calls >= least.0 * runs / 5,
        "{calls} tools were executed in {runs} runs"
    );
    assert!(good >= least.1, "{good} answers of {runs} were accepted");
    assert_eq!(run.ledger().total().total.unreported_calls, lost);
}
