//! names: tool, llm_node, prompt, system, tools, Run, call, OpenAi, Anthropic, Gemini, builder, base_url, api_key, build, NodeError, ledger, total, model, known

use llmnode::prelude::*;
use llmnode::{Anthropic, Gemini};
use serde_json::{Value, json};

/// Says how much of an item is in stock.
#[tool]
fn stock(item: String) -> usize {
    item.len()
}

#[llm_node(system = "You keep a shop.", prompt = "{question}", tools = [Stock])]
struct Keep {
    question: &'static str,
}

fn run_on(provider: &str, url: &str) -> Result<Run, NodeError> {
    let key = "sk-test";
    Ok(match provider {
        "anthropic" => Run::new(
            Anthropic::builder()
                .base_url(url)
                .api_key(key)
                .model("claude-haiku-4-5")
                .build()?,
        ),
        "gemini" => Run::new(
            Gemini::builder()
                .base_url(url)
                .api_key(key)
                .model("gemini-3-flash-preview")
                .build()?,
        ),
        _ => Run::new(
            OpenAi::builder()
                .base_url(url)
                .api_key(key)
                .model("gpt-5.4-mini")
                .build()?,
        ),
    })
}

pub async fn run(url: &str, provider: &str) -> Value {
    let run = run_on(provider, url).unwrap();
    let question = "How many pens are there?";
    let answer = run.call(&Keep { question }).await;
    let tokens = run.ledger().total().total.known;
    match answer {
        Ok(answer) => json!({"answer": answer, "tokens": tokens}),
        Err(error) => json!({"error": error.to_string(), "tokens": tokens}),
    }
}
