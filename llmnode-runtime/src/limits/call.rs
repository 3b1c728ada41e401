//! The limits that concern one call, and how a call comes to them.
//!
//! Meters stand innermost first: the call's own, those of its node, those of what
//! is around it (an agent, a flow, a map), and the run's. A request counts at each
//! of them, once.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use llmnode_model::internal::lock;

use super::deadline::{Deadline, TimeLeft};
use super::limits::Limits;
use super::meter::{Capacity, Hold, Intent, Meter, QueueTicket};
use super::prior_spend::PriorSpend;
use super::refusal::{Refusal, Scope};
use super::run::{LimitedNode, RunLimits};
use crate::clock::{Clock, timeout_at};
use crate::error::NodeError;

/// The most requests of an agent for which no limit of requests is set anywhere: a
/// loop must end, also if nobody thought of it. Who writes more turns has thought of
/// it, and gets [`REQUESTS_OF_A_TURN`] for each.
const REQUESTS: u64 = 100;
/// Some turns are asked again, and its nodes make requests, too.
const REQUESTS_OF_A_TURN: u64 = 2;
/// So many calls of tools for each of these requests: one answer may have several.
const TOOL_CALLS_OF_A_REQUEST: u64 = 2;

/// The meters that concern one call: its own, its node's, those of the calls around
/// it, and the run's.
pub struct CallLimits<'r> {
    /// Innermost first; empty where nothing is limited.
    pub(super) meters: Vec<Arc<Meter>>,
    pub(super) run: &'r RunLimits,
    pub(super) clock: &'r dyn Clock,
}

/// The limits of a map, which all of its calls share.
#[derive(Clone)]
pub(crate) struct MapLimits {
    meter: Arc<Meter>,
}

impl MapLimits {
    /// `None`: nothing is limited.
    pub(crate) fn new(limits: Limits) -> Option<Self> {
        if limits.is_empty() {
            return None;
        }
        let meter = Arc::new(Meter::new(Scope::Map, limits));
        Some(MapLimits { meter })
    }

    /// Counts what was spent on this map before it was resumed.
    pub(crate) fn add_prior_spend(&self, spent: &PriorSpend) {
        self.meter.add_prior_spend(&spent.all);
    }
}

/// When the time of a run is over, and whose time it is.
pub(crate) struct EndOfTime<'a> {
    pub(crate) at: Instant,
    meter: &'a Meter,
}

impl EndOfTime<'_> {
    /// Says that it is over.
    pub(crate) fn message(&self) -> String {
        let time = self.meter.limits.time.unwrap_or_default();
        Refusal::Late(time).message(&self.meter.scope)
    }
}

impl<'r> CallLimits<'r> {
    /// The limits of a call that begins. `limits`: those that the call itself sets.
    ///
    /// # Errors
    /// A `config_error`, if any limit that concerns the call is invalid.
    pub(crate) fn begin(
        name: &str,
        node: LimitedNode,
        limits: Limits,
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
        let mut meters = Vec::new();
        if !limits.is_empty() {
            let scope = Scope::Call(name.to_owned().into());
            meters.push(Arc::new(Meter::new(scope, limits)));
        }
        meters.extend(run.named(name));
        meters.extend(run.node(node));
        for meter in meters_around(around, run) {
            // A node may call nodes of its own type: each meter counts a request once.
            let is_listed = meters.iter().any(|listed| Arc::ptr_eq(listed, meter));
            if !is_listed {
                meters.push(Arc::clone(meter));
            }
        }
        let limits = CallLimits { meters, run, clock };
        NodeError::refuse(limits.faults())?;
        Ok(limits)
    }

    /// The limits around each call of a flow: its own, then those around it.
    /// `default_requests` is the limit of requests if nothing else sets one.
    ///
    /// # Errors
    /// A `config_error`, if a limit is invalid.
    pub fn of_flow(
        name: Cow<'static, str>,
        mut limits: Limits,
        default_requests: Option<u64>,
        around: Option<&CallLimits<'_>>,
        run: &'r RunLimits,
        clock: &'r dyn Clock,
    ) -> Result<Self, NodeError> {
        let around = meters_around(around, run);
        let is_limited = around.iter().any(|meter| meter.limits.requests.is_some());
        if limits.requests.is_none() && !is_limited {
            limits.requests = default_requests;
        }
        let innermost = Arc::new(Meter::new(Scope::Flow(name), limits));
        let limits = CallLimits {
            meters: unless_ignored(innermost, around, run),
            run,
            clock,
        };
        NodeError::refuse(limits.faults())?;
        Ok(limits)
    }

    /// Counts what was spent on this flow before it was resumed.
    pub fn add_prior_spend(&self, prior_spend: &PriorSpend) {
        if let Some(innermost) = self.meters.first() {
            innermost.add_prior_spend(&prior_spend.all);
        }
    }

