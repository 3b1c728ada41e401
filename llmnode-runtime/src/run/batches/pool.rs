//! The requests of a map that wait, and when they become orders.

use std::collections::{HashMap, HashSet};
use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Poll;
use std::time::{Duration, Instant};

use llmnode_model::batch::{BatchLine, BatchWire};
use llmnode_model::internal::lock;
use tokio::sync::oneshot;

use super::api::BatchApi;
use super::count::{ParkedCount, ParkedSlot};
use super::group::{Cut, Group, NewOrder};
use super::parked::{Parked, Planned, Waiting};
use super::queue::{InQueue, Queue};
use super::unused::Unused;
use crate::clock::Clock;
use crate::ledger::{JournaledBatch, Recorder};
use crate::limits::BatchRoom;
use crate::prices::Prices;

/// With [`BatchApi::then_at_once`], fewer requests than this are asked directly, after the first batch.
const SMALL_ROUND: usize = 20;

/// So many times [`BatchApi::max_requests`] calls of a map have begun and not ended at most, so that as many batches can be under
/// way side by side. More would need more memory, and would not end a map of 100,000 rows sooner.
const SIDE_BY_SIDE: usize = 5;

pub(in crate::run) struct BatchPool {
    pub(super) api: BatchApi,
    room: Arc<BatchRoom>,
    pub(super) clock: Arc<dyn Clock>,
    /// For what nobody asked for: a call knows its own.
    prices: Arc<Prices>,
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
    queues: HashMap<QueueOf, Arc<Queue>>,
    /// Batches that an earlier process left.
    left: Vec<LeftBatch>,
    /// By the id of a line, the place of its batch in `left`.
    left_lines: HashMap<String, usize>,
    /// Lines that were sent again, since others of their order were refused.
    refused: HashSet<Arc<str>>,
    /// What batches say of themselves, for the progress.
    under_way: usize,
    last_parked: Option<Instant>,
    is_over: bool,
    has_sent: bool,
    /// The ids of lines whose batch did not end in time: these requests alone are asked directly.
    direct: HashSet<Arc<str>>,
}

/// Whose queue it is.
#[derive(PartialEq, Eq, Hash)]
struct QueueOf {
    place: usize,
    api: String,
    model: String,
}

struct LeftBatch {
    batch: JournaledBatch,
    /// The first of its requests brings it.
    wire: Option<Arc<dyn BatchWire>>,
    is_driven: bool,
    attached: Vec<Waiting>,
}

/// A batch of an earlier process, whose first request is here.
pub(super) struct LeftStart {
    pub(super) place: usize,
    pub(super) batch: JournaledBatch,
    pub(super) wire: Arc<dyn BatchWire>,
    pub(super) in_queue: InQueue,
}

