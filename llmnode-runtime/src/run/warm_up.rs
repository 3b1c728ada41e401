//! Whether the first item of a map goes alone, so that the others read from the
//! provider's cache what it has written.
//!
//! Items that go out at once each write what they share, or pay its full price. One
//! that goes first writes it for all. That costs the time until its answer begins,
//! so by default it is done only in maps that are many times as long, and only
//! where the model says that something is kept. Nodes that are only code never
//! begin alone. The wait ends when the first answer begins, when the first item
//! fails, or after [`PATIENCE`]. Other items are not taken meanwhile, so that it
//! counts for none of their deadlines.

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

/// No first request is waited for longer.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// With fewer items for each place, a map gets slower by more than the cache saves.
const LEAST_ROUNDS: usize = 10;

const OPEN: u8 = 0;
/// The first item is taken alone; nobody knows yet whether anything is kept.
const ALONE: u8 = 1;
/// Its request is under way.
const WAITING: u8 = 2;

pub(super) struct WarmUp {
    state: AtomicU8,
    /// The program wants it, whatever the model says.
    is_forced: bool,
}

impl WarmUp {
    /// `setting`: what the program says. `items`: how many there are, if that is
    /// known. `places`: how many run at once.
    pub(super) fn new(setting: Option<bool>, items: Option<usize>, places: usize) -> Self {
        let is_long = items.is_some_and(|items| items >= places.saturating_mul(LEAST_ROUNDS));
        let begins_alone = setting.unwrap_or(is_long);
        WarmUp {
            state: AtomicU8::new(if begins_alone { ALONE } else { OPEN }),
            is_forced: setting == Some(true),
        }
    }

    /// Whether no other item is taken.
    pub(super) fn holds(&self) -> bool {
        self.state.load(Ordering::Relaxed) != OPEN
    }

    /// The first request is about to be sent. `keeps`: whether what it shares with others is kept.
    pub(super) fn asks(&self, keeps: impl FnOnce() -> bool) {
        if self.state.load(Ordering::Relaxed) != ALONE {
            return;
        }
        let state = if self.is_forced || keeps() {
            WAITING
        } else {
            OPEN
        };
        self.state.store(state, Ordering::Relaxed);
    }

    pub(super) fn end(&self) {
        self.state.store(OPEN, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_maps_begin_with_one_item_unless_the_program_says_so() {
        let holds = |setting, items| WarmUp::new(setting, items, 8).holds();
        assert!(!holds(None, None) && !holds(None, Some(79)) && holds(None, Some(80)));
        assert!(holds(Some(true), Some(2)) && !holds(Some(false), Some(800)));
    }

    #[test]
    fn where_nothing_is_kept_it_ends_at_once() {
        let warm_up = WarmUp::new(None, Some(80), 8);
        warm_up.asks(|| false);
        assert!(!warm_up.holds());
        let warm_up = WarmUp::new(None, Some(80), 8);
        warm_up.asks(|| true);
        assert!(warm_up.holds());
        warm_up.end();
        assert!(!warm_up.holds());
    }
}
