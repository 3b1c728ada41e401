//! Prompts of one task, evaluated on Qwen2.5-Coder-0.5B-Instruct and held against a baseline, as a user's test does it.
//! `scripts/evaluation` serves the model, writes the baseline and runs these tests one by one.
//!
//! Three nodes of the same name sort the same 60 letters: the first prompt, of which the baseline is, with two examples for each team; a
//! short one without examples, which costs less; and one that was broken, whose examples have each other's teams.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

use std::path::PathBuf;

use llmnode::evals::{Dataset, Evaluation, Gate, GateError, evaluate, exact};
use llmnode::prelude::*;
use llmnode::{Exec, OpenAi, Prices};
use serde::Deserialize;
use serde::de::DeserializeOwned;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/letters/letters.jsonl");
const MODEL: &str = "Qwen2.5-Coder-0.5B-Instruct";

#[llm_output]
#[derive(Clone)]
struct Label {
    team: Team,
}

#[llm_output]
#[derive(Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Team {
    Billing,
    Repairs,
    Delivery,
    Sales,
}

/// Two letters for each team, as a prompt shows them. None of them is among the cases.
const SHOWN: [(&str, Team); 8] = [
    ("The total on my invoice is wrong.", Team::Billing),
    ("The heater makes no heat.", Team::Repairs),
    ("My parcel is late.", Team::Delivery),
    ("What does this bicycle cost?", Team::Sales),
    ("Please return my payment.", Team::Billing),
    ("The door handle fell off.", Team::Repairs),
    ("The courier never came.", Team::Delivery),
    ("I would like to order ten lamps.", Team::Sales),
];

mod first {
    use super::{Deserialize, Label, SHOWN, llm_node};

    /// Sends a letter to a team.
    #[llm_node(
        system = "Which team reads the letter?",
        prompt = "{letter}",
        examples = shown,
        output = Label,
        temperature = 0.5,
        max_tokens = 40
    )]
    #[derive(Clone, Deserialize)]
    pub(super) struct Sort {
        letter: String,
    }

    fn shown() -> Vec<(Sort, Label)> {
        let shown = SHOWN.iter().map(|(letter, team)| {
            let letter = (*letter).to_owned();
            (Sort { letter }, Label { team: *team })
        });
        shown.collect()
    }
}

mod short {
    use super::{Deserialize, Label, llm_node};

    /// Sends a letter to a team.
    #[llm_node(
        system = "Which team reads the letter?",
        prompt = "{letter}",
        output = Label,
        temperature = 0.5,
        max_tokens = 40
    )]
    #[derive(Clone, Deserialize)]
    pub(super) struct Sort {
        letter: String,
    }
}

mod broken {
    use super::{Deserialize, Label, SHOWN, llm_node};

    /// Sends a letter to a team.
    #[llm_node(
        system = "Which team reads the letter?",
        prompt = "{letter}",
        examples = shown,
        output = Label,
        temperature = 0.5,
        max_tokens = 40
    )]
    #[derive(Clone, Deserialize)]
    pub(super) struct Sort {
        letter: String,
    }

    /// The letters have slipped by one line.
    fn shown() -> Vec<(Sort, Label)> {
        let teams = SHOWN.iter().cycle().skip(1).map(|(_, team)| team);
        let shown = SHOWN.iter().zip(teams).map(|((letter, _), team)| {
            let letter = (*letter).to_owned();
            (Sort { letter }, Label { team: *team })
        });
        shown.collect()
    }
}

/// Where `scripts/evaluation` keeps baseline and reports.
fn folder() -> PathBuf {
    PathBuf::from(std::env::var("LLMNODE_EVALUATION").unwrap_or_else(|_| "target".to_owned()))
}

fn model(url: &str) -> Run {
    let model = OpenAi::builder()
        .base_url(url)
        .api_key(std::env::var("LLMNODE_LLAMA_KEY").unwrap())
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

/// Each letter three times, nine times for the baseline, for a cent at most. The report is kept.
async fn measured<N>(run: &Run, name: &str) -> Evaluation
where
    N: Exec<(), Output = Label> + DeserializeOwned + Send + Sync,
{
    let data = Dataset::<N, Label>::open(DATA).unwrap();
    let limits = Limits::new().requests(700).money(0.01);
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

/// Asks one after the other, each once, without chance, and keeps the messages: `letters.py` sends the same to the same server, and
/// pydantic-evals scores the answers.
#[tokio::test]
#[ignore = "needs scripts/evaluation"]
async fn the_same_requests_for_pydantic_evals() {
    let Some(run) = run() else { return };
    let data = Dataset::<first::Sort, Label>::open(DATA).unwrap();
    let once = Settings::new().temperature(0.0);
    let report = evaluate(&run, &data, exact())
        .concurrency(1)
        .settings(once)
        .await
        .unwrap();
    println!("{report}");
    assert_eq!(report.usage().requests, 60, "no correction was needed");
    std::fs::write(folder().join("once.json"), report.to_json()).unwrap();

    let recorded = ScriptedModel::new().otherwise(|_| Reply::text(r#"{"team": "sales"}"#));
    let dry = Run::new(recorded.clone());
    evaluate(&dry, &data, exact()).concurrency(1).await.unwrap();
    let messages: Vec<Vec<Message>> = recorded
        .requests()
        .into_iter()
        .map(|request| request.messages)
        .collect();
    let messages = serde_json::to_string(&messages).unwrap();
    std::fs::write(folder().join("messages.json"), messages).unwrap();
}
