//! The tokens of one response, as its provider counts them.

use serde::{Deserialize, Serialize};

/// The tokens of one response, as the provider reports them.
///
/// ```
/// # use llmnode_model as llmnode;
/// use llmnode::TokenUsage;
///
/// let mut usage = TokenUsage::new(4_515, 6);
/// usage.cached = Some(4_512);
/// assert_eq!((usage.input, usage.total()), (Some(4_515), Some(4_521)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TokenUsage {
    /// Tokens of the prompt, with all that came from a cache or were written to one.
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
    /// The part of `input` that was written to a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    /// The part of `cache_write` that is kept for an hour. The rest, or all if this
    /// is unknown, is kept for five minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_long: Option<u64>,
    /// The part of `output` that was reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
}

impl TokenUsage {
    /// Creates the usage of a response with this many tokens. All other figures are unknown.
    pub const fn new(input: u64, output: u64) -> Self {
        TokenUsage {
            input: Some(input),
            output: Some(output),
            total: None,
            cached: None,
            cache_write: None,
            cache_write_long: None,
            reasoning: None,
        }
    }

    /// Returns all tokens: the provider's total, or input plus output if both are known.
    pub fn total(&self) -> Option<u64> {
        self.total
            .or_else(|| Some(self.input?.saturating_add(self.output?)))
    }

    /// The figures of an answer that goes on after them: what it takes in the end is unknown.
    pub fn of_the_prompt(self) -> TokenUsage {
        TokenUsage {
            output: None,
            total: None,
            reasoning: None,
            ..self
        }
    }

    /// Of two reports of one response, the larger figures.
    pub fn larger(self, other: TokenUsage) -> TokenUsage {
        TokenUsage {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            total: self.total.max(other.total),
            cached: self.cached.max(other.cached),
            cache_write: self.cache_write.max(other.cache_write),
            cache_write_long: self.cache_write_long.max(other.cache_write_long),
            reasoning: self.reasoning.max(other.reasoning),
        }
    }

    /// A total below one of its parts cannot be, and so is unknown.
    pub fn possible(self) -> TokenUsage {
        let most = self.input.max(self.output);
        TokenUsage {
            total: self.total.filter(|total| Some(*total) >= most),
            ..self
        }
    }
}

/// Whether a service tier, a speed or a place of inference, by its name, is billed at the
/// standard price. `batch` stands in the answers of batches alone, whose price is known otherwise.
pub fn is_standard_price(word: &str) -> bool {
    matches!(
        word,
        "" | "auto"
            | "batch"
            | "default"
            | "global"
            | "not_available"
            | "on_demand"
            | "standard"
            | "standard_only"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_providers_total_beats_the_sum() {
        let usage = TokenUsage {
            total: Some(21),
            ..TokenUsage::new(10, 5)
        };
        assert_eq!(usage.total(), Some(21));
        assert_eq!(
            TokenUsage {
                total: None,
                ..usage
            }
            .total(),
            Some(15)
        );
        assert_eq!(
            TokenUsage {
                total: None,
                output: None,
                ..usage
            }
            .total(),
            None
        );
    }

    #[test]
    fn a_total_below_a_part_is_unknown() {
        let usage = TokenUsage::new(10, 5);
        let possible = |total| {
            TokenUsage {
                total: Some(total),
                ..usage
            }
            .possible()
        };
        assert_eq!(possible(9), usage);
        assert_eq!(possible(10).total, Some(10), "no sum, but possible");
        assert_eq!(
            TokenUsage {
                total: Some(0),
                ..TokenUsage::default()
            }
            .possible()
            .total,
            Some(0)
        );
    }

    #[test]
    fn the_form_of_older_versions_is_read_and_written() {
        let old = r#"{"input":10,"output":5,"cached":4}"#;
        let usage: TokenUsage = serde_json::from_str(old).unwrap();
        assert_eq!(
            usage,
            TokenUsage {
                cached: Some(4),
                ..TokenUsage::new(10, 5)
            }
        );
        assert_eq!(serde_json::to_string(&usage).unwrap(), old);
        let new = TokenUsage {
            cache_write: Some(3),
            cache_write_long: Some(2),
            ..usage
        };
        assert_eq!(
            serde_json::from_str::<TokenUsage>(&serde_json::to_string(&new).unwrap()).unwrap(),
            new
        );
    }
}
