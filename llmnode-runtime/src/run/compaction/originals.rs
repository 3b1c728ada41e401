//! The messages of a compacted conversation as they were, and what was done to them.

use llmnode_model::Message;

use crate::ledger::{Compacted, Compaction};

/// A conversation without its compactions. Empty until the first one.
#[derive(Default)]
pub(super) struct Originals {
    /// The messages up to the last compaction.
    messages: Vec<Message>,
    /// How many of the messages that are sent stand for them.
    sent: usize,
    done: Vec<Compaction>,
    replaced: Vec<Compacted>,
}

impl Originals {
    /// How many messages there are, where so many are sent.
    pub(super) fn length(&self, sent: usize) -> usize {
        self.messages.len() + sent.saturating_sub(self.sent)
    }

    /// All messages, where these are sent.
    pub(super) fn of(&self, sent: &[Message]) -> Vec<Message> {
        let newer = sent.get(self.sent..).unwrap_or_default();
        let mut whole = self.messages.clone();
        whole.extend_from_slice(newer);
        whole
    }

    /// Compacts the messages that are sent. `false`: the compaction is of another conversation.
    pub(super) fn compact(
        &mut self,
        compaction: Compaction,
        opening: usize,
        sent: &mut Vec<Message>,
    ) -> bool {
        if compaction.length != self.length(sent.len()) {
            return false;
        }
        let newer = sent.get(self.sent..).unwrap_or_default().to_vec();
        let Some(compacted) = compaction.apply(opening, sent) else {
            return false;
        };
        self.messages.extend(newer);
        self.sent = sent.len();
        self.done.push(compaction);
        self.replaced.push(compacted);
        true
    }

    /// Does what was done to a conversation in an earlier call. What does not fit
    /// is left, with all that followed it.
    pub(super) fn restore(
        &mut self,
        done: &[Compaction],
        opening: usize,
        whole: &mut Vec<Message>,
    ) {
        for compaction in done {
            let newer = compaction.length.checked_sub(self.messages.len());
            let end = newer.map(|newer| self.sent + newer);
            let Some(end) = end.filter(|end| *end <= whole.len()) else {
                return;
            };
            let rest = whole.split_off(end);
            let fits = self.compact(compaction.clone(), opening, whole);
            whole.extend(rest);
            if !fits {
                return;
            }
        }
    }

    /// How many messages were sent after the last compaction.
    pub(super) fn sent(&self) -> usize {
        self.sent
    }

    pub(super) fn done(&self) -> &[Compaction] {
        &self.done
    }

    pub(super) fn newest(&self) -> Option<&Compacted> {
        self.replaced.last()
    }

    pub(super) fn take_replaced(&mut self) -> Vec<Compacted> {
        std::mem::take(&mut self.replaced)
    }
}
