//! What is known of an answer that has not ended: what its provider has reported,
//! and what it has written.
//!
//! An attempt may end at any point of it: it is dropped, its time is up, the
//! connection breaks, the server sends an error in place of the rest. A report that
//! the answer went on after says what the prompt took, and not what the answer did.

use llmnode_model::TokenUsage;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AnswerSoFar {
    usage: Option<TokenUsage>,
    bytes: u64,
    /// More has come since the usage was reported.
    continues: bool,
}

impl AnswerSoFar {
    pub(crate) fn reports(&mut self, usage: TokenUsage) {
        self.usage = Some(usage);
        self.continues = false;
    }

    pub(crate) fn writes(&mut self, piece: &str) {
        self.bytes = self.bytes.saturating_add(piece.len() as u64);
        self.continues |= !piece.is_empty();
    }

    /// What is reported, without a figure that the answer has outgrown.
    pub(crate) fn usage(&self) -> Option<TokenUsage> {
        self.usage.map(|usage| {
            if self.continues {
                usage.of_the_prompt()
            } else {
                usage
            }
        })
    }

    /// About how many tokens of the answer have come. `None`: none.
    pub(crate) fn answered(&self) -> Option<u64> {
        const BYTES_OF_A_TOKEN: u64 = 4;
        let reported = self.usage.and_then(|usage| usage.output).unwrap_or(0);
        let written = (self.bytes / BYTES_OF_A_TOKEN).max(u64::from(self.bytes > 0));
        Some(written.max(reported)).filter(|tokens| *tokens > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_that_the_answer_outgrew_is_of_the_prompt_alone() {
        let mut so_far = AnswerSoFar::default();
        assert_eq!((so_far.usage(), so_far.answered()), (None, None));
        so_far.reports(TokenUsage::new(30, 5));
        assert_eq!(
            (so_far.usage(), so_far.answered()),
            (Some(TokenUsage::new(30, 5)), Some(5))
        );
        so_far.writes("");
        assert_eq!(so_far.usage(), Some(TokenUsage::new(30, 5)));
        so_far.writes("one more piece of the answer, in 48 characters..");
        let usage = so_far.usage().unwrap();
        assert_eq!(
            (usage.input, usage.output, usage.total()),
            (Some(30), None, None)
        );
        assert_eq!(
            (so_far.answered(), so_far.usage),
            (Some(12), Some(TokenUsage::new(30, 5)))
        );
        so_far.reports(TokenUsage::new(30, 20));
        assert_eq!(
            (so_far.usage(), so_far.answered()),
            (Some(TokenUsage::new(30, 20)), Some(20))
        );
    }
}
