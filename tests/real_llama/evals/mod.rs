//! Prompts of one task, evaluated on Qwen2.5-Coder-0.5B-Instruct and held against a baseline, as a user's test does it.
//! `scripts/evaluation` serves the model, writes the baseline and runs these tests one by one.
//!
//! Four nodes of the same name sort the same 60 letters: the first prompt, of which the baseline is; a shorter one; one that a reviewer
//! would call a clean-up; and one that was broken, in which the teams have each other's letters.

use std::path::PathBuf;

use llmnode::evals::{Dataset, Evaluation, Gate, GateError, evaluate, exact};
use llmnode::prelude::*;
use llmnode::{Exec, OpenAi, Prices};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::support::key;
use crate::wire::Wire;

const DATA: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/real_llama/evals/letters.jsonl"
);
const MODEL: &str = "Qwen2.5-Coder-0.5B-Instruct";

#[llm_output]
#[derive(Clone)]
struct Label {
    team: Team,
}

#[llm_output]
#[derive(Clone)]
#[serde(rename_all = "lowercase")]
enum Team {
    Billing,
    Repairs,
    Delivery,
    Sales,
}

mod first {
    use super::{Deserialize, Label, llm_node};

    /// Sends a letter to a team.
    #[llm_node(
        prompt = "Which team reads this letter?\n\
            billing: payments, invoices, refunds\n\
            repairs: something is broken\n\
            delivery: parcels and shipments\n\
            sales: wants to buy something\n\n\
            Letter: {letter}",
        output = Label,
        temperature = 0.5,
        max_tokens = 40
    )]
    #[derive(Deserialize)]
    pub(super) struct Sort {
        letter: String,
    }
}

mod short {
    use super::{Deserialize, Label, llm_node};

    /// Sends a letter to a team.
    #[llm_node(prompt = "Which team reads this letter?\n\n{letter}", output = Label, temperature = 0.5, max_tokens = 40)]
    #[derive(Deserialize)]
    pub(super) struct Sort {
        letter: String,
    }
}

mod broken {
    use super::{Deserialize, Label, llm_node};

    /// Sends a letter to a team.
    #[llm_node(
        prompt = "Which team reads this letter?\n\
            billing: something is broken\n\
            repairs: parcels and shipments\n\
            delivery: wants to buy something\n\
            sales: payments, invoices, refunds\n\n\
            Letter: {letter}",
        output = Label,
        temperature = 0.5,
        max_tokens = 40
    )]
    #[derive(Deserialize)]
    pub(super) struct Sort {
        letter: String,
    }
}

/// Where `scripts/evaluation` keeps baseline and reports.
fn folder() -> PathBuf {
    PathBuf::from(std::env::var("LLMNODE_EVALUATION").unwrap_or_else(|_| "target".to_owned()))
}

fn model(url: &str) -> Run {
    let model = OpenAi::builder()
        .base_url(url)
        .api_key(key())
        .model(MODEL)
        .build()
        .unwrap();
    // What a small hosted model costs, so that there is a bill.
    let prices = Prices::new().model(MODEL, Price::per_million(0.05, 0.20));
    Run::new(model).with_prices(prices)
}

/// `None`: the script was started without the model.
fn run() -> Option<Run> {
    let url = std::env::var("LLMNODE_QWEN_URL").ok()?;
    Some(model(&url))
}

/// Each letter three times, for a cent at most. The report is kept.
async fn measured<N>(run: &Run, name: &str) -> Evaluation
where
    N: Exec<(), Output = Label> + DeserializeOwned + Send + Sync,
{
    let data = Dataset::<N, Label>::open(DATA).unwrap();
    let limits = Limits::new().requests(1_200).money(0.01);
    let report = evaluate(run, &data, exact())
        .repeats(3)
        .limits(limits)
        .concurrency(2)
        .await
        .unwrap();
    std::fs::write(folder().join(format!("{name}.json")), report.to_json()).unwrap();
    println!("{name}: {report}");
    report
}

fn gate() -> Gate {
    Gate::new(folder().join("letters.baseline.json")).margin(0.1)
}

/// With `LLMNODE_BLESS=the_first_prompt` it writes the baseline.
#[tokio::test]
#[ignore = "needs scripts/evaluation"]
async fn the_first_prompt() {
    let Some(run) = run() else { return };
    let report = measured::<first::Sort>(&run, "first").await;
    println!("gate: {}", gate().check(&report).unwrap());
}

#[tokio::test]
#[ignore = "needs scripts/evaluation"]
async fn the_short_prompt() {
    let Some(run) = run() else { return };
    let report = measured::<short::Sort>(&run, "short").await;
    // Whether it is worse is what this run is to find out.
    match gate().check(&report) {
        Ok(verdict) => println!("gate: {verdict}"),
        Err(error) => println!("gate, the test would fail: {error}"),
    }
    compare_to_first(&report);
}

#[tokio::test]
#[ignore = "needs scripts/evaluation"]
async fn the_broken_prompt_is_found() {
    let Some(run) = run() else { return };
    let report = measured::<broken::Sort>(&run, "broken").await;
    let error = gate().check(&report).unwrap_err();
    println!("gate: {error}");
    assert!(
        matches!(error, GateError::Worse { .. } | GateError::Must { .. }),
        "{error}"
    );
    let compared = compare_to_first(&report);
    assert!(compared.is_more_than_noise() && compared.difference() < 0.0);
}

fn compare_to_first(report: &Evaluation) -> llmnode::evals::EvaluationDiff {
    let first = std::fs::read_to_string(folder().join("first.json")).unwrap();
    let first = Evaluation::from_json(&first).unwrap();
    let compared = report.compare(&first).unwrap();
    println!("{compared}");
    compared
}

/// A limit that is too low is no worse prompt.
#[tokio::test]
#[ignore = "needs scripts/evaluation"]
async fn a_limit_ends_it_as_unfinished() {
    let Some(run) = run() else { return };
    let data = Dataset::<first::Sort, Label>::open(DATA).unwrap();
    let limits = || Limits::new().requests(5);
    let ended = gate()
        .confirm(|| evaluate(&run, &data, exact()).limits(limits()))
        .await
        .unwrap_err();
    println!("gate: {ended}");
    let GateError::Evaluation(error) = ended else {
        panic!("{ended}")
    };
    assert_eq!(error.category(), Category::LimitExceeded);
    assert!(run.ledger().total().requests <= 5);
}

/// Asks one after the other, each once, without chance, and keeps the requests: `letters.py` sends the same to the same server, and
/// pydantic-evals scores the answers.
#[tokio::test]
#[ignore = "needs scripts/evaluation"]
async fn the_same_requests_for_pydantic_evals() {
    let Ok(url) = std::env::var("LLMNODE_QWEN_URL") else {
        return;
    };
    let wire = Wire::to(&url).await;
    let run = model(wire.base_url());
    let data = Dataset::<first::Sort, Label>::open(DATA).unwrap();
    let report = evaluate(&run, &data, exact())
        .concurrency(1)
        .settings(Settings::new().temperature(0.0))
        .await
        .unwrap();
    println!("{report}");
    assert_eq!(
        wire.exchanges().len(),
        data.len(),
        "no correction was needed"
    );
    let requests: Vec<_> = wire
        .exchanges()
        .into_iter()
        .map(|one| one.question)
        .collect();
    let requests = serde_json::to_string(&requests).unwrap();
    std::fs::write(folder().join("requests.json"), requests).unwrap();
    std::fs::write(folder().join("once.json"), report.to_json()).unwrap();
}
