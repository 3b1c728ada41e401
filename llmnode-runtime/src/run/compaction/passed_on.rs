//! What earlier calls did to a conversation that goes on with a node without
//! `compact`.
//!
//! The messages are sent as they are. What was done to them comes in with a pause, a
//! failed call or an earlier turn of the chat; it goes out in the same ways, and
//! into the chat with the turn. So a summary that was paid is there for the next
//! node with `compact`.

use super::covers;
use crate::conversation::Covers;
use crate::ledger::Compaction;
use crate::pause::CompactedSoFar;

/// Compactions of a conversation without its opening, those of its store first.
pub(in crate::run) struct PassedOn {
    done: Vec<Compaction>,
}

impl PassedOn {
    /// What was done to a conversation in the call that goes on here. `None`: nothing.
    pub(in crate::run) fn of_call(before: &CompactedSoFar) -> Option<Box<Self>> {
        let done = before.without_opening()?;
        match done.is_empty() {
            true => None,
            false => Some(Box::new(PassedOn { done })),
        }
    }

    /// What a turn without an answer did to a history of so many messages, of which
    /// its store has `stored`. `None`: nothing but what the store has, too.
    pub(in crate::run) fn of_turn(
        of_unfinished: &CompactedSoFar,
        covers: &[Covers],
        history: usize,
        stored: usize,
    ) -> Option<Box<Self>> {
        let mut done = covers::read(covers, history).done;
        let offered = covers::offered(of_unfinished, &done, stored);
        if offered.is_empty() {
            return None;
        }
        done.extend(offered);
        Some(Box::new(PassedOn { done }))
    }

    /// What a later call needs. `prompt`: how many messages stand before the first
    /// round, with those of the opening.
    pub(in crate::run) fn so_far(&self, prompt: usize, opening: usize) -> CompactedSoFar {
        let done = self.done.iter().cloned();
        CompactedSoFar {
            prompt,
            opening: Some(opening),
            done: done.map(|one| one.behind_opening(opening)).collect(),
            counted: None,
            after_last: None,
        }
    }

    /// What a store keeps of it, as of what a node with `compact` did itself.
    pub(in crate::run) fn covers(
        &self,
        before: &[Covers],
        history: usize,
        messages: usize,
    ) -> Vec<Covers> {
        covers::added(&self.done, before, history, messages)
    }
}
