//! names: Client, AdapterKind, ChatRequest, ChatMessage, user, with_system, ChatOptions, with_response_format, JsonSpec, exec_chat, into_first_text

use std::error::Error;

use futures::StreamExt;
use futures::stream;
use genai::Client;
use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatOptions, ChatRequest, JsonSpec};
use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{MODEL, client};

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Team {
    Billing,
    Repairs,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
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
    let client = client(url, AdapterKind::OpenAI);
    let text = std::fs::read_to_string("letters.jsonl")?;
    let cases: Vec<Case> = text
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    let repeats = if blesses { 9 } else { 3 };
    let asked = (0..repeats).flat_map(|_| cases.clone());
    let scores: Vec<(Case, Result<bool, String>)> = stream::iter(asked)
        .map(|case| score(&client, ask, case))
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

async fn score(client: &Client, ask: &str, case: Case) -> (Case, Result<bool, String>) {
    let schema = JsonSpec::new("label", schema_for!(Label).to_value());
    let options = ChatOptions::default().with_response_format(schema);
    let letter = ChatMessage::user(case.letter.as_str());
    let request = ChatRequest::new(vec![letter]).with_system(ask);
    let score = match client.exec_chat(MODEL, request, Some(&options)).await {
        Ok(response) => {
            let text = response.into_first_text().unwrap_or_default();
            let label = serde_json::from_str::<Label>(&text);
            Ok(label.is_ok_and(|label| label == case.expected))
        }
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
