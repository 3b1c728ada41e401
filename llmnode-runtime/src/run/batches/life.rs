//! The life of a batch once it is created: looked at until it has ended, read, and noted as ended.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use llmnode_model::batch::{BatchStatus, BatchWire};

use super::batch::{Batch, wait_for_quiet};

impl Batch {
    /// Reads results until nobody asks for more.
    pub(super) async fn run(mut self, age: Duration) {
        let end = self.end_of_time(age);
        let mut status = None;
        loop {
            let before = self.pool.quiet();
            self.take_attached();
            self.forget_gone();
            if self.waiting.is_empty() {
                // All who asked are gone: what others send must not wait for its place.
                self.in_queue = None;
            } else {
                let ended_status = match status.take() {
                    Some(ended_status) => Some(ended_status),
                    None => self.until_ended(end).await,
                };
                self.in_queue = None;
                if let Some(ended_status) = ended_status {
                    self.read(&ended_status, end).await;
                    status = Some(ended_status);
                }
            }
            // Of a batch of this process, nobody will ask for more. One that an earlier process left may be asked again.
            if self.place.is_none() || self.pool.is_over() {
                break;
            }
            wait_for_quiet(&self.pool, before).await;
        }
        self.pool.batch_ends();
        if let Some(status) = status.filter(|status| status.has_ended) {
            self.end(&status).await;
        }
    }

    /// What it brought up is in the journal, and then that it has ended. Its files go when the map has ended.
    async fn end(&self, status: &BatchStatus) {
        let before = self.pool.quiet();
        wait_for_quiet(&self.pool, before).await;
        // What nobody asked for, or read, is kept for a later process: see `unused`.
        if self.place.is_some_and(|place| self.pool.has_unused(place)) || self.unread.get() {
            return;
        }
        if !self.note_end(true).await {
            return;
        }
        poll_fn(|_| match self.pool.is_over() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
        if !self.pool.api.keeps_files {
            delete_files(&*self.wire, &self.id, &status.files).await;
        }
    }
}

/// `batch`: a name of it for the warning.
pub(super) async fn delete_files(wire: &dyn BatchWire, batch: &str, files: &[String]) {
    if !files.is_empty()
        && let Err(error) = wire.delete(files).await
    {
        tracing::warn!(target: "llmnode::batch", batch, "its files were not deleted, and expire by themselves: {error}");
    }
}
