//! The tokens that Anthropic reports, at the start of a message and at its end.
//!
//! `input_tokens` are those that were neither read from the cache nor written to
//! it; the record's `input` has all three, as with the other APIs. What the API
//! bills beside (summaries of the conversation) is added.

use std::borrow::Cow;

use llmnode_model::TokenUsage;
use serde::{Deserialize, Deserializer};

use crate::api::read_answer::has_other_price;
use crate::http::lenient::{Count, object, objects, reported, text, tokens};
use crate::http::reported::Figures;

/// As it is reported. A figure that is missing is unknown, never 0.
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
    #[serde(deserialize_with = "other_price")]
    service_tier: bool,
    #[serde(deserialize_with = "other_price")]
    speed: bool,
    #[serde(deserialize_with = "other_price")]
    inference_geo: bool,
    #[serde(deserialize_with = "object")]
    server_tool_use: Option<ServerTools>,
    #[serde(rename = "iterations", deserialize_with = "compactions")]
    compactions: Option<[u64; 4]>,
}

/// Billed apiece, beside the tokens.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct ServerTools {
    #[serde(deserialize_with = "tokens")]
    web_search_requests: Count,
}

/// Whether it names what is not billed at the standard price.
fn other_price<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    Ok(has_other_price(text(from)?.as_deref()))
}

/// One round of the server's own, of which only summaries are billed apart.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Iteration<'a> {
    #[serde(borrow, deserialize_with = "text")]
    r#type: Option<Cow<'a, str>>,
    #[serde(deserialize_with = "tokens")]
    input_tokens: Count,
    #[serde(deserialize_with = "tokens")]
    output_tokens: Count,
    #[serde(deserialize_with = "tokens")]
    cache_read_input_tokens: Count,
    #[serde(deserialize_with = "tokens")]
    cache_creation_input_tokens: Count,
}

