//! The tokens that Anthropic reports, at the start of a message and at its end.

use llmnode_model::TokenUsage;
use serde::Deserialize;

use crate::http::lenient::{Count, object, tokens};

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MessageUsage {
    #[serde(deserialize_with = "tokens")]
    input_tokens: Count,
    #[serde(deserialize_with = "tokens")]
    output_tokens: Count,
    #[serde(deserialize_with = "tokens")]
    cache_read_input_tokens: Count,
    #[serde(deserialize_with = "tokens")]
    cache_creation_input_tokens: Count,
    #[serde(deserialize_with = "object")]
    cache_creation: Option<CacheCreation>,
    #[serde(deserialize_with = "object")]
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct CacheCreation {
    #[serde(deserialize_with = "tokens")]
    ephemeral_1h_input_tokens: Count,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    #[serde(deserialize_with = "tokens")]
    thinking_tokens: Count,
}

impl MessageUsage {
    /// A message starts with a placeholder for its output tokens.
    pub(super) fn begins(&mut self) {
        self.output_tokens = Count::default();
    }

    /// A later report has totals, but not always all of them.
    pub(super) fn update(&mut self, later: MessageUsage) {
        for (known, new) in [
            (&mut self.input_tokens, later.input_tokens),
            (&mut self.output_tokens, later.output_tokens),
            (&mut self.cache_read_input_tokens, later.cache_read_input_tokens),
            (&mut self.cache_creation_input_tokens, later.cache_creation_input_tokens),
        ] {
            if new.tokens.is_some() || new.impossible {
                *known = new;
            }
        }
        self.cache_creation = later.cache_creation.or(self.cache_creation);
        self.output_tokens_details = later.output_tokens_details.or(self.output_tokens_details);
    }

    /// The flag: a figure is impossible. Servers that do not count send only zeros.
    pub(super) fn figures(&self) -> (Option<TokenUsage>, bool) {
        let (read, written) = (self.cache_read_input_tokens, self.cache_creation_input_tokens);
        let reasoning = self.output_tokens_details.unwrap_or_default().thinking_tokens;
        let long = self.cache_creation.unwrap_or_default().ephemeral_1h_input_tokens;
        let all = [self.input_tokens, self.output_tokens, read, written, reasoning, long];
        // The API does not include cache reads and writes in the input.
        let apart = read.tokens.unwrap_or(0).saturating_add(written.tokens.unwrap_or(0));
        let mut usage = TokenUsage::default();
        usage.input = self.input_tokens.tokens.map(|input| input.saturating_add(apart));
        usage.output = self.output_tokens.tokens;
        usage.cached = read.tokens;
        usage.cache_write = written.tokens;
        usage.cache_write_long = long.tokens;
        usage.reasoning = reasoning.tokens;
        let known = all.iter().any(|figure| figure.tokens.is_some_and(|tokens| tokens > 0));
        (known.then_some(usage), all.iter().any(|figure| figure.impossible))
    }
}
