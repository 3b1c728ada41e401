//! Whether a model repeats its bad answer.

use llmnode_model::internal::sha256;
use llmnode_model::{Group, Retry};

use super::failure::Failure;

#[derive(Default)]
pub(super) struct Repetition(Option<[u8; 32]>);

impl Repetition {
    pub(super) fn repeats(&mut self, failure: &Failure) -> bool {
        // Without a choice (OpenAI's `choices`) there is no answer: a failure of the transport.
        if failure.category.group() != Group::Answer || failure.retry == Some(Retry::Transport) {
            return false;
        }
        let answer = sha256(failure.answer.as_deref().unwrap_or_default().trim().as_bytes());
        self.0.replace(answer) == Some(answer)
    }
}

#[cfg(test)]
mod tests {
    use llmnode_model::Category;

    use super::*;

    #[test]
    fn only_the_same_bad_answer_in_a_row_repeats() {
        let mut repetition = Repetition::default();
        let mut says = |category, answer: &str| {
            repetition.repeats(&Failure { answer: Some(answer.into()), ..Failure::new(category, "") })
        };
        assert!(!says(Category::SchemaError, "a"));
        assert!(!says(Category::ServerError, "a"), "no bad answer");
        assert!(says(Category::ValidationError, " a\n"));
        assert!(!says(Category::SchemaError, "b"));
        assert!(!says(Category::SchemaError, "a"));
        assert!(!says(Category::EmptyResponse, " "));
        assert!(says(Category::EmptyResponse, ""));
        let no_choice =
            || Failure { retry: Some(Retry::Transport), ..Failure::new(Category::EmptyResponse, "") };
        let mut answers = Repetition::default();
        assert!(!answers.repeats(&no_choice()) && !answers.repeats(&no_choice()), "no answer at all");
    }
}
