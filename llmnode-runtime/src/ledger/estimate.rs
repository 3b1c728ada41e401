//! Estimates of tokens, for where no provider has counted them.

use crate::model::Message;

/// About how many tokens a prompt has: a quarter of a token for each character.
pub(crate) fn prompt_tokens(messages: &[Message]) -> u64 {
    let characters: usize = messages.iter().map(|message| message.content.chars().count()).sum();
    characters as u64 / 4
}
