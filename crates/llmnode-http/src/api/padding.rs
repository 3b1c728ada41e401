//! White space behind a complete answer, which some models write without end.

use llmnode_model::ext::{PADDING, padding};
use llmnode_model::{Sink, TokenUsage};
use llmnode_reader::Flag;

/// The stream is read no further, and its usage would have come at its end.
pub(crate) fn estimate_unreported(usage: Option<TokenUsage>, sink: &mut dyn Sink) {
    if usage.and_then(|usage| usage.total()).is_none() {
        sink.flag(Flag::EstimatedUsage);
    }
}

/// `checked_len`: below it, no check is worth its time.
#[derive(Debug, Default)]
pub(crate) struct PaddingWatch {
    checked_len: usize,
}

impl PaddingWatch {
    pub(crate) fn is_padded(&mut self, written: &str) -> bool {
        let end = written.len().saturating_sub(PADDING);
        // Each check reads everything, so the text must have doubled since the last one.
        if end < self.checked_len
            || !written.as_bytes()[end..]
                .iter()
                .all(u8::is_ascii_whitespace)
            || end == 0
        {
            return false;
        }
        self.checked_len = written.len().saturating_mul(2);
        padding(written) >= PADDING
    }
}