impl BatchPool {
    pub(in crate::run) fn new(
        api: BatchApi,
        clock: Arc<dyn Clock>,
        prices: Arc<Prices>,
        concurrency: usize,
    ) -> Self {
        BatchPool {
            prices,
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

    pub(super) fn prices(&self) -> &Prices {
        &self.prices
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

    /// Whether one more call may begin beside so many. Each that has begun may come to wait, so that the bound is one of all.
    pub(in crate::run) fn has_room(&self, in_flight: usize) -> bool {
        let most = self.api.max_requests.saturating_mul(SIDE_BY_SIDE);
        in_flight < most && in_flight.saturating_sub(self.waiting()) < self.concurrency
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
    pub(super) fn refused_before(&self, mut ids: Vec<Arc<str>>) -> Vec<Arc<str>> {
        let state = &mut *self.lock();
        ids.retain(|id| !state.refused.insert(Arc::clone(id)));
        ids
    }

    /// The batch of these lines did not end in time: when their requests park again, they are asked directly. Requests of other
    /// batches are not, since they would cost the full price for nothing.
    pub(super) fn ask_directly<'i>(&self, ids: impl Iterator<Item = &'i Arc<str>>) {
        self.lock().direct.extend(ids.cloned());
    }

    /// Parks a request. What an earlier process ordered is attached to that batch.
    pub(super) fn park(
        self: &Arc<Self>,
        id: Arc<str>,
        line: BatchLine,
        wire: Arc<dyn BatchWire>,
    ) -> Parked {
        let place = ParkedSlot::take(&self.parked);
        let (planned_to, planned) = oneshot::channel();
        let (result_to, result) = oneshot::channel();
        let parked = Parked {
            place: Arc::clone(&place),
            planned: Some(planned),
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
        if let Some(place) = state.left_lines.remove(&*waiting.id) {
            let left = &mut state.left[place];
            left.wire.get_or_insert(wire);
            left.attached.push(waiting);
        } else {
            state.group(wire, &line).park(waiting, line.body);
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

    /// Looks at the map: what is to be sent now. `None`: nothing, since not all of its calls wait.
    ///
    /// `is_waiting`: a stream has no node at the moment, and may have one soon.
    pub(super) fn take_orders(&self, in_flight: usize, is_waiting: bool) -> Option<Vec<NewOrder>> {
        self.in_flight.store(in_flight, Ordering::Release);
        if !self.is_quiet(in_flight, is_waiting) {
            return self.take_whole_orders();
        }
        self.quiet.fetch_add(1, Ordering::AcqRel);
        let state = &mut *self.lock();
        for group in &mut state.groups {
            group.forget_gone();
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
        Some(state.take_orders(Cut {
            lines: self.api.max_requests,
            only_whole: false,
        }))
    }

    /// Whether all calls wait, so that nothing would join what is sent now.
    fn is_quiet(&self, in_flight: usize, is_waiting: bool) -> bool {
        let idle = self.waiting() + self.held.load(Ordering::Acquire);
        if in_flight > idle || self.is_reading() {
            return false;
        }
        let lingers_until = self.lingers_until().filter(|_| is_waiting);
        if lingers_until.is_some_and(|end| self.clock.now() < end) {
            return false;
        }
        // Calls that wait for room reserve less from now on: they may go with this order.
        !(self.room.has_read() && self.is_held())
    }

    /// While calls go on, only orders that no further request could join: so the next nodes are taken while these are answered.
    fn take_whole_orders(&self) -> Option<Vec<NewOrder>> {
        let state = &mut *self.lock();
        if state.has_late() {
            return None;
        }
        let orders = state.take_orders(Cut {
            lines: self.api.max_requests,
            only_whole: true,
        });
        Some(orders).filter(|orders| !orders.is_empty())
    }

    /// Whether there is room again for what a provider's queue held back.
    pub(super) fn was_freed(&self) -> bool {
        let mut state = self.lock();
        let freed = state.groups.iter_mut().map(Group::was_freed);
        freed.fold(false, |any, is_freed| any | is_freed)
    }

    /// No more at once than the map's concurrency. `late`: only requests whose batch did not end in time.
    fn send_directly(&self, state: &mut State, late: bool) {
        let direct = &state.direct;
        for group in &mut state.groups {
            group.waiting.retain_mut(|line| {
                let is_meant = !late || direct.contains(&line.waiting.id);
                if !is_meant || !self.has_room_for_result() {
                    return true;
                }
                line.waiting.plan(Planned::Directly);
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
                let batch = &left.batch;
                let queue = queue_of(&mut state.queues, &**wire, &batch.api, &batch.model);
                starts.push(LeftStart {
                    place,
                    batch: batch.clone(),
                    wire: Arc::clone(wire),
                    in_queue: InQueue::enter(&queue),
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

    /// Of batches of earlier processes, the lines that nobody asked for.
    pub(super) fn unused(&self) -> Vec<Unused> {
        let state = &*self.lock();
        let mut lines: HashMap<usize, HashSet<String>> = HashMap::new();
        for (line, place) in &state.left_lines {
            lines.entry(*place).or_default().insert(line.clone());
        }
        let unused = lines.into_iter().map(|(place, lines)| {
            let left = &state.left[place];
            Unused {
                wire: left.wire.clone().or_else(|| state.wire_of(&left.batch)),
                is_whole: lines.len() == left.batch.lines.len(),
                files: Vec::new(),
                batch: JournaledBatch {
                    lines: lines.iter().cloned().collect(),
                    ..left.batch.clone()
                },
                lines,
            }
        });
        unused.collect()
    }

    /// Whether a batch of an earlier process has lines that nobody asked for.
    pub(super) fn has_unused(&self, place: usize) -> bool {
        let state = self.lock();
        state.left_lines.values().any(|of| *of == place)
    }

    /// Batches of earlier processes of which nothing is left to ask for.
    pub(super) fn done_with(&self) -> Vec<JournaledBatch> {
        let state = self.lock();
        let done = state.left.iter().filter(|left| left.batch.lines.is_empty());
        done.map(|left| left.batch.clone()).collect()
    }
}

impl State {
    /// Whether a request waits whose batch did not end in time.
    fn has_late(&self) -> bool {
        if self.direct.is_empty() {
            return false;
        }
        let mut waiting = self.groups.iter().flat_map(|group| &group.waiting);
        waiting.any(|line| self.direct.contains(&line.waiting.id))
    }

    /// That of another request to the same model, whose batches most likely are at the same place.
    fn wire_of(&self, batch: &JournaledBatch) -> Option<Arc<dyn BatchWire>> {
        let mut groups = self.groups.iter();
        let group = groups.find(|group| group.asks(&batch.api, &batch.model))?;
        Some(Arc::clone(&group.wire))
    }

    fn take_orders(&mut self, cut: Cut) -> Vec<NewOrder> {
        let mut orders = Vec::new();
        for group in &mut self.groups {
            group.take_orders(cut, &mut orders);
        }
        self.has_sent |= !orders.is_empty();
        orders
    }

    fn group(&mut self, wire: Arc<dyn BatchWire>, line: &BatchLine) -> &mut Group {
        let place = wire.place();
        let mut groups = self.groups.iter();
        let at = groups.position(|group| group.is_of(place, line));
        let at = at.unwrap_or_else(|| {
            let queue = queue_of(&mut self.queues, &*wire, line.api, &line.model);
            self.groups.push(Group::new(wire, line, queue));
            self.groups.len() - 1
        });
        &mut self.groups[at]
    }
}

fn queue_of(
    queues: &mut HashMap<QueueOf, Arc<Queue>>,
    wire: &dyn BatchWire,
    api: &str,
    model: &str,
) -> Arc<Queue> {
    let of = QueueOf {
        place: wire.place(),
        api: api.to_owned(),
        model: model.to_owned(),
    };
    Arc::clone(queues.entry(of).or_default())
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
