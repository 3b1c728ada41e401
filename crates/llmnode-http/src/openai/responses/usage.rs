//! The tokens that a response reports.
//!
//! Cached tokens are part of the input, reasoning is part of the output: nothing
//! has to be added up.

use llmnode_model::TokenUsage;
use serde::Deserialize;

use crate::http::lenient::{Count, object, reported, tokens};
use crate::http::reported::Figures;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ResponseUsage {
    #[serde(deserialize_with = "tokens")]
    input_tokens: Count,
    #[serde(deserialize_with = "tokens")]
    output_tokens: Count,
    #[serde(deserialize_with = "tokens")]
    total_tokens: Count,
    #[serde(deserialize_with = "object")]
    input_tokens_details: Option<InputDetails>,
    #[serde(deserialize_with = "object")]
    output_tokens_details: Option<OutputDetails>,
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
struct InputDetails {
    #[serde(deserialize_with = "tokens")]
    cached_tokens: Count,
    #[serde(deserialize_with = "tokens")]
    cache_write_tokens: Count,
    /// By how long they are kept.
    #[serde(deserialize_with = "object")]
    cache_write_tokens_details: Option<WriteDetails>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    #[serde(deserialize_with = "tokens")]
    reasoning_tokens: Count,
}

impl Figures for ResponseUsage {
    fn grow(&mut self, later: ResponseUsage) {
        self.input_tokens.grow(later.input_tokens);
        self.output_tokens.grow(later.output_tokens);
        self.total_tokens.grow(later.total_tokens);
        if let Some(details) = later.input_tokens_details {
            let counted = self.input_tokens_details.get_or_insert_default();
            counted.cached_tokens.grow(details.cached_tokens);
            counted.cache_write_tokens.grow(details.cache_write_tokens);
            if let Some(writes) = details.cache_write_tokens_details {
                let long = counted.cache_write_tokens_details.get_or_insert_default();
                long.ttl_12h_tokens.grow(writes.ttl_12h_tokens);
            }
        }
        if let Some(details) = later.output_tokens_details {
            let counted = self.output_tokens_details.get_or_insert_default();
            counted.reasoning_tokens.grow(details.reasoning_tokens);
        }
    }
}

impl ResponseUsage {
    pub(super) fn figures(&self) -> (Option<TokenUsage>, bool) {
        let input = self.input_tokens_details.unwrap_or_default();
        let output = self.output_tokens_details.unwrap_or_default();
        let all = [
            self.input_tokens,
            self.output_tokens,
            self.total_tokens,
            input.cached_tokens,
            input.cache_write_tokens,
            output.reasoning_tokens,
        ];
        let mut usage = TokenUsage::default();
        [
            usage.input,
            usage.output,
            usage.total,
            usage.cached,
            usage.cache_write,
            usage.reasoning,
        ] = all.map(|figure| figure.tokens);
        let long = input.cache_write_tokens_details.unwrap_or_default();
        usage.cache_write_long = long.ttl_12h_tokens.tokens;
        reported(usage, &all)
    }
}