    /// The limits around a call of a map.
    pub(crate) fn for_map_call(
        map: &MapLimits,
        around: Option<&CallLimits<'_>>,
        run: &'r RunLimits,
        clock: &'r dyn Clock,
    ) -> Self {
        let innermost = Arc::clone(&map.meter);
        CallLimits {
            meters: unless_ignored(innermost, meters_around(around, run), run),
            run,
            clock,
        }
    }

    /// The limits within an agent: these, and a ceiling for what none of them limits.
    pub(crate) fn of_agent(&self, name: Cow<'static, str>, turns: u32) -> CallLimits<'r> {
        let requests = REQUESTS.max(u64::from(turns) * REQUESTS_OF_A_TURN);
        let ceilings = Limits {
            requests: self
                .is_unlimited(|limits| limits.requests)
                .then_some(requests),
            tool_calls: self
                .is_unlimited(|limits| limits.tool_calls)
                .then_some(requests * TOOL_CALLS_OF_A_REQUEST),
            ..Limits::new()
        };
        let mut meters = Vec::new();
        if !ceilings.is_empty() {
            meters.push(Arc::new(Meter::new(Scope::Call(name), ceilings)));
        }
        meters.extend(self.meters.iter().cloned());
        CallLimits {
            meters,
            run: self.run,
            clock: self.clock,
        }
    }

    fn is_unlimited(&self, figure: fn(&Limits) -> Option<u64>) -> bool {
        let mut meters = self.meters.iter();
        !self.run.ignored && meters.all(|meter| figure(&meter.limits).is_none())
    }

    /// Counts calls of tools that are about to be executed, at all meters or, if
    /// one refuses them, at none.
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

    /// What is wrong with limits and prices. It is asked before the first request,
    /// since a wrong limit protects nobody.
    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for meter in &self.meters {
            let found = meter.faults();
            if !found.is_empty() {
                let found = found.join("; ");
                faults.push(format!("in the limits for {}, {found}", meter.scope));
            }
        }
        if let Some(fault) = self.run.prices.fault() {
            faults.push(format!("in the table of prices, {fault}"));
        }
        faults
    }

    /// Reserves with all meters, or with none: then it returns the first meter that has no room.
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

    /// Starts the time of the run, unless an earlier call has: a run's time counts
    /// from its first request.
    pub(crate) fn begin_time(&self) {
        if let Some((_, meter)) = self.run_time() {
            meter.begin_time(self.clock.now());
        }
    }

    /// Ends the work, with the message of a refusal, when the time of the run is over.
    pub(crate) async fn in_time<F: Future + Unpin>(&self, work: F) -> Result<F::Output, String> {
        let Some(end) = self.end_of_time() else {
            return Ok(work.await);
        };
        let outcome = timeout_at(self.clock, end.at, None, work).await;
        outcome.ok_or_else(|| end.message())
    }

    /// When the time of the run is over. `None`: it has no limit, or none that the clock can count to.
    pub(crate) fn end_of_time(&self) -> Option<EndOfTime<'_>> {
        let (left, meter) = self.run_time()?;
        let at = self.clock.now().checked_add(left)?;
        Some(EndOfTime { at, meter })
    }

    /// The shorter of what is left for the run and for the call.
    pub(crate) fn time_left(&self, deadline: Option<&Deadline>) -> Option<TimeLeft> {
        let run = self.run_time().map(|(left, _)| TimeLeft {
            left,
            scope: Scope::Run,
        });
        let call = deadline.map(|deadline| deadline.left(self.clock.now()));
        run.into_iter().chain(call).min_by_key(|time| time.left)
    }

    /// The meter that limits time, with what is left of it. Only a run's can.
    fn run_time(&self) -> Option<(Duration, &Meter)> {
        let mut meters = self.meters.iter();
        let meter = meters.find(|meter| meter.limits.time.is_some())?;
        let left = meter.left(self.clock.now())?;
        Some((left, meter))
    }
}

/// The meters of what is around a call; the run's alone, if nothing is.
fn meters_around<'m>(around: Option<&'m CallLimits<'_>>, run: &'m RunLimits) -> &'m [Arc<Meter>] {
    match around {
        Some(around) => &around.meters,
        None => run.run.as_slice(),
    }
}

/// Innermost first. A run that ignores its limits, as one that only looks at
/// prompts does, has no meters at all.
fn unless_ignored(
    innermost: Arc<Meter>,
    around: &[Arc<Meter>],
    run: &RunLimits,
) -> Vec<Arc<Meter>> {
    if run.ignored {
        return Vec::new();
    }
    let mut meters = vec![innermost];
    meters.extend(around.iter().cloned());
    meters
}
