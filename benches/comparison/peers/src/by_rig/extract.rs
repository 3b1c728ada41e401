//! names: ExtractorBuilder, retries, extract, Extractor, output, usage, total_tokens, cost

use futures::future::join_all;
use rig::extractor::{Extractor, ExtractorBuilder};
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use super::model;

/// An invoice.
#[derive(Deserialize, JsonSchema, Serialize)]
struct Invoice {
    number: String,
    #[schemars(range(min = 0.0))]
    #[serde(deserialize_with = "positive")]
    total: f64,
}

/// By hand: the bound. That of the schema is not checked.
fn positive<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let total = f64::deserialize(deserializer)?;
    if total < 0.0 {
        return Err(D::Error::custom("the total is negative"));
    }
    Ok(total)
}

pub async fn run(url: &str, letters: &[String]) -> Value {
    let reader = ExtractorBuilder::<Invoice>::new(model(url))
        .retries(2)
        .build();
    let invoices = join_all(letters.iter().map(|letter| read(&reader, letter))).await;
    let outcomes: Vec<&String> = invoices.iter().map(|invoice| &invoice.outcome).collect();
    let tokens: u64 = invoices.iter().map(|invoice| invoice.tokens).sum();
    let money: f64 = invoices.iter().map(|invoice| invoice.money).sum();
    json!({"outcomes": outcomes, "tokens": tokens, "money": money})
}

struct Read {
    outcome: String,
    tokens: u64,
    money: f64,
}

async fn read(reader: &Extractor<Invoice>, letter: &str) -> Read {
    match reader.extract(letter).await {
        Ok(answer) => Read {
            outcome: format!("{} {}", answer.output.number, answer.output.total),
            tokens: answer.usage.total_tokens.unwrap_or(0),
            money: answer.usage.cost.map_or(0.0, |cost| cost.total),
        },
        Err(error) => Read {
            outcome: super::name(&error),
            tokens: 0,
            money: 0.0,
        },
    }
}
