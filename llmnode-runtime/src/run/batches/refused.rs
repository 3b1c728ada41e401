//! A batch that was refused as a whole, after its creation.

use std::sync::Arc;

use llmnode_model::Category;
use llmnode_model::batch::BatchRefusal;

use super::batch::Batch;
use super::parked::{Failed, FailedCost, LineOutcome};

impl Batch {
    /// A batch that was refused as a whole cost nothing.
    pub(super) async fn refused(&mut self, refusal: &BatchRefusal) {
        self.note_end(false).await;
        let message = format!("the batch {} was refused: {}", self.id, refusal.message);
        if refusal.is_full {
            let in_queue = self.in_queue.take();
            // Without a place: lines that asked for it later. Their next order has one.
            if !in_queue.is_none_or(|place| place.was_refused(self.lines)) {
                let failed = Failed::new(Category::RateLimitError, message, FailedCost::Nothing);
                return self.fail_all(&failed);
            }
            match self.pool.api.once {
                true => self.pause_refused_again(&message),
                false => _ = self.pause_for_calls(self.pool.api.wait_before(0)).await,
            }
            return self.again();
        }
        let failed = Failed::new(Category::BadRequest, message, FailedCost::Nothing);
        if !self.fail_refused_lines(refusal) {
            return self.fail_all(&failed);
        }
        // Those that were refused with others before would go round for ever.
        let ids: Vec<Arc<str>> = self.waiting.keys().cloned().collect();
        for id in self.pool.refused_before(ids) {
            if let Some(line) = self.waiting.remove(&id) {
                line.ends(LineOutcome::Failed(failed.clone()));
            }
        }
        self.again();
    }

    /// A process that does not wait sends each line of a full queue a second time, in a smaller order if that was the reason, and
    /// leaves those that are refused again to a later one.
    fn pause_refused_again(&mut self, message: &str) {
        let message =
            format!("{message}; start the map again with the same journal to send it again");
        let failed = Failed::new(Category::Paused, message, FailedCost::Unsent);
        let ids: Vec<Arc<str>> = self.waiting.keys().cloned().collect();
        for id in self.pool.refused_before(ids) {
            if let Some(line) = self.waiting.remove(&id) {
                line.ends(LineOutcome::Failed(failed.clone()));
            }
        }
    }

    /// Returns whether the rest is worth another order. Of a batch of another process it is not known which lines are meant: the
    /// order of this process tells.
    fn fail_refused_lines(&mut self, refusal: &BatchRefusal) -> bool {
        if self.place.is_some() {
            return !refusal.lines.is_empty();
        }
        let mut has_removed = false;
        for (at, fault) in &refusal.lines {
            let Some(id) = self.order.get(*at) else {
                continue;
            };
            has_removed = true;
            if let Some(line) = self.waiting.remove(id) {
                let message = format!("the batch {} was refused for this line: {fault}", self.id);
                let failed = Failed::new(Category::BadRequest, message, FailedCost::Nothing);
                line.ends(LineOutcome::Failed(failed));
            }
        }
        has_removed
    }
}
