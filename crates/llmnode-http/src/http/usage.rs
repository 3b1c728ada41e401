//! The tokens that a server reports.

use llmnode_model::TokenUsage;
use serde::Deserialize;
use serde_json::Value;

use super::lenient::{Count, object, tokens};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Usage {
    #[serde(deserialize_with = "tokens")]
    prompt_tokens: Count,
    #[serde(deserialize_with = "tokens")]
    completion_tokens: Count,
    #[serde(deserialize_with = "tokens")]
    total_tokens: Count,
    #[serde(deserialize_with = "object")]
    prompt_tokens_details: Option<PromptDetails>,
    #[serde(deserialize_with = "object")]
    completion_tokens_details: Option<CompletionDetails>,
    /// DeepSeek's name for cached tokens.
    #[serde(deserialize_with = "tokens")]
    prompt_cache_hit_tokens: Count,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PromptDetails {
    #[serde(deserialize_with = "tokens")]
    cached_tokens: Count,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CompletionDetails {
    #[serde(deserialize_with = "tokens")]
    reasoning_tokens: Count,
}

pub(crate) fn usage_of(value: &Value) -> (Option<TokenUsage>, bool) {
    let usage = object::<_, Usage>(value).ok().flatten();
    usage.as_ref().map(Usage::figures).unwrap_or_default()
}

impl Usage {
    /// Servers that do not count send only zeros.
    pub(crate) fn figures(&self) -> (Option<TokenUsage>, bool) {
        let cached = self.prompt_tokens_details.as_ref().map(|details| details.cached_tokens);
        let cached = cached
            .filter(|own| own.impossible || own.tokens.is_some())
            .unwrap_or(self.prompt_cache_hit_tokens);
        let reasoning = self.completion_tokens_details.as_ref().map(|details| details.reasoning_tokens);
        let figures = [
            self.prompt_tokens,
            self.completion_tokens,
            self.total_tokens,
            cached,
            reasoning.unwrap_or_default(),
        ];
        let mut usage = TokenUsage::default();
        [usage.input, usage.output, usage.total, usage.cached, usage.reasoning] =
            figures.map(|figure| figure.tokens);
        let known = figures.iter().any(|figure| figure.tokens.is_some_and(|tokens| tokens > 0));
        (known.then_some(usage), figures.iter().any(|figure| figure.impossible))
    }
}
