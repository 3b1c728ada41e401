//! A conversation that is too long is compacted before its next request: as a
//! journal says, or as the rules of the node do.
//!
//! What a journal has is done again first, whatever the rules say now: the answer
//! that follows in the journal is one to the shortened conversation. Then comes
//! what an earlier turn of the chat has paid for, and only then is it asked whether
//! more is due.

use std::sync::Arc;

use super::ModelAttempts;
use crate::error::NodeError;
use crate::ledger::{Compaction, CompactionStep, RunEvent};
use crate::run::compaction::{Due, Summary, ToSumUp, Transcript};

impl ModelAttempts<'_, '_> {
    /// Does again what an earlier process did before this request.
    pub(super) fn replay_compactions(&mut self) {
        if self.history.compacting.is_none() {
            return;
        }
        while let Some(compaction) = self.journaled_compaction() {
            if let Some(compacting) = &mut self.history.compacting {
                compacting.forget_offered();
            }
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
    pub(super) fn turn_name(&mut self) -> Option<Arc<str>> {
        let journal = self.journal.as_mut()?;
        let recorder = self.plan.context.call.recorder()?;
        let request = &self.request;
        let target = &self.target;
        let name = journal
            .turn
            .get_or_insert_with(|| recorder.name(request, target.names(request)).into());
        Some(Arc::clone(name))
    }

    /// Compacts the conversation if it is time. The journal has it before the
    /// request goes out: it is written with its attempt. A chat has a summary
    /// before it, too, since the request may fail.
    pub(super) async fn compact_if_due(&mut self) -> Result<(), NodeError> {
        self.do_offered();
        let mut due = self.due();
        if let Some(Due::Summary(task)) = due {
            match self.sum_up(&task).await {
                Ok(compaction) => due = Some(Due::Edits(compaction)),
                Err(why) => {
                    let call = self.plan.context.call;
                    tracing::warn!(
                        target: "llmnode::call", node = &**call.node(), call = %call.id,
                        "the conversation was not summed up, and stays as it is: {why}"
                    );
                    if let Some(compacting) = &mut self.history.compacting {
                        compacting.summary_failed(&self.request, why);
                    }
                    // Where the window is full, results are left out at least.
                    due = self.due();
                }
            }
        }
        if let Some(Due::Edits(compaction)) = due {
            let is_summary = compaction.step == CompactionStep::Summary;
            self.note_compaction(&compaction);
            self.compact(compaction);
            if is_summary {
                self.keep_turn(None).await?;
            }
        }
        Ok(())
    }

    /// Does what an earlier turn of the chat did to the history and paid for,
    /// though it has no answer.
    fn do_offered(&mut self) {
        loop {
            let Some(compacting) = &mut self.history.compacting else {
                return;
            };
            let Some(offered) = compacting.take_offered(self.stable_len) else {
                return;
            };
            self.note_compaction(&offered);
            self.compact(offered);
        }
    }

    fn due(&self) -> Option<Due> {
        let compacting = self.history.compacting.as_ref()?;
        let prices = &self.plan.context.core.limits.prices;
        let window = self
            .target
            .window(&self.request, &self.plan.settings, prices);
        compacting.due(&self.request, self.stable_len, window)
    }

    /// Has each piece of a part summed up, one after the other. `Err`: why there is no summary.
    async fn sum_up(&self, task: &ToSumUp) -> Result<Compaction, String> {
        let Some(compacting) = &self.history.compacting else {
            return Err(String::new());
        };
        let mut summary = Summary::default();
        for piece in &task.pieces {
            let part = Transcript::of(piece);
            let context = &self.plan.context;
            let sources = task.sources.of_part(piece);
            let Some(summing_up) = self.node.sum_up(part, sources, context) else {
                return Err(String::new());
            };
            let of_piece = summing_up.await.map_err(|error| error.to_string())?;
            summary.extend(of_piece);
        }
        compacting.summed_up(task, &summary, &self.request, self.stable_len)
    }

    fn note_compaction(&mut self, compaction: &Compaction) {
        let Some(request) = self.turn_name() else {
            return;
        };
        if let Some(journal) = &self.journal {
            self.plan.context.call.emit(&RunEvent::CompactionPlanned {
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
            call.emit(&RunEvent::Compacted {
                call: call.id,
                compacted,
            });
        }
        if let Some(search) = &self.search {
            search.list(&mut self.request);
        }
    }
}
