//! The tokens that Gemini reports.
//!
//! Thoughts are counted apart from the candidates and billed as output; what tools
//! of Google's put into the prompt is counted apart from it and billed as input.
//! Figures that are zero are left out by Google, so an absent one is unknown unless
//! the total says otherwise.

use llmnode_model::TokenUsage;
use serde::Deserialize;

use crate::http::lenient::{Count, reported, tokens};
use crate::http::reported::Figures;

/// Absent is unknown, but for what the total leaves open.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct UsageMetadata {
    #[serde(deserialize_with = "tokens")]
    prompt_token_count: Count,
    /// What the provider's own tools put into the prompt.
    #[serde(deserialize_with = "tokens")]
    tool_use_prompt_token_count: Count,
    #[serde(deserialize_with = "tokens")]
    cached_content_token_count: Count,
    #[serde(deserialize_with = "tokens")]
    candidates_token_count: Count,
    #[serde(deserialize_with = "tokens")]
    thoughts_token_count: Count,
    #[serde(deserialize_with = "tokens")]
    total_token_count: Count,
}

impl Figures for UsageMetadata {
    fn grow(&mut self, later: UsageMetadata) {
        self.prompt_token_count.grow(later.prompt_token_count);
        self.tool_use_prompt_token_count
            .grow(later.tool_use_prompt_token_count);
        self.cached_content_token_count
            .grow(later.cached_content_token_count);
        self.candidates_token_count
            .grow(later.candidates_token_count);
        self.thoughts_token_count.grow(later.thoughts_token_count);
        self.total_token_count.grow(later.total_token_count);
    }
}

/// Unknown only if both are.
fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (None, None) => None,
        (one, other) => Some(one.unwrap_or(0).saturating_add(other.unwrap_or(0))),
    }
}

impl UsageMetadata {
    /// Whether the report is of the end: earlier ones have the prompt alone.
    pub(super) fn counts_output(&self) -> bool {
        self.candidates_token_count
            .tokens
            .or(self.thoughts_token_count.tokens)
            .is_some()
    }

    pub(super) fn figures(&self) -> (Option<TokenUsage>, bool) {
        let all = [
            self.prompt_token_count,
            self.tool_use_prompt_token_count,
            self.cached_content_token_count,
            self.candidates_token_count,
            self.thoughts_token_count,
            self.total_token_count,
        ];
        let [prompt, of_tools, cached, written, thoughts, total] = all.map(|figure| figure.tokens);
        let mut usage = TokenUsage::default();
        usage.input = prompt.map(|prompt| prompt.saturating_add(of_tools.unwrap_or(0)));
        // Zeros are left out: a total that the prompt makes up says that nothing was written.
        let nothing = usage.input.filter(|input| Some(*input) == total).map(|_| 0);
        usage.output = sum(written, thoughts).or(nothing);
        usage.total = total;
        usage.cached = cached;
        usage.reasoning = thoughts;
        reported(usage, &all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_and_output_sum_to_the_total() {
        for (json, input, output) in [
            (
                r#"{"promptTokenCount":7,"toolUsePromptTokenCount":5,"candidatesTokenCount":3,"thoughtsTokenCount":2,"totalTokenCount":17}"#,
                Some(12),
                Some(5),
            ),
            (
                r#"{"promptTokenCount":7,"thoughtsTokenCount":2,"totalTokenCount":9}"#,
                Some(7),
                Some(2),
            ),
            (
                r#"{"promptTokenCount":7,"totalTokenCount":7}"#,
                Some(7),
                Some(0),
            ),
            (r#"{"promptTokenCount":7}"#, Some(7), None),
        ] {
            let (usage, impossible) = serde_json::from_str::<UsageMetadata>(json)
                .unwrap()
                .figures();
            let usage = usage.unwrap();
            assert_eq!(
                (usage.input, usage.output, impossible),
                (input, output, false),
                "{json}"
            );
        }
        let none = serde_json::from_str::<UsageMetadata>(r#"{"trafficType":"ON_DEMAND"}"#).unwrap();
        assert_eq!(none.figures(), (None, false));
    }
}
