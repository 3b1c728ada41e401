//! A call at the gate of its endpoint, key and model: it passes at once, waits, or
//! does something else.
//!
//! In a map, every request passes the gate, and waits as long as the map does.
//! Outside of a map, a call waits only where its own stack made it wait already,
//! before a retry, and no longer than until a probe of another call is refused:
//! that counts as its own retry. Where several probes were refused, it fails at
//! once, unless its number of retries is stated. A call with a fallback model asks
//! that in place of waiting.

use std::sync::Arc;
use std::time::{Duration, Instant};

use llmnode_model::gate::{Entry, Gate, Gates, PaceTicket, RateLimits, Ticket};
use llmnode_model::{CallId, Category, Group, Retry};

use super::attempt_loop::{CallPlan, PlannedAttempt};
use super::context::CallContext;
use super::failure::Failure;
use super::not_asked::NotAsked;
use super::pass::{NotPassed, Passing, pass};
use crate::ledger::AttemptKind;
use crate::settings::{AtGate, Progress};

/// So many probes in a row that were refused keep single calls from waiting.
const HOPELESS: u32 = 2;

/// Of one call: the gate of the model that it asks, and the request that passed it.
#[derive(Default)]
pub(super) struct GateKeeper {
    gate: Option<Arc<Gate>>,
    ticket: Option<Ticket>,
    paced: Option<PaceTicket>,
    /// The message of the last rate limit, for when there is no further request.
    refusal: Option<Box<str>>,
    /// Since the last request, also before one that was then held back.
    waited: Duration,
}

/// What a call at a gate knows of itself.
pub(super) struct AtGateContext<'a> {
    pub(super) plan: &'a CallPlan<'a>,
    pub(super) one: &'a PlannedAttempt,
    pub(super) progress: &'a Progress<'a>,
}

/// What a call does at a gate that is closed.
enum AtClosedGate {
    /// It does not wait: its request goes out.
    Sends,
    /// It waits until it may enter.
    Waits,
    /// The same, but the refusal of another request ends the wait, and counts as its own retry.
    WaitsUntilRefused,
}

impl GateKeeper {
    /// Looked up once for each model.
    pub(super) fn set(&mut self, gate: impl FnOnce() -> Arc<Gate>) {
        self.gate.get_or_insert_with(gate);
    }

    /// Of an item of a map: whether nothing holds its request back.
    pub(super) fn enters_at_once(&mut self, context: &CallContext<'_>) -> bool {
        let (Some(gate), Some(item)) = (&self.gate, context.item) else {
            return false;
        };
        if item.control.has_stopped() {
            return false;
        }
        let now = context.core.clock.now();
        self.ticket = item.meet(gate, now).or_else(|| gate.enter(now));
        self.ticket.is_some()
    }

    /// Another model is asked.
    pub(super) fn forget(&mut self) {
        self.gate = None;
        self.ticket = None;
    }

    /// Counts a wait for the next request.
    pub(super) fn has_waited(&mut self, time: Duration) {
        self.waited = self.waited.saturating_add(time);
    }

    /// How long the next request has waited so far.
    pub(super) fn waited(&self) -> Duration {
        self.waited
    }

    /// A request has begun, whose record has its wait.
    pub(super) fn begun(&mut self) {
        self.waited = Duration::ZERO;
    }

    /// Waits as the handle's pace says.
    pub(super) async fn keep_pace(&mut self, gates: &Gates, prompt: u64, of: CallContext<'_>) {
        self.paced = None;
        if !gates.are_paced() {
            return;
        }
        let clock = &*of.core.clock;
        let now = clock.now();
        let Some(mut paced) = gates.take_pace(now, prompt) else {
            return;
        };
        let wait = paced.at().saturating_duration_since(now);
        if !wait.is_zero() {
            // Meanwhile, a map takes no node.
            let _waiting = self
                .gate
                .as_ref()
                .zip(of.item)
                .map(|(gate, item)| item.control.wait(gate));
            clock.sleep(wait).await;
            self.has_waited(wait);
        }
        paced.sent();
        self.paced = Some(paced);
    }

