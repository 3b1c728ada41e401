//! Keeps the size of a state within its limit.

use std::collections::BTreeSet;

use llmnode_runtime::{Category, Message, NodeError};

use super::size::{MOST, Size, size};
use super::{Logged, State};

impl State {
    /// `written`: each key with its bytes, and whether they replace the old value. Fails with `limit_exceeded`.
    pub(super) fn grow(
        &mut self,
        from: &str,
        written: &[(&str, usize, bool)],
        cleared: &[String],
        messages: &[Message],
    ) -> Result<(), NodeError> {
        let more = size(&messages) + written.iter().map(|(key, bytes, _)| key.len() + bytes).sum::<usize>();
        let replaced = written.iter().filter(|(.., replaces)| *replaces).map(|(key, ..)| *key);
        let gone: BTreeSet<&str> = replaced.chain(cleared.iter().map(String::as_str)).collect();
        let gone = gone.into_iter().filter_map(|key| Some(key.len() + size(self.values.get(key)?))).sum();
        // A branch's log keeps replaced values.
        let gone: usize = if self.log.is_some() { 0 } else { gone };
        let logged = |log: &[Logged]| -> usize {
            log.iter().map(|one| size(&one.update.messages) + size(&one.update.values)).sum()
        };
        let measure =
            |state: &State| size(&state.turns) + size(&state.values) + state.log.as_deref().map_or(0, logged);
        let known = self.size.0.unwrap_or_else(|| measure(self));
        let after = |known: usize| (known + more).saturating_sub(gone);
        // The known size may be too large, but not too small for what nodes wrote: measured again before an error.
        let now = if after(known) > MOST { after(measure(self)) } else { after(known) };
        if now > MOST {
            let largest = written.iter().max_by_key(|(_, bytes, _)| *bytes);
            let largest = largest
                .map(|(key, bytes, _)| format!("; it writes {bytes} bytes to `{key}`"))
                .unwrap_or_default();
            let message = format!(
                "the node `{from}` makes the state {now} bytes as JSON, and {MOST} are the most, which no setting changes{largest}: keep less \
                 in the state"
            );
            return Err(NodeError::new(Category::LimitExceeded, message));
        }
        self.size.0 = Some(now);
        Ok(())
    }

    pub(super) fn resized(&mut self) {
        self.size = Size::default();
    }
}
