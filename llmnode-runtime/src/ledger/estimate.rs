//! What is assumed where nothing was reported. An estimate is never added to what is known.

use llmnode_model::{Attachment, Message};
use serde::{Deserialize, Serialize};

/// What an attempt may have used, estimated from its characters, a quarter of a
/// token each. It is made if the provider reported no total, and is kept apart from
/// what is known. An attachment counts a figure that depends on its type and its
/// size. What was reported of an answer that broke off stands in place of an
/// estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Estimate {
    /// Tokens of the prompt.
    pub input: u64,
    /// Tokens of the answer. `None`: no answer was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
}

impl Estimate {
    /// Returns the tokens of prompt and answer together. An answer that was not
    /// read counts nothing.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output.unwrap_or(0))
    }
}

pub(crate) fn prompt_tokens(messages: &[Message]) -> u64 {
    text_tokens(messages).saturating_add(attached_tokens(messages))
}

fn attached_tokens(messages: &[Message]) -> u64 {
    messages
        .iter()
        .flat_map(Message::attachments)
        .map(Attachment::tokens)
        .sum()
}

pub(crate) fn text_tokens(messages: &[Message]) -> u64 {
    quarter(
        messages
            .iter()
            .map(|message| message.content.chars().count())
            .sum(),
    )
}

pub(crate) fn answer_tokens(characters: usize) -> u64 {
    quarter(characters)
}

fn quarter(characters: usize) -> u64 {
    characters as u64 / 4
}

#[cfg(test)]
mod tests {
    use llmnode_model::Role;

    use super::*;

    #[test]
    fn four_characters_are_a_token_whatever_their_bytes() {
        let message = |text| Message::new(Role::User, text);
        assert_eq!(prompt_tokens(&[]), 0);
        assert_eq!(prompt_tokens(&[message("äö"), message("ü")]), 0);
        assert_eq!(prompt_tokens(&[message("äö"), message("üéaaa")]), 1);
        assert_eq!((answer_tokens(3), answer_tokens(4)), (0, 1));
    }

    #[test]
    fn an_answer_that_was_not_read_counts_nothing() {
        let estimate = Estimate {
            input: 5,
            output: None,
        };
        assert_eq!(
            (
                estimate.total(),
                Estimate {
                    output: Some(2),
                    ..estimate
                }
                .total()
            ),
            (5, 7)
        );
    }
}