    /// Waits until the request may be sent. What costs least is looked at first,
    /// since most requests find the gate open:
    ///
    /// 1. In a map: is this gate asked no more, or does the item have its ticket
    ///    already, from a wait before its call?
    /// 2. Does the gate let it in at once? A slot in the line is only taken if not,
    ///    and asked once more: the gate may have opened in between.
    /// 3. What does this call do at a closed gate (`at_closed_gate`)? It may fail,
    ///    or be sent although the gate is closed.
    /// 4. It waits in line. Only this time is counted as a wait, and only here does
    ///    the map know that one of its calls waits.
    pub(super) async fn pass(&mut self, at: AtGateContext<'_>) -> Result<(), Failure> {
        let plan = at.plan;
        let Some(gate) = self.gate.clone() else {
            return Ok(());
        };
        let item = plan.context.item;
        let clock = &*plan.context.core.clock;
        let now = clock.now();
        if let Some(item) = item {
            if let Some(why) = item.control.dead(&gate) {
                return Err(not_asked(why));
            }
            self.ticket = item.meet(&gate, now);
            if self.ticket.is_some() {
                return Ok(());
            }
        }
        self.ticket = gate.enter(now);
        if self.ticket.is_some() {
            return Ok(());
        }
        let mut slot = gate.line_up(now);
        if let Entry::Enter(ticket) = slot.enter(now) {
            self.ticket = Some(ticket);
            return Ok(());
        }
        let until_refused = match self.at_closed_gate(&at, &gate, now)? {
            AtClosedGate::Sends => return Ok(()),
            AtClosedGate::Waits => false,
            AtClosedGate::WaitsUntilRefused => true,
        };
        if let Some(item) = item {
            item.set_in_line(true);
        }
        let passed = Box::pin(pass(Passing {
            gate: &gate,
            slot,
            clock,
            item,
            until_refused,
        }))
        .await;
        if let Some(item) = item {
            item.set_in_line(false);
        }
        let end = clock.now();
        self.has_waited(end.saturating_duration_since(now));
        match passed {
            Ok(ticket) => {
                self.ticket = Some(ticket);
                Ok(())
            }
            Err(NotPassed::GaveUp(why)) => Err(not_asked(why)),
            Err(NotPassed::Refused) => Err(self.refused(&gate, end)),
        }
    }

    /// What the call does at a gate that is closed. `Err`: it fails without a
    /// request, so that its stack decides what follows.
    fn at_closed_gate(
        &self,
        at: &AtGateContext<'_>,
        gate: &Gate,
        now: Instant,
    ) -> Result<AtClosedGate, Failure> {
        let AtGateContext {
            plan,
            one,
            progress,
        } = at;
        let is_limited = gate.is_limited();
        let in_map = plan.context.item.is_some();
        let is_retry = one.kind == AttemptKind::Retry;
        let stack = if is_limited {
            progress.at_gate()
        } else {
            AtGate::Waits
        };
        if stack == AtGate::OtherModel {
            let message = self
                .refusal
                .as_deref()
                .unwrap_or("a rate limit of the model is reached");
            let retry = Some(Retry::No);
            let failure = Failure::new(Category::RateLimitError, message);
            return Err(Failure {
                sent: false,
                retry,
                ..failure
            });
        }
        if in_map {
            // The map waits as long as it takes, but not where a fallback value is at hand.
            return Ok(match stack == AtGate::FallsBack && is_retry {
                true => AtClosedGate::WaitsUntilRefused,
                false => AtClosedGate::Waits,
            });
        }
        if is_limited && gate.failed_probes() >= HOPELESS && !progress.states_rate_limits() {
            return Err(Failure {
                retry: Some(Retry::No),
                ..self.refused(gate, now)
            });
        }
        let left = gate
            .closed_until()
            .map(|until| until.saturating_duration_since(now));
        let outlasts = left.is_some_and(|left| {
            let time = plan.context.limits.time_left(plan.context.deadline);
            left > progress.longest_wait()
                || time.is_some_and(|time| time.outlasted_by(left).is_some())
        });
        // In an outage, a call outside of a map does not wait: its own request
        // shows whether the outage is over.
        if !is_limited || outlasts {
            return Ok(AtClosedGate::Sends);
        }
        Ok(AtClosedGate::WaitsUntilRefused)
    }

