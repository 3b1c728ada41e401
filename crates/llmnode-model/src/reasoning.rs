//! How much a model thinks before it answers.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How much a model thinks before it answers, in the same words for all providers.
/// Each API has its own form for it (`reasoning_effort`, `thinking`,
/// `thinkingLevel`), and not all models take all words. If a model refuses one, the
/// same call asks with the next lower one, or in the API's older form, and later
/// calls begin with that. A model that refuses all of them is asked without.
///
/// ```
/// # use llmnode_model as llmnode;
/// use llmnode::Reasoning;
///
/// assert_eq!(Reasoning::Low.to_string(), "low");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reasoning {
    /// None, or as little as the model allows.
    Off,
    /// The least effort above none that an API has a word for.
    Low,
    /// What most models take where a request says nothing.
    Medium,
    /// The highest word that all APIs have. Thoughts are paid like the answer.
    High,
    /// As much as the model can.
    Max,
    /// At most so many tokens, for Anthropic and Gemini. They count as tokens of
    /// the answer, so `max_tokens` has to be more. The other APIs take a word:
    /// there it is a `config_error`.
    Budget(u32),
}

impl fmt::Display for Reasoning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reasoning::Off => f.write_str("off"),
            Reasoning::Low => f.write_str("low"),
            Reasoning::Medium => f.write_str("medium"),
            Reasoning::High => f.write_str("high"),
            Reasoning::Max => f.write_str("max"),
            Reasoning::Budget(tokens) => write!(f, "{tokens} tokens"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_json() {
        for word in [
            Reasoning::Off,
            Reasoning::Low,
            Reasoning::Medium,
            Reasoning::High,
            Reasoning::Max,
        ] {
            assert_eq!(serde_json::to_value(word).unwrap(), word.to_string());
        }
        assert_eq!(
            serde_json::to_value(Reasoning::Budget(9)).unwrap(),
            serde_json::json!({"budget": 9})
        );
    }
}
