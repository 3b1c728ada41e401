//! Whether a resumed map asks for what its journal has, or for everything anew.
//!
//! A word changed in a prompt makes every request another one, and a map pays for
//! all of them again. So its first calls look into the journal before any of them
//! asks. One that finds its answer settles it. If all of them wait here, none did.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use llmnode_model::Category;
use llmnode_model::internal::lock;
use tokio::sync::Notify;

use super::not_asked::NotAsked;
use crate::ledger::Recorder;

pub(super) struct ChangeCheck {
    allows_changes: bool,
    is_settled: AtomicBool,
    /// Everything is asked anew, and the journal does not know it yet.
    is_changed: AtomicBool,
    state: Mutex<State>,
    settled: Notify,
}

#[derive(Default)]
struct State {
    /// Calls whose request the journal has no answer to.
    waiting: usize,
    /// What the answers used.
    figures: String,
    refused: Option<NotAsked>,
}

impl ChangeCheck {
    pub(super) fn new(allows_changes: bool) -> Self {
        let is_settled = AtomicBool::new(false);
        let is_changed = AtomicBool::new(false);
        ChangeCheck {
            allows_changes,
            is_settled,
            is_changed,
            state: Mutex::default(),
            settled: Notify::new(),
        }
    }

    pub(super) fn is_settled(&self) -> bool {
        self.is_settled.load(Ordering::Relaxed)
    }

    /// Also where a call found its answer.
    pub(super) fn settle(&self) {
        self.is_settled.store(true, Ordering::Relaxed);
        self.settled.notify_waiters();
    }

    /// The journal has no answer to a request. `Some`: why it is not asked.
    pub(super) async fn missed(&self, recorder: &dyn Recorder) -> Option<NotAsked> {
        let mut waiting = None;
        loop {
            // Before it is read whether that is settled, so that no change of it is missed.
            let settled = self.settled.notified();
            if self.is_settled() {
                break;
            }
            let Some(figures) = recorder.unmatched() else {
                self.settle();
                break;
            };
            if waiting.is_none() {
                let state = &mut *lock(&self.state);
                state.waiting += 1;
                state.figures = figures;
                waiting = Some(Waiting(self));
            }
            settled.await;
            // The first one to go on, before it asks.
            if self.is_changed.swap(false, Ordering::Relaxed) {
                recorder.drop_answers();
            }
        }
        lock(&self.state).refused.clone()
    }

    /// Settles it, if all calls in flight wait for it. `Err`: nothing is asked.
    pub(super) fn decide(&self, in_flight: usize) -> Option<Result<(), NotAsked>> {
        if self.is_settled() {
            return None;
        }
        let state = &mut *lock(&self.state);
        if state.waiting == 0 || state.waiting < in_flight {
            return None;
        }
        if !self.allows_changes {
            state.refused = Some(state.refusal());
        }
        self.is_changed
            .store(self.allows_changes, Ordering::Relaxed);
        self.settle();
        Some(state.refused.clone().map_or(Ok(()), Err))
    }
}

impl State {
    fn refusal(&self) -> NotAsked {
        let message = format!(
            "the journal has {}, and none of the map's first {} requests is among those it answers, as after a changed prompt, \
             model or setting; nothing was sent. Take the change back, ask everything anew with `.allow_changes()`, or use \
             another journal",
            self.figures, self.waiting
        );
        NotAsked {
            category: Category::ConfigError,
            message: message.into(),
        }
    }
}

struct Waiting<'c>(&'c ChangeCheck);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).waiting -= 1;
    }
}