    fn refused(&self, gate: &Gate, now: Instant) -> Failure {
        let before = self
            .refusal
            .as_deref()
            .unwrap_or("a rate limit of the model is reached");
        let message = format!("{before}; another request was refused meanwhile");
        let left = gate
            .closed_until()
            .map(|until| until.saturating_duration_since(now));
        let failure = Failure::new(Category::RateLimitError, message);
        Failure {
            sent: false,
            retry_after: left.filter(|left| !left.is_zero()),
            ..failure
        }
    }

    /// Tells the gate, and the map, how the request ended. `None`: it was answered.
    ///
    /// The map is told first, and of every failure. The gate is told only of
    /// requests that went out, and what it makes of them depends on the category: a
    /// rate limit closes it, an outage counts towards closing it, what the program
    /// ended says nothing of the endpoint, and all else is an answer, whatever it
    /// is worth.
    pub(super) fn report(&mut self, of: &Report<'_>) {
        let Report {
            plan,
            failure,
            call,
            unreached,
            longest_wait,
            ..
        } = *of;
        let ticket = self.ticket.take();
        if let (Some(paced), Some((total, output))) = (self.paced.take(), of.used) {
            paced.counted(total, output);
        }
        let Some(gate) = &self.gate else { return };
        let item = plan.context.item;
        let sent = ticket.as_ref().map(Ticket::sent);
        let clock = &*plan.context.core.clock;
        let Some(failure) = failure else {
            if !gate.answered_while_open(sent) {
                gate.answered(clock.now(), sent);
            }
            if let Some(limits) = of.limits {
                gate.limited(clock.now(), limits, of.used.map(|(total, _)| total));
            }
            if let Some(item) = item {
                item.control.note(gate, None);
                item.note(None);
            }
            return;
        };
        let now = clock.now();
        if let Some(item) = item {
            item.control
                .note(gate, Some((failure.category, &failure.message)));
            item.note(Some(now));
        }
        // Such as one that could not be recorded.
        if !failure.sent {
            return;
        }
        match failure.category {
            Category::RateLimitError => {
                self.refusal = Some(failure.message.as_str().into());
                // A provider that says so speaks of this request alone.
                if failure.retry != Some(Retry::No) {
                    gate.refused(now, sent, failure.retry_after, longest_wait);
                }
            }
            category if category.group() == Group::Transport => {
                gate.failed(now, sent, call, unreached)
            }
            category if category.group() == Group::Stop => {}
            _ => gate.answered(now, sent),
        }
    }
}

/// How a request ended.
pub(super) struct Report<'a> {
    pub(super) plan: &'a CallPlan<'a>,
    pub(super) failure: Option<&'a Failure>,
    pub(super) call: CallId,
    pub(super) unreached: bool,
    pub(super) longest_wait: Duration,
    /// The tokens of the request and of its answer, as the provider counts them.
    pub(super) used: Option<(u64, Option<u64>)>,
    /// What the answer says of limits.
    pub(super) limits: Option<RateLimits>,
}

pub(super) fn not_asked(why: NotAsked) -> Failure {
    let failure = Failure::new(why.category, &*why.message);
    Failure {
        sent: false,
        retry: Some(Retry::No),
        ..failure
    }
}
