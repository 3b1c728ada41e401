//! names: rig_tool, ToolExecutionError, AgentBuilder, preamble, max_tokens, tool, prompt, max_turns, output, usage, total_tokens, DynModel, Completion, OpenAIConfig, AnthropicConfig, GeminiConfig, with_base_url, client, chat, completion

use rig::operation::Completion;
use rig::providers::anthropic::AnthropicConfig;
use rig::providers::gemini::GeminiConfig;
use rig::providers::openai::OpenAIConfig;
use rig::tool::ToolExecutionError;
use rig::{AgentBuilder, DynModel, rig_tool};
use serde_json::{Value, json};

#[rig_tool(description = "Says how much of an item is in stock.")]
fn stock(item: String) -> Result<usize, ToolExecutionError> {
    Ok(item.len())
}

fn model_of(provider: &str, url: &str) -> DynModel<Completion> {
    let key = "sk-test";
    match provider {
        "anthropic" => AnthropicConfig::new(key)
            .with_base_url(url)
            .client()
            .completion("claude-haiku-4-5")
            .into(),
        "gemini" => GeminiConfig::new(key)
            .with_base_url(url)
            .client()
            .completion("gemini-3-flash-preview")
            .into(),
        _ => OpenAIConfig::new(key)
            .with_base_url(url)
            .client()
            .chat("gpt-5.4-mini")
            .into(),
    }
}

pub async fn run(url: &str, provider: &str) -> Value {
    let agent = AgentBuilder::new(model_of(provider, url))
        .preamble("You keep a shop.")
        .max_tokens(4096)
        .tool(Stock)
        .build();
    match agent.prompt("How many pens are there?").max_turns(10).await {
        Ok(answer) => json!({"answer": answer.output(), "tokens": answer.usage.total_tokens}),
        Err(error) => json!({"error": error.to_string(), "tokens": null}),
    }
}
