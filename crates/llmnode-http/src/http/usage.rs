//! The tokens that a server reports.
//!
//! Chat completions and all that imitate them. Figures are read by every name that
//! is in use, and are not added up: totals differ from sums where a provider counts
//! something apart.

use llmnode_model::TokenUsage;
use serde::Deserialize;
use serde_json::Value;

use super::lenient::{Count, object, reported, tokens};
use super::reported::Figures;

/// Each member under its names; see `figures` for which of them counts.
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
    /// Moonshot's.
    #[serde(deserialize_with = "tokens")]
    cached_tokens: Count,
    #[serde(deserialize_with = "tokens")]
    cache_creation_input_tokens: Count,
    /// Of a response that failed.
    #[serde(deserialize_with = "tokens")]
    input_tokens: Count,
    #[serde(deserialize_with = "tokens")]
    output_tokens: Count,
}

/// Of a write that was asked to be kept for longer than half an hour.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct WriteDetails {
    #[serde(deserialize_with = "tokens")]
    ttl_12h_tokens: Count,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct PromptDetails {
    #[serde(deserialize_with = "tokens")]
    cached_tokens: Count,
    #[serde(deserialize_with = "tokens")]
    cache_write_tokens: Count,
    /// By how long they are kept.
    #[serde(deserialize_with = "object")]
    cache_write_tokens_details: Option<WriteDetails>,
    #[serde(deserialize_with = "tokens")]
    cache_creation_input_tokens: Count,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CompletionDetails {
    #[serde(deserialize_with = "tokens")]
    reasoning_tokens: Count,
}

impl Figures for Usage {
    /// Each member by itself: one report may have the prompt, and a later one the
    /// answer.
    fn grow(&mut self, later: Usage) {
        self.prompt_tokens.grow(later.prompt_tokens);
        self.completion_tokens.grow(later.completion_tokens);
        self.total_tokens.grow(later.total_tokens);
        self.prompt_cache_hit_tokens
            .grow(later.prompt_cache_hit_tokens);
        self.cached_tokens.grow(later.cached_tokens);
        self.cache_creation_input_tokens
            .grow(later.cache_creation_input_tokens);
        self.input_tokens.grow(later.input_tokens);
        self.output_tokens.grow(later.output_tokens);
        if let Some(details) = later.prompt_tokens_details {
            let counted = self.prompt_tokens_details.get_or_insert_default();
            counted.cached_tokens.grow(details.cached_tokens);
            counted.cache_write_tokens.grow(details.cache_write_tokens);
            if let Some(writes) = details.cache_write_tokens_details {
                let long = counted.cache_write_tokens_details.get_or_insert_default();
                long.ttl_12h_tokens.grow(writes.ttl_12h_tokens);
            }
            counted
                .cache_creation_input_tokens
                .grow(details.cache_creation_input_tokens);
        }
        if let Some(details) = later.completion_tokens_details {
            let counted = self.completion_tokens_details.get_or_insert_default();
            counted.reasoning_tokens.grow(details.reasoning_tokens);
        }
    }
}

/// Of two reports of one response, the larger figures.
pub(crate) fn larger(one: Option<TokenUsage>, other: Option<TokenUsage>) -> Option<TokenUsage> {
    let (Some(counted), Some(reported)) = (one, other) else {
        return one.or(other);
    };
    Some(counted.larger(reported))
}

/// Of a value that was read already, such as an error's body.
pub(crate) fn usage_of(value: &Value) -> (Option<TokenUsage>, bool) {
    let usage = object::<_, Usage>(value).ok().flatten();
    usage.as_ref().map(Usage::figures).unwrap_or_default()
}

/// Servers report one figure by several names. One that cannot be is a report, too.
fn first_reported(count: Count, other: Count) -> Count {
    if count.impossible || count.tokens.is_some() {
        count
    } else {
        other
    }
}

impl Usage {
    /// By name, the first that was reported. The flag says that one is impossible.
    ///
    /// OpenAI's own names come first, then those of the servers that imitate it. They
    /// are names of one figure, so the others are not added.
    pub(crate) fn figures(&self) -> (Option<TokenUsage>, bool) {
        let details = self.prompt_tokens_details.unwrap_or_default();
        let written = first_reported(
            self.cache_creation_input_tokens,
            details.cache_creation_input_tokens,
        );
        let written = first_reported(details.cache_write_tokens, written);
        let cached = first_reported(
            first_reported(details.cached_tokens, self.prompt_cache_hit_tokens),
            self.cached_tokens,
        );
        let reasoning = self
            .completion_tokens_details
            .as_ref()
            .map(|details| details.reasoning_tokens);
        let figures = [
            first_reported(self.prompt_tokens, self.input_tokens),
            first_reported(self.completion_tokens, self.output_tokens),
            self.total_tokens,
            cached,
            reasoning.unwrap_or_default(),
            written,
        ];
        let mut usage = TokenUsage::default();
        [
            usage.input,
            usage.output,
            usage.total,
            usage.cached,
            usage.reasoning,
            usage.cache_write,
        ] = figures.map(|figure| figure.tokens);
        let long = details.cache_write_tokens_details.unwrap_or_default();
        usage.cache_write_long = long.ttl_12h_tokens.tokens;
        // xAI leaves reasoning out of the output; its total has it.
        if let TokenUsage {
            input: Some(input),
            output: Some(output),
            total: Some(total),
            reasoning: Some(reasoning),
            ..
        } = usage
            && reasoning > 0
            && let Some(with_reasoning) = total.checked_sub(input)
            && with_reasoning.checked_sub(reasoning) == Some(output)
        {
            usage.output = Some(with_reasoning);
        }
        reported(usage, &figures)
    }
}
