//! names: llm_output, llm_node, prompt, fence, output, Dataset, open, evaluate, exact, repeats, Gate, new, check

use llmnode::evals::{Dataset, Gate, evaluate, exact};
use llmnode::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::model;

#[llm_output]
struct Label {
    team: Team,
}

#[llm_output]
#[serde(rename_all = "lowercase")]
enum Team {
    Billing,
    Repairs,
}

#[llm_node(prompt = "{state.ask}\n{letter:fence}", state = Asked, output = Label)]
#[derive(Deserialize)]
struct Sort {
    letter: String,
}

struct Asked {
    ask: String,
}

/// As a test: an error fails it. `LLMNODE_BLESS` writes the baseline.
async fn letters_are_sorted(url: &str, ask: &str) -> Result<String, Box<dyn std::error::Error>> {
    let run = Run::new(model(url)).with_state(Asked {
        ask: ask.to_owned(),
    });
    let data = Dataset::<Sort, Label>::open("letters.jsonl")?;
    let report = evaluate(&run, &data, exact()).repeats(3).await?;
    let verdict = Gate::new("letters.baseline.json").check(&report)?;
    Ok(verdict.to_string())
}

pub async fn run(url: &str, ask: &str) -> Value {
    match letters_are_sorted(url, ask).await {
        Ok(verdict) => json!({"passes": verdict}),
        Err(error) => json!({"fails": error.to_string()}),
    }
}
