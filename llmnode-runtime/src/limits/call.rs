//! The limits that concern one call.

use std::borrow::Cow;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use super::limits::Limits;
use super::meter::{Intent, Meter};
use super::refusal::{Refusal, Scope};
use super::reserve::Reservation;
use super::run::{LimitedNode, RunLimits};
use super::timer::Timer;
use crate::category::Category;
use crate::clock::Clock;
use crate::error::NodeError;
use crate::panics::lock;

/// The meters that concern one call: its own, its node's, those of the calls around it, and the run's.
pub(crate) struct CallLimits<'r> {
    /// Innermost first; empty where nothing is limited.
    pub(super) meters: Vec<Arc<Meter>>,
    pub(super) run: &'r RunLimits,
    pub(super) clock: &'r dyn Clock,
}

impl<'r> CallLimits<'r> {
    /// Begins a call of this name with limits of its own, within the call `around` it.
    ///
    /// # Errors
    /// A `config_error`, if a limit or a price is absurd.
    pub(crate) fn begin(
        name: Cow<'static, str>,
        node: LimitedNode,
        own: Limits,
        around: Option<&CallLimits<'_>>,
        run: &'r RunLimits,
        clock: &'r dyn Clock,
    ) -> Result<Self, NodeError> {
        if run.ignored {
            return Ok(CallLimits { meters: Vec::new(), run, clock });
        }
        let own = (!own.is_empty())
            .then(|| Arc::new(Meter::new(Scope::Call(name), own, Timer::Clock(Some(clock.now())))));
        let mut meters: Vec<_> = own.into_iter().chain(run.node(node)).collect();
        match around {
            // A node may call nodes of its own type: each meter counts a request once.
            Some(around) => around.meters.iter().for_each(|meter| {
                if !meters.iter().any(|known| Arc::ptr_eq(known, meter)) {
                    meters.push(Arc::clone(meter));
                }
            }),
            None => meters.extend(run.run.clone()),
        }
        let limits = CallLimits { meters, run, clock };
        NodeError::refuse(limits.faults())?;
        Ok(limits)
    }

    fn faults(&self) -> Vec<String> {
        let of = |meter: &Arc<Meter>| match meter.limits.faults().as_slice() {
            [] => None,
            faults => Some(format!("of the limits for {}, {}", meter.scope, faults.join("; "))),
        };
        let prices = self.run.prices.fault().map(|fault| format!("in the table of prices, {fault}"));
        self.meters.iter().filter_map(of).chain(prices).collect()
    }

    /// Reserves for one request with every meter, or says why the request may not be begun. `prompt` is the estimate
    /// of its tokens; `names` are those of the model, the surest first.
    pub(crate) fn reserve<'c>(
        &'c self,
        prompt: u64,
        max_tokens: Option<u32>,
        names: [Option<&'c str>; 3],
    ) -> Result<Reservation<'c>, (Category, String)> {
        if self.meters.is_empty() {
            return Ok(Reservation::new(self, Vec::new(), names));
        }
        let known = || names.iter().flatten().copied();
        let intent = Intent {
            prompt,
            max_tokens,
            model: known().next(),
            price: known().find_map(|name| self.run.prices.of(name)),
        };
        let gate = lock(&self.run.gate);
        // Later than the gate, so that no time is before that of a request which went first.
        let now = self.clock.now();
        for meter in &self.meters {
            if let Some(refusal) = meter.refusal(now, intent) {
                return Err((refusal.category(), refusal.message(&meter.scope)));
            }
        }
        let holds = self.meters.iter().map(|meter| meter.reserve(now, intent)).collect();
        drop(gate);
        Ok(Reservation::new(self, holds, names))
    }

    /// Awaits an attempt as long as time is left; `Err`: it was cut, and why.
    pub(crate) async fn in_time<F: Future>(&self, mut attempt: Pin<&mut F>) -> Result<F::Output, String> {
        let Some(TimeLeft { left, meter }) = self.time_left() else { return Ok(attempt.await) };
        // A time that the clock cannot count to is none.
        let Some(end) = self.clock.now().checked_add(left) else { return Ok(attempt.await) };
        let mut late = self.clock.until(end);
        poll_fn(|cx| match attempt.as_mut().poll(cx) {
            Poll::Ready(outcome) => Poll::Ready(Ok(outcome)),
            Poll::Pending => late
                .as_mut()
                .poll(cx)
                .map(|()| Err(Refusal::Late(meter.limits.time.unwrap_or_default()).message(&meter.scope))),
        })
        .await
    }

    /// The time left, by the limit that leaves the least; `None`: without bound.
    pub(crate) fn time_left(&self) -> Option<TimeLeft<'_>> {
        if self.meters.is_empty() {
            return None;
        }
        let now = self.clock.now();
        let timed = self.meters.iter().filter_map(|meter| Some(TimeLeft { left: meter.left(now)?, meter }));
        timed.min_by_key(|time| time.left)
    }
}

/// The time left for a call.
#[derive(Clone, Copy)]
pub(crate) struct TimeLeft<'m> {
    left: Duration,
    meter: &'m Meter,
}

impl TimeLeft<'_> {
    /// What is wrong with a wait that leaves no time for a request.
    pub(crate) fn outlasted_by(&self, wait: Duration) -> Option<String> {
        (wait >= self.left).then(|| {
            format!(
                "the wait of {wait:.1?} would outlast the {:.1?} left for {}",
                self.left, self.meter.scope
            )
        })
    }
}
