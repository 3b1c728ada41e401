//! The tokens of one response, as its provider counts them.

use serde::{Deserialize, Serialize};

/// The tokens of one response, as the provider reports them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Tokens of the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Tokens of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// All tokens, if the provider reports a total.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// The part of `input` that came from a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<u64>,
    /// The part of `output` that was reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
}

impl TokenUsage {
    /// Returns all tokens: the provider's total, or input plus output if both are known.
    pub fn total(&self) -> Option<u64> {
        self.total.or_else(|| Some(self.input?.saturating_add(self.output?)))
    }

    /// A total below one of its parts cannot be, and so is unknown.
    #[doc(hidden)]
    pub fn possible(self) -> TokenUsage {
        let most = self.input.max(self.output);
        TokenUsage { total: self.total.filter(|total| Some(*total) >= most), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_providers_total_beats_the_sum() {
        let usage = TokenUsage { input: Some(10), output: Some(5), total: Some(21), ..TokenUsage::default() };
        assert_eq!(usage.total(), Some(21));
        assert_eq!(TokenUsage { total: None, ..usage }.total(), Some(15));
        assert_eq!(TokenUsage { total: None, output: None, ..usage }.total(), None);
    }

    #[test]
    fn a_total_below_a_part_is_unknown() {
        let usage = TokenUsage { input: Some(10), output: Some(5), ..TokenUsage::default() };
        let possible = |total| TokenUsage { total: Some(total), ..usage }.possible();
        assert_eq!(possible(9), usage);
        assert_eq!(possible(10).total, Some(10), "no sum, but possible");
        assert_eq!(TokenUsage { total: Some(0), ..TokenUsage::default() }.possible().total, Some(0));
    }
}
