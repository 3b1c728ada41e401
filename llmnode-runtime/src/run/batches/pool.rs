//! The requests of a map that wait, and when they become orders.

use std::collections::{HashMap, HashSet};
use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Poll;
use std::time::{Duration, Instant};

use llmnode_model::batch::{BatchLine, BatchWire, OrderLine};
use llmnode_model::internal::lock;
use tokio::sync::oneshot;

use super::api::BatchApi;
use super::count::{ParkedCount, ParkedSlot};
use super::parked::{Parked, Planned, Waiting};
use crate::clock::Clock;
use crate::ledger::{JournaledBatch, Recorder};
use crate::limits::BatchRoom;

/// With [`BatchApi::then_at_once`], a round of fewer corrections is asked directly.
const SMALL_ROUND: usize = 20;

/// An order is not made smaller than this for a queue that is full.
pub(super) const SMALLEST_ORDER: usize = 100;

pub(in crate::run) struct BatchPool {
    pub(super) api: BatchApi,
    room: Arc<BatchRoom>,
    pub(super) clock: Arc<dyn Clock>,
    concurrency: usize,
    /// What of the map's settings means nothing here.
    fault: Option<&'static str>,
    /// Requests that wait for a batch.
    parked: Arc<ParkedCount>,
    /// Calls that wait for room under a limit.
    held: AtomicUsize,
    /// Calls of the map that have begun and not ended.
    in_flight: AtomicUsize,
    /// Batches whose results are being read.
    reading: AtomicUsize,
    /// How often all calls waited, so that what was read before is done with.
    quiet: AtomicUsize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    recorder: Option<Arc<dyn Recorder>>,
    groups: Vec<Group>,
    /// Batches that an earlier process left.
    left: Vec<LeftBatch>,
    /// By the id of a line, the place of its batch in `left`.
    left_lines: HashMap<String, usize>,
    /// Lines that were sent again, since others of their order were refused.
    refused: HashSet<String>,
    /// What batches say of themselves, for the progress.
    under_way: usize,
    last_parked: Option<Instant>,
    is_over: bool,
    has_sent: bool,
    /// The ids of lines whose batch did not end in time: these requests alone are asked directly.
    direct: HashSet<String>,
}

/// Requests that can be in one order.
struct Group {
    wire: Arc<dyn BatchWire>,
    api: &'static str,
    model: String,
    waiting: Vec<(Waiting, Vec<u8>)>,
    /// Set while the provider's queue is full.
    most_lines: Option<usize>,
}

struct LeftBatch {
    batch: JournaledBatch,
    /// The first of its requests brings it.
    wire: Option<Arc<dyn BatchWire>>,
    is_driven: bool,
    attached: Vec<Waiting>,
}

/// An order that is to be sent.
pub(super) struct NewOrder {
    pub(super) wire: Arc<dyn BatchWire>,
    pub(super) api: &'static str,
    pub(super) model: String,
    pub(super) waiting: Vec<Waiting>,
    pub(super) lines: Vec<OrderLine>,
}

/// A batch of an earlier process, whose first request is here.
pub(super) struct LeftStart {
    pub(super) place: usize,
    pub(super) batch: JournaledBatch,
    pub(super) wire: Arc<dyn BatchWire>,
}

impl BatchPool {
    pub(in crate::run) fn new(api: BatchApi, clock: Arc<dyn Clock>, concurrency: usize) -> Self {
        BatchPool {
            room: Arc::new(BatchRoom::new(api.reserves_mean)),
            api,
            clock,
            concurrency: concurrency.max(1),
            fault: None,
            parked: Arc::default(),
            held: AtomicUsize::new(0),
            in_flight: AtomicUsize::new(0),
            reading: AtomicUsize::new(0),
            quiet: AtomicUsize::new(0),
            state: Mutex::default(),
        }
    }

    pub(in crate::run) fn faulty(self, fault: Option<&'static str>) -> Self {
        BatchPool { fault, ..self }
    }

