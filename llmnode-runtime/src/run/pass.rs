//! Waiting at a gate for one's turn.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

use llmnode_model::gate::{Entry, Gate, Slot, Ticket};

use super::map_control::Waiting;
use super::map_item::MapItem;
use super::not_asked::NotAsked;
use crate::clock::Clock;

pub(super) struct Passing<'p> {
    pub(super) gate: &'p Arc<Gate>,
    /// Its place in the line.
    pub(super) slot: Slot,
    pub(super) clock: &'p dyn Clock,
    pub(super) item: Option<&'p MapItem<'p>>,
    /// Whether the refusal of another request ends the wait.
    pub(super) until_refused: bool,
}

pub(super) enum NotPassed {
    Refused,
    GaveUp(NotAsked),
}

/// Waits for its turn.
pub(super) async fn pass(passing: Passing<'_>) -> Result<Ticket, NotPassed> {
    let Passing {
        gate,
        mut slot,
        clock,
        item,
        until_refused,
    } = passing;
    let closings = gate.closings();
    let mut waiting: Option<Waiting<'_>> = None;
    loop {
        let changed = gate.changed();
        let now = clock.now();
        if until_refused && gate.closings() != closings {
            return Err(NotPassed::Refused);
        }
        let entry = slot.enter(now);
        if let Entry::Enter(ticket) = entry {
            return Ok(ticket);
        }
        let mut give_up_at = None;
        if let Some(item) = item {
            let is_closed = gate.closed_until().is_some();
            give_up_at = item
                .control
                .give_up_at(now, is_closed)
                .map_err(NotPassed::GaveUp)?;
            waiting.get_or_insert_with(|| item.control.wait(gate));
        }
        let no_later = |time: Instant| give_up_at.map_or(time, |end| time.min(end));
        match entry {
            Entry::At(time) => {
                clock
                    .sleep(no_later(time).saturating_duration_since(now))
                    .await
            }
            Entry::Probed(time) => {
                let mut changed = pin!(changed);
                let mut late = clock.until(no_later(time));
                poll_fn(|cx| match changed.as_mut().poll(cx) {
                    Poll::Ready(()) => Poll::Ready(()),
                    Poll::Pending => late.as_mut().poll(cx),
                })
                .await;
            }
            Entry::Enter(_) => {}
        }
    }
}

/// Waits before the next call of an item while its gate is closed: no deadline runs
/// meanwhile. Where the map gives up, the call itself fails for that, or falls
/// back.
pub(super) async fn wait_before_call(item: &MapItem<'_>) {
    let Some(gate) = item.gate().filter(|gate| gate.closed_until().is_some()) else {
        return;
    };
    let clock = item.control.clock();
    let slot = gate.line_up(clock.now());
    let passing = Passing {
        gate: &gate,
        slot,
        clock,
        item: Some(item),
        until_refused: false,
    };
    if let Ok(ticket) = pass(passing).await {
        item.keep(ticket);
    }
}
