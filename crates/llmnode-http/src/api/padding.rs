//! White space behind a complete answer, which some models write without end.

use llmnode_model::internal::{PADDING, padding};

/// Watches an answer that grows.
#[derive(Debug, Default)]
pub(crate) struct PaddingWatch {
    /// The length at which it looks again.
    checked_len: usize,
}

impl PaddingWatch {
    /// Whether it is a complete document followed by nothing but white space.
    pub(crate) fn is_padded(&mut self, written: &str) -> bool {
        let end = written.len().saturating_sub(PADDING);
        // Each look reads all of it, so it must have doubled since the last one.
        if end < self.checked_len
            || !written.as_bytes()[end..].iter().all(u8::is_ascii_whitespace)
            || end == 0
        {
            return false;
        }
        self.checked_len = written.len().saturating_mul(2);
        padding(written) >= PADDING
    }
}
