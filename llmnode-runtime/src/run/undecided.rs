//! Items of a map that failed when nobody could tell yet whether the server is
//! down.
//!
//! An outage is known when several calls in a row got no answer. The first of them
//! may have used up its attempts by then: as its own fault, the failure stays; of
//! an outage, the item is put back. So it stands aside until others have told: the
//! gate closes, or a request that was sent later is answered. Meanwhile its place
//! in flight is free. If no other item is left to tell, the failure stays.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use futures_util::future::select;
use llmnode_model::gate::Gate;
use tokio::sync::Notify;

/// One more failure in a row is an outage.
const MOST: usize = 2;

#[derive(Default)]
pub(super) struct Undecided {
    count: AtomicUsize,
    /// No other item is left to tell.
    given_up: Notify,
}

impl Undecided {
    /// How many items stand aside.
    pub(super) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Waits until it is known whether the server of this gate is down. `since`:
    /// when the call began.
    pub(super) async fn wait(&self, gate: &Arc<Gate>, since: Instant) {
        if self.count() >= MOST {
            return;
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        let _aside = AsideGuard(self);
        let given_up = pin!(self.given_up.notified());
        let told = async {
            loop {
                // Before it is read, so that no change is missed.
                let changed = gate.changed();
                if !gate.may_be_down(since) {
                    break;
                }
                changed.await;
            }
        };
        select(given_up, pin!(told)).await;
    }

    /// All calls in flight stand aside, and no other item comes: their failures
    /// stay. Returns whether there are any.
    pub(super) fn give_up(&self, in_flight: usize) -> bool {
        let is_alone = self.count() > 0 && self.count() == in_flight;
        if is_alone {
            self.given_up.notify_waiters();
        }
        is_alone
    }
}

/// An item that stands aside.
struct AsideGuard<'u>(&'u Undecided);

impl Drop for AsideGuard<'_> {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::Relaxed);
    }
}
