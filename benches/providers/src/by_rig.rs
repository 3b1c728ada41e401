use rig::agent::AgentBuilder;
use rig::completion::CacheRetention;
use rig::providers::anthropic::AnthropicConfig;
use rig::tool::PortableTool;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Outcome;

#[derive(Deserialize)]
struct Arguments {
    item: String,
}

struct Stock;

impl PortableTool for Stock {
    const NAME: &'static str = "stock";
    type Args = Arguments;
    type Output = usize;
    type Error = std::convert::Infallible;

    fn description(&self) -> String {
        "Says how much of an item is in stock.".to_owned()
    }

    fn parameters(&self) -> Value {
        json!({"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]})
    }

    async fn call(&self, args: Arguments) -> Result<usize, Self::Error> {
        Ok(args.item.len())
    }
}

pub async fn run(url: &str, question: &'static str) -> Outcome {
    let client = AnthropicConfig::new("sk-test").with_base_url(url).client();
    let agent = AgentBuilder::new(client.completion("claude-haiku-4-5"))
        .preamble("You keep a shop.")
        .max_tokens(4096)
        .cache(CacheRetention::Short)
        .additional_params(json!({"thinking": {"type": "enabled", "budget_tokens": 1024}}))
        .tool(Stock)
        .build();
    match agent.prompt(question).max_turns(10).await {
        Ok(answer) => {
            let usage = answer.usage();
            let tokens = [
                usage.input_tokens,
                usage.cached_input_tokens,
                usage.cache_creation_input_tokens,
                usage.output_tokens,
            ];
            Outcome {
                answer: Ok(answer.output().to_owned()),
                tokens: tokens.map(Option::unwrap_or_default),
            }
        }
        Err(error) => Outcome {
            answer: Err(format!("{error:?}")),
            tokens: [0; 4],
        },
    }
}
