use llmnode::prelude::*;
use llmnode::{Anthropic, Cache};
use serde_json::json;

use crate::Outcome;

/// Says how much of an item is in stock.
#[tool]
fn stock(item: String) -> usize {
    item.len()
}

#[llm_node(system = "You keep a shop.", prompt = "{question}", tools = [Stock], max_tokens = 4096)]
struct Keep {
    question: &'static str,
}

pub async fn run(url: &str, question: &'static str) -> Outcome {
    let model = Anthropic::builder()
        .base_url(url)
        .api_key("sk-test")
        .model("claude-haiku-4-5");
    let run = Run::new(model.cache(Cache::Minutes5).build().unwrap());
    let thinking = json!({"type": "enabled", "budget_tokens": 1024});
    let answer = run
        .call(&Keep { question })
        .extra("thinking", thinking)
        .await;
    let total = run.ledger().total();
    Outcome {
        answer: answer.map_err(|error| error.to_string()),
        tokens: [
            total.input.known,
            total.cached.known,
            total.cache_write.known,
            total.output.known,
        ],
    }
}
