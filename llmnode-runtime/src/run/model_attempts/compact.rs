//! A conversation that is too long is compacted before its next request: as a journal says, or as the rules of the node do.

use super::ModelAttempts;
use crate::ledger::{AttemptRecord, Compaction, RunEvent, Usage};

impl ModelAttempts<'_, '_> {
    /// Does again what an earlier process did before this request.
    pub(super) fn replay_compactions(&mut self) {
        while let Some(compaction) = self.journaled_compaction() {
            self.compact(compaction);
        }
    }

    fn journaled_compaction(&mut self) -> Option<Compaction> {
        let name = self.turn_name()?;
        let conversation = &self.journal.as_ref()?.conversation;
        let recorder = self.plan.context.call.recorder()?;
        recorder.compaction(conversation, &name)
    }

    /// The fingerprint of the turn's first request. `None`: there is no journal.
    pub(super) fn turn_name(&mut self) -> Option<String> {
        let journal = self.journal.as_mut()?;
        let recorder = self.plan.context.call.recorder()?;
        let request = &self.request;
        let target = &self.target;
        let name = journal
            .turn
            .get_or_insert_with(|| recorder.name(request, target.names(request)));
        Some(name.clone())
    }

    /// Compacts the conversation if it is time. The journal has it before the request goes out: it is written with its attempt.
    pub(super) fn compact_if_due(&mut self) {
        let prices = &self.plan.context.core.limits.prices;
        let window = self
            .target
            .window(&self.request, &self.plan.settings, prices);
        let Some(compacting) = &self.history.compacting else {
            return;
        };
        let Some(compaction) = compacting.due(&self.request, self.stable_len, window) else {
            return;
        };
        self.note_compaction(&compaction);
        self.compact(compaction);
    }

    fn note_compaction(&mut self, compaction: &Compaction) {
        let Some(request) = self.turn_name() else {
            return;
        };
        if let Some(journal) = &self.journal {
            self.plan.context.call.tell(&RunEvent::CompactionPlanned {
                conversation: &journal.conversation,
                request: &request,
                compaction,
            });
        }
    }

    fn compact(&mut self, compaction: Compaction) {
        let Some(compacting) = &mut self.history.compacting else {
            return;
        };
        let call = self.plan.context.call;
        let done = compacting.compact(compaction, &mut self.request, &mut self.stable_len);
        if let Some(compacted) = done {
            call.tell(&RunEvent::Compacted {
                call: call.id,
                compacted,
            });
        }
        if let Some(search) = &self.search {
            search.list(&mut self.request);
        }
    }
}

/// The tokens of an answer and of the prompt before it.
pub(super) fn counted_tokens(record: &AttemptRecord) -> Option<u64> {
    let usage = record.usage?;
    Some(usage.input?.saturating_add(usage.output?))
}

/// The same from a journal, whose figures are of all requests that led to the answer.
pub(super) fn used_tokens(usage: &Usage) -> Option<u64> {
    let is_of_one = usage.requests == 1;
    is_of_one.then(|| usage.input.known.saturating_add(usage.output.known))
}