    pub(in crate::run) fn fault(&self) -> Option<&'static str> {
        self.fault
    }

    /// What its requests hold of the limits.
    pub(in crate::run) fn room(&self) -> &Arc<BatchRoom> {
        &self.room
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// The journal is open: the batches that it knows can be found from now on.
    pub(in crate::run) fn begin(&self, recorder: Arc<dyn Recorder>) {
        let state = &mut *self.lock();
        for batch in recorder.batches() {
            let place = state.left.len();
            for line in &batch.lines {
                state.left_lines.insert(line.clone(), place);
            }
            state.left.push(LeftBatch {
                batch,
                wire: None,
                is_driven: false,
                attached: Vec::new(),
            });
        }
        state.recorder = Some(recorder);
    }

    pub(super) fn recorder(&self) -> Option<Arc<dyn Recorder>> {
        self.lock().recorder.clone()
    }

    /// Counts a call that waits for room under a limit, until the guard is dropped.
    pub(in crate::run) fn holds(&self) -> Held<'_> {
        self.held.fetch_add(1, Ordering::AcqRel);
        Held(self)
    }

    /// Whether a call waits for room under a limit.
    pub(super) fn is_held(&self) -> bool {
        self.held.load(Ordering::Acquire) > 0
    }

    /// How many requests wait for a batch.
    pub(in crate::run) fn waiting(&self) -> usize {
        self.parked.get()
    }

    /// How many batches are under way.
    pub(in crate::run) fn batches(&self) -> usize {
        self.lock().under_way
    }

    pub(super) fn batch_begins(&self) {
        self.lock().under_way += 1;
    }

    pub(super) fn batch_ends(&self) {
        let state = &mut *self.lock();
        state.under_way = state.under_way.saturating_sub(1);
    }

    /// Whether one more call may begin beside so many.
    pub(in crate::run) fn has_room(&self, in_flight: usize) -> bool {
        let waiting = self.waiting();
        waiting < self.api.max_requests && in_flight.saturating_sub(waiting) < self.concurrency
    }

    /// Whether a call may go on now. One that waits for room under a limit does nothing meanwhile, and what it waits for may be
    /// that this one goes on.
    pub(super) fn has_room_for_result(&self) -> bool {
        let in_flight = self.in_flight.load(Ordering::Acquire);
        let idle = self.waiting() + self.held.load(Ordering::Acquire);
        in_flight.saturating_sub(idle) < self.concurrency
    }

    pub(super) fn begins_reading(&self) {
        self.reading.fetch_add(1, Ordering::AcqRel);
    }

    pub(super) fn ends_reading(&self) {
        self.reading.fetch_sub(1, Ordering::AcqRel);
    }

    pub(super) fn is_reading(&self) -> bool {
        self.reading.load(Ordering::Acquire) > 0
    }

    /// How often all calls have waited so far.
    pub(super) fn quiet(&self) -> usize {
        self.quiet.load(Ordering::Acquire)
    }

    pub(super) fn is_over(&self) -> bool {
        self.lock().is_over
    }

    /// All calls have ended.
    pub(super) fn ends(&self) {
        self.in_flight.store(0, Ordering::Release);
        self.lock().is_over = true;
    }

    /// Waits. `false`: all calls have ended meanwhile.
    pub(super) async fn pause(&self, time: Duration) -> bool {
        let mut sleep = std::pin::pin!(self.clock.sleep(time));
        poll_fn(|cx| match self.is_over() {
            true => Poll::Ready(false),
            false => sleep.as_mut().poll(cx).map(|()| true),
        })
        .await
    }

    /// Of lines whose order was refused for others: those to which it happened before.
    pub(super) fn refused_before(&self, mut ids: Vec<String>) -> Vec<String> {
        let state = &mut *self.lock();
        ids.retain(|id| !state.refused.insert(id.clone()));
        ids
    }

    /// The batch of these lines did not end in time: when their requests park again, they are asked directly. Requests of other
    /// batches are not, since they would cost the full price for nothing.
    pub(super) fn ask_directly<'i>(&self, ids: impl Iterator<Item = &'i String>) {
        self.lock().direct.extend(ids.cloned());
    }

    /// Parks a request. What an earlier process ordered is attached to that batch.
    pub(super) fn park(
        self: &Arc<Self>,
        id: String,
        line: BatchLine,
        wire: Arc<dyn BatchWire>,
    ) -> Parked {
        let place = ParkedSlot::take(&self.parked);
        let (planned_to, planned) = oneshot::channel();
        let (result_to, result) = oneshot::channel();
        let parked = Parked {
            place: Arc::clone(&place),
            planned,
            result,
        };
        let waiting = Waiting {
            id,
            place,
            planned: Some(planned_to),
            result: result_to,
        };
        let now = self.clock.now();
        let state = &mut *self.lock();
        state.last_parked = Some(now);
        if let Some(place) = state.left_lines.remove(&waiting.id) {
            let left = &mut state.left[place];
            left.wire.get_or_insert(wire);
            left.attached.push(waiting);
        } else {
            state.group(wire, &line).waiting.push((waiting, line.body));
        }
        parked
    }

    /// What was attached to a batch of an earlier process since it was asked last.
    pub(super) fn attached(&self, place: usize) -> Vec<Waiting> {
        std::mem::take(&mut self.lock().left[place].attached)
    }

    /// The batch was never created: its lines are requests like all others.
    pub(super) fn was_not_created(&self, place: usize) {
        let state = &mut *self.lock();
        state.left_lines.retain(|_, of| *of != place);
    }

    /// The provider's queue is full: later orders for the model have half as many lines. `false`: they are small already.
    pub(super) fn halve_orders(&self, api: &str, model: &str, lines: usize) -> bool {
        let state = &mut *self.lock();
        let half = (lines / 2).max(SMALLEST_ORDER);
        let of_model = |group: &&mut Group| group.api == api && group.model == model;
        if let Some(group) = state.groups.iter_mut().find(of_model) {
            group.most_lines = Some(half);
        }
        lines > SMALLEST_ORDER
    }

    /// Looks at the map: `None`, not all of its calls wait. Otherwise what is to be sent now.
    ///
    /// `is_waiting`: a stream has no node at the moment, and may have one soon.
    pub(super) fn take_orders(&self, in_flight: usize, is_waiting: bool) -> Option<Vec<NewOrder>> {
        self.in_flight.store(in_flight, Ordering::Release);
        let idle = self.waiting() + self.held.load(Ordering::Acquire);
        if in_flight > idle || self.reading.load(Ordering::Acquire) > 0 {
            return None;
        }
        let lingers_until = self.lingers_until().filter(|_| is_waiting);
        if lingers_until.is_some_and(|end| self.clock.now() < end) {
            return None;
        }
        // Calls that wait for room reserve less from now on: they may go with this order.
        if self.room.has_read() && self.is_held() {
            return None;
        }
        self.quiet.fetch_add(1, Ordering::AcqRel);
        let state = &mut *self.lock();
        for group in &mut state.groups {
            group.waiting.retain(|(waiting, _)| !waiting.is_gone());
        }
        // First what is late: meanwhile further nodes park, and what waits for an order grows to more than a few.
        if state.has_late() {
            self.send_directly(state, true);
            return Some(Vec::new());
        }
        let waiting: usize = state.groups.iter().map(|group| group.waiting.len()).sum();
        if state.has_sent && self.api.at_once && waiting < SMALL_ROUND {
            self.send_directly(state, false);
            return Some(Vec::new());
        }
        let mut orders = Vec::new();
        for group in &mut state.groups {
            group.take_orders(&mut orders);
        }
        state.has_sent |= !orders.is_empty();
        Some(orders)
    }

    /// No more at once than the map's concurrency. `late`: only requests whose batch did not end in time.
    fn send_directly(&self, state: &mut State, late: bool) {
        let direct = &state.direct;
        for group in &mut state.groups {
            group.waiting.retain_mut(|(waiting, _)| {
                let is_meant = !late || direct.contains(&waiting.id);
                if !is_meant || !self.has_room_for_result() {
                    return true;
                }
                waiting.plan(Planned::Directly);
                false
            });
        }
    }

    /// Until when a map over a stream waits for further nodes.
    pub(super) fn lingers_until(&self) -> Option<Instant> {
        let last = self.lock().last_parked?;
        last.checked_add(self.api.linger)
    }

    /// Batches of earlier processes whose first request has parked.
    pub(super) fn left_starts(&self) -> Vec<LeftStart> {
        let state = &mut *self.lock();
        let mut starts = Vec::new();
        for (place, left) in state.left.iter_mut().enumerate() {
            if let (Some(wire), false) = (&left.wire, left.is_driven) {
                starts.push(LeftStart {
                    place,
                    batch: left.batch.clone(),
                    wire: Arc::clone(wire),
                });
                left.is_driven = true;
            }
        }
        starts
    }

    /// The map is dropped: what waits has a place in the pool, and would keep it.
    pub(super) fn clear(&self) {
        let state = std::mem::take(&mut *self.lock());
        drop(state);
    }

    /// Batches of earlier processes that nobody asked for.
    pub(super) fn unused(&self) -> Vec<JournaledBatch> {
        let state = self.lock();
        let unused = state.left.iter().filter(|left| !left.is_driven);
        unused.map(|left| left.batch.clone()).collect()
    }
}