/// What summaries of the conversation took, which the other figures leave out.
fn compactions<'de, D: Deserializer<'de>>(from: D) -> Result<Option<[u64; 4]>, D::Error> {
    let all: Option<Vec<Iteration<'de>>> = objects(from)?;
    let compactions = all
        .into_iter()
        .flatten()
        .filter(|one| one.r#type.as_deref() == Some("compaction"));
    let figures = compactions.map(|one| {
        [
            one.input_tokens,
            one.output_tokens,
            one.cache_read_input_tokens,
            one.cache_creation_input_tokens,
        ]
        .map(|figure| figure.tokens.unwrap_or(0))
    });
    Ok(figures.reduce(|sum, one| std::array::from_fn(|at| sum[at].saturating_add(one[at]))))
}

/// Writes for an hour cost twice as much as those for five minutes.
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

/// What the API sums up elsewhere is added. A figure that was not reported stays
/// unknown if there is nothing to add.
fn with_more(figure: Count, more: u64) -> Count {
    match figure.tokens {
        None if more == 0 => figure,
        tokens => Count {
            tokens: Some(tokens.unwrap_or(0).saturating_add(more)),
            ..figure
        },
    }
}

impl MessageUsage {
    /// A message starts with a placeholder for its output tokens.
    pub(super) fn begins(&mut self) {
        self.output_tokens = Count::default();
    }

    /// Whether the tokens at the standard price are not all that is billed.
    pub(super) fn has_other_price(&self) -> bool {
        let tools = self.server_tool_use.unwrap_or_default();
        let searches = tools.web_search_requests.tokens > Some(0);
        searches || self.service_tier || self.speed || self.inference_geo
    }

    /// The flag says that a figure is impossible, such as more reasoning than
    /// output.
    pub(super) fn figures(&self) -> (Option<TokenUsage>, bool) {
        let sums = self.compactions.unwrap_or_default();
        let input = with_more(self.input_tokens, sums[0]);
        let output = with_more(self.output_tokens, sums[1]);
        let read = with_more(self.cache_read_input_tokens, sums[2]);
        let written = with_more(self.cache_creation_input_tokens, sums[3]);
        let reasoning = self
            .output_tokens_details
            .unwrap_or_default()
            .thinking_tokens;
        let long = self
            .cache_creation
            .unwrap_or_default()
            .ephemeral_1h_input_tokens;
        // The API does not include cache reads and writes in the input.
        let apart = read
            .tokens
            .unwrap_or(0)
            .saturating_add(written.tokens.unwrap_or(0));
        let mut usage = TokenUsage::default();
        usage.input = input.tokens.map(|input| input.saturating_add(apart));
        usage.output = output.tokens;
        usage.cached = read.tokens;
        usage.cache_write = written.tokens;
        usage.cache_write_long = long.tokens;
        usage.reasoning = reasoning.tokens;
        reported(usage, &[input, output, read, written, reasoning, long])
    }
}

/// A later report has totals, but not always all of them.
impl Figures for MessageUsage {
    fn grow(&mut self, later: MessageUsage) {
        self.input_tokens.grow(later.input_tokens);
        self.output_tokens.grow(later.output_tokens);
        self.cache_read_input_tokens
            .grow(later.cache_read_input_tokens);
        self.cache_creation_input_tokens
            .grow(later.cache_creation_input_tokens);
        self.service_tier |= later.service_tier;
        self.speed |= later.speed;
        self.inference_geo |= later.inference_geo;
        if let Some(tools) = later.server_tool_use {
            let counted = self.server_tool_use.get_or_insert_default();
            counted.web_search_requests.grow(tools.web_search_requests);
        }
        if let Some(details) = later.cache_creation {
            let counted = self.cache_creation.get_or_insert_default();
            counted
                .ephemeral_1h_input_tokens
                .grow(details.ephemeral_1h_input_tokens);
        }
        if let Some(details) = later.output_tokens_details {
            let counted = self.output_tokens_details.get_or_insert_default();
            counted.thinking_tokens.grow(details.thinking_tokens);
        }
        if let Some(sums) = later.compactions {
            let counted = self.compactions.unwrap_or_default();
            self.compactions = Some(std::array::from_fn(|at| counted[at].max(sums[at])));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_billed_beside_the_tokens_is_seen() {
        let of = |json: &str| {
            let usage = serde_json::from_str::<MessageUsage>(json).unwrap();
            let mut grown = MessageUsage::default();
            grown.grow(usage);
            assert_eq!(usage.has_other_price(), grown.has_other_price(), "{json}");
            grown.has_other_price()
        };
        assert!(!of(
            r#"{"service_tier":"standard","inference_geo":"global","server_tool_use":{"web_search_requests":0}}"#
        ));
        assert!(!of(
            r#"{"service_tier":null,"speed":"standard","server_tool_use":null}"#
        ));
        assert!(of(r#"{"service_tier":"priority"}"#));
        assert!(of(r#"{"speed":"fast"}"#));
        assert!(of(r#"{"inference_geo":"us"}"#));
        assert!(of(r#"{"server_tool_use":{"web_search_requests":1}}"#));
    }

    /// After `BetaUsage.iterations` of Anthropic's SDK: the figures leave out what
    /// a compaction took.
    #[test]
    fn compactions_are_counted() {
        let of = |json: &str| serde_json::from_str::<MessageUsage>(json).unwrap();
        let start = of(r#"{"input_tokens":10,"output_tokens":1,"cache_read_input_tokens":null}"#);
        let mut usage = start;
        usage.grow(of(
            r#"{"output_tokens":5,"iterations":[{"type":"compaction","input_tokens":1000,"output_tokens":100,"cache_read_input_tokens":7},7,{"type":"message","input_tokens":10,"output_tokens":5}]}"#,
        ));
        let (figures, _) = usage.figures();
        let figures = figures.unwrap();
        assert_eq!(
            (figures.input, figures.output, figures.cached),
            (Some(1017), Some(105), Some(7))
        );
        assert_eq!(figures.cache_write, None);
        usage.grow(of(r#"{"output_tokens":6,"iterations":null}"#));
        assert_eq!(usage.figures().0.unwrap().output, Some(106));
    }
}
