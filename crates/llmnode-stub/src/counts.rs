//! The tokens of an answer.

use llmnode_model::TokenUsage;
use serde_json::Value;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TokenCounts {
    pub(super) prompt: u64,
    pub(super) completion: u64,
    pub(super) total: u64,
}

impl From<TokenCounts> for TokenUsage {
    fn from(counts: TokenCounts) -> Self {
        let mut usage = TokenUsage::new(counts.prompt, counts.completion);
        usage.total = Some(counts.total);
        usage
    }
}

impl TokenCounts {
    pub(super) fn new(prompt: u64, completion: u64) -> Self {
        Self {
            prompt,
            completion,
            total: prompt.saturating_add(completion),
        }
    }

    /// Reads a report in the words of any of the APIs.
    pub(super) fn from_json(usage: &Value) -> Option<Self> {
        let prompt = count(usage, ["prompt_tokens", "input_tokens", "promptTokenCount"]);
        let completion = count(
            usage,
            ["completion_tokens", "output_tokens", "candidatesTokenCount"],
        );
        let total = count(usage, ["total_tokens", "total_tokens", "totalTokenCount"]);
        prompt.or(completion).or(total)?;
        let sum = Self::new(prompt.unwrap_or(0), completion.unwrap_or(0));
        Some(Self {
            total: total.unwrap_or(sum.total),
            ..sum
        })
    }

    pub(super) fn apply(&mut self, op: fn(u64, u64) -> u64, other: Option<Self>) {
        let Some(other) = other else { return };
        self.prompt = op(self.prompt, other.prompt);
        self.completion = op(self.completion, other.completion);
        self.total = op(self.total, other.total);
    }
}

/// One token for every four characters.
pub(super) fn tokens(chars: usize) -> u64 {
    chars.div_ceil(4) as u64
}

fn count(usage: &Value, names: [&str; 3]) -> Option<u64> {
    names.iter().find_map(|name| usage.get(name)?.as_u64())
}
