//! names: AgentBuilder, preamble, prompt_typed, output

use std::error::Error;

use futures::StreamExt;
use futures::stream;
use rig::{Agent, AgentBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::model;

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Team {
    Billing,
    Repairs,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
struct Label {
    team: Team,
}

#[derive(Clone, Deserialize)]
struct Case {
    letter: String,
    expected: Label,
    #[serde(default)]
    must: bool,
}

/// By hand: all but the call.
async fn letters_are_sorted(url: &str, ask: &str, blesses: bool) -> Result<String, Box<dyn Error>> {
    let agent = AgentBuilder::new(model(url)).preamble(ask).build();
    let text = std::fs::read_to_string("letters.jsonl")?;
    let cases: Vec<Case> = text
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    let repeats = if blesses { 9 } else { 3 };
    let asked = (0..repeats).flat_map(|_| cases.clone());
    let scores: Vec<(Case, Result<bool, String>)> = stream::iter(asked)
        .map(|case| score(&agent, case))
        .buffer_unordered(8)
        .collect()
        .await;
    let asked = scores.len();
    let mut right = 0;
    for (case, score) in scores {
        let is_right = score?;
        if case.must && !is_right {
            return Err(format!("must be right: {}", case.letter).into());
        }
        right += usize::from(is_right);
    }
    let mean = right as f64 / asked as f64;
    if blesses {
        std::fs::write("letters.baseline.json", serde_json::to_string(&mean)?)?;
        return Ok("written".to_owned());
    }
    let then: f64 = serde_json::from_str(&std::fs::read_to_string("letters.baseline.json")?)?;
    if mean < then - 0.05 {
        return Err(format!("worse: {then:.3}, now {mean:.3}").into());
    }
    Ok(format!("{then:.3}, now {mean:.3}"))
}

async fn score(agent: &Agent, case: Case) -> (Case, Result<bool, String>) {
    let answer = agent.prompt_typed::<Label>(case.letter.as_str()).await;
    let score = match answer {
        Ok(answer) => Ok(answer.output == case.expected),
        Err(error) => Err(error.to_string()),
    };
    (case, score)
}

pub async fn run(url: &str, ask: &str, word: &str) -> Value {
    match letters_are_sorted(url, ask, word == "bless").await {
        Ok(verdict) => json!({"passes": verdict}),
        Err(error) => json!({"fails": error.to_string()}),
    }
}
