//! The limits that concern one call.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use llmnode_model::internal::lock;

use super::deadline::{Deadline, TimeLeft};
use super::limits::Limits;
use super::meter::{Capacity, Hold, Intent, Meter, QueueTicket};
use super::prior_spend::PriorSpend;
use super::refusal::{Refusal, Scope};
use super::run::{LimitedNode, RunLimits};
use crate::clock::{Clock, timeout_at};
use crate::error::NodeError;

const REQUESTS: u64 = 100;

const TOOL_CALLS: u64 = 200;

/// The meters that concern one call: its own, its node's, those of the calls around it, and the run's.
pub struct CallLimits<'r> {
    /// Innermost first; empty where nothing is limited.
    pub(super) meters: Vec<Arc<Meter>>,
    pub(super) run: &'r RunLimits,
    pub(super) clock: &'r dyn Clock,
}

#[derive(Clone)]
pub(crate) struct MapLimits(Arc<Meter>);

impl MapLimits {
    pub(crate) fn new(limits: Limits) -> Option<Self> {
        (!limits.is_empty()).then(|| MapLimits(Arc::new(Meter::new(Scope::Map, limits))))
    }

    pub(crate) fn add_prior_spend(&self, spent: &PriorSpend) {
        self.0.add_prior_spend(&spent.all);
    }
}

impl<'r> CallLimits<'r> {
    pub(crate) fn begin(
        name: &str,
        node: LimitedNode,
        own: Limits,
        around: Option<&CallLimits<'_>>,
        run: &'r RunLimits,
        clock: &'r dyn Clock,
    ) -> Result<Self, NodeError> {
        if run.ignored {
            return Ok(CallLimits {
                meters: Vec::new(),
                run,
                clock,
            });
        }
        let named = run.named(name);
        let own = (!own.is_empty())
            .then(|| Arc::new(Meter::new(Scope::Call(name.to_owned().into()), own)));
        let mut meters = Vec::new();
        meters.extend(own);
        meters.extend(named);
        meters.extend(run.node(node));
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

    /// The limits around each call of a flow: its own, then those around it. `requests` is the limit of requests if nothing
    /// else sets one.
    ///
    /// # Errors
    /// A `config_error`, if a limit is invalid.
    pub fn of_flow(
        name: Cow<'static, str>,
        (own, requests): (Limits, Option<u64>),
        around: Option<&CallLimits<'_>>,
        (run, clock): (&'r RunLimits, &'r dyn Clock),
    ) -> Result<Self, NodeError> {
        let around = around.map_or_else(|| run.run.as_slice(), |around| &around.meters);
        let stated = around.iter().any(|meter| meter.limits.requests.is_some());
        let requests = own.requests.or(requests.filter(|_| !stated));
        let own = Arc::new(Meter::new(Scope::Flow(name), Limits { requests, ..own }));
        let meters = [own]
            .into_iter()
            .chain(around.iter().cloned())
            .filter(|_| !run.ignored)
            .collect();
        let limits = CallLimits { meters, run, clock };
        NodeError::refuse(limits.faults())?;
        Ok(limits)
    }

    /// Counts what was spent on this flow before it was resumed.
    pub fn add_prior_spend(&self, prior_spend: &PriorSpend) {
        if let Some(own) = self.meters.first() {
            own.add_prior_spend(&prior_spend.all);
        }
    }

    pub(crate) fn for_map_call(
        MapLimits(own): &MapLimits,
        around: Option<&CallLimits<'_>>,
        run: &'r RunLimits,
        clock: &'r dyn Clock,
    ) -> Self {
        let ignored = run.ignored;
        let own = [Arc::clone(own)];
        let others = around.map_or_else(|| run.run.as_slice(), |around| &around.meters);
        let meters = own
            .into_iter()
            .chain(others.iter().cloned())
            .filter(|_| !ignored)
            .collect();
        CallLimits { meters, run, clock }
    }

    pub(crate) fn of_agent(&self, name: Cow<'static, str>) -> CallLimits<'r> {
        let stated = |figure: fn(&Limits) -> Option<u64>| {
            self.run.ignored
                || self
                    .meters
                    .iter()
                    .any(|meter| figure(&meter.limits).is_some())
        };
        let ceilings = Limits {
            requests: (!stated(|limits| limits.requests)).then_some(REQUESTS),
            tool_calls: (!stated(|limits| limits.tool_calls)).then_some(TOOL_CALLS),
            ..Limits::new()
        };
        let own = (!ceilings.is_empty()).then(|| Arc::new(Meter::new(Scope::Call(name), ceilings)));
        let meters = own.into_iter().chain(self.meters.iter().cloned()).collect();
        CallLimits {
            meters,
            run: self.run,
            clock: self.clock,
        }
    }

    pub(crate) fn charge_tools(&self, count: usize) -> Result<(), String> {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        let _gate = lock(&self.run.gate);
        for meter in &self.meters {
            if let Some(refusal) = meter.check_tools(count) {
                return Err(refusal.message(&meter.scope));
            }
        }
        self.meters.iter().for_each(|meter| meter.add_tools(count));
        Ok(())
    }

    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for meter in &self.meters {
            let of = meter.faults();
            if !of.is_empty() {
                faults.push(format!(
                    "in the limits for {}, {}",
                    meter.scope,
                    of.join("; ")
                ));
            }
        }
        if let Some(fault) = self.run.prices.fault() {
            faults.push(format!("in the table of prices, {fault}"));
        }
        faults
    }

    /// All meters or none.
    pub(super) fn holds(
        &self,
        intent: Intent<'_>,
        ticket: Option<&QueueTicket<'_>>,
    ) -> Result<Vec<Hold>, (&Meter, Capacity)> {
        let _gate = lock(&self.run.gate);
        // Read under the gate, so that no time is before that of an earlier request.
        let now = self.clock.now();
        for meter in &self.meters {
            let queued = ticket.is_some_and(|ticket| ticket.is_for(meter));
            match meter.capacity(now, intent, queued) {
                Capacity::Free => {}
                capacity => return Err((meter, capacity)),
            }
        }
        Ok(self
            .meters
            .iter()
            .map(|meter| meter.reserve(now, intent))
            .collect())
    }

    pub(crate) fn begin_time(&self) {
        if let Some((_, meter)) = self.run_time() {
            meter.begin_time(self.clock.now());
        }
    }

    pub(crate) async fn in_time<F: Future>(&self, attempt: F) -> Result<F::Output, String> {
        let Some((left, meter)) = self.run_time() else {
            return Ok(attempt.await);
        };
        // A time beyond the range of the clock is no limit.
        let Some(end) = self.clock.now().checked_add(left) else {
            return Ok(attempt.await);
        };
        timeout_at(self.clock, end, attempt).await.ok_or_else(|| {
            Refusal::Late(meter.limits.time.unwrap_or_default()).message(&meter.scope)
        })
    }

    pub(crate) fn time_left(&self, deadline: Option<&Deadline>) -> Option<TimeLeft> {
        let run = self.run_time().map(|(left, _)| TimeLeft {
            left,
            scope: Scope::Run,
        });
        let call = deadline.map(|deadline| deadline.left(self.clock.now()));
        run.into_iter().chain(call).min_by_key(|time| time.left)
    }

    fn run_time(&self) -> Option<(Duration, &Meter)> {
        let meter = self
            .meters
            .iter()
            .find(|meter| meter.limits.time.is_some())?;
        Some((meter.left(self.clock.now())?, meter))
    }
}