impl State {
    /// Whether a request waits whose batch did not end in time.
    fn has_late(&self) -> bool {
        let mut waiting = self.groups.iter().flat_map(|group| &group.waiting);
        waiting.any(|(waiting, _)| self.direct.contains(&waiting.id))
    }

    fn group(&mut self, wire: Arc<dyn BatchWire>, line: &BatchLine) -> &mut Group {
        let place = wire.place();
        let is_same = |group: &Group| {
            group.wire.place() == place && group.api == line.api && group.model == line.model
        };
        let at = self.groups.iter().position(is_same).unwrap_or_else(|| {
            self.groups.push(Group {
                wire,
                api: line.api,
                model: line.model.clone(),
                waiting: Vec::new(),
                most_lines: None,
            });
            self.groups.len() - 1
        });
        &mut self.groups[at]
    }
}

impl Group {
    /// What is parked, in orders that the provider takes.
    fn take_orders(&mut self, orders: &mut Vec<NewOrder>) {
        /// What stands around the body of a line: its id, its method and its path.
        const AROUND: usize = 160;
        let bounds = self.wire.bounds();
        let most_lines = self.most_lines.unwrap_or(bounds.lines).min(bounds.lines);
        let mut bytes = 0;
        let mut order: Option<NewOrder> = None;
        for (waiting, body) in std::mem::take(&mut self.waiting) {
            let size = body.len() + AROUND;
            let is_full =
                |order: &NewOrder| order.lines.len() >= most_lines || bytes + size > bounds.bytes;
            if order.as_ref().is_some_and(is_full) {
                orders.extend(order.take());
                bytes = 0;
            }
            bytes += size;
            let order = order.get_or_insert_with(|| NewOrder {
                wire: Arc::clone(&self.wire),
                api: self.api,
                model: self.model.clone(),
                waiting: Vec::new(),
                lines: Vec::new(),
            });
            order.lines.push(OrderLine {
                id: waiting.id.clone(),
                body,
            });
            order.waiting.push(waiting);
        }
        orders.extend(order);
    }
}

/// A call that waits for room.
pub(in crate::run) struct Held<'p>(&'p BatchPool);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.held.fetch_sub(1, Ordering::AcqRel);
    }
}

impl std::fmt::Debug for BatchPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BatchPool")
            .field("parked", &self.parked)
            .field("held", &self.held)
            .finish_non_exhaustive()
    }
}
