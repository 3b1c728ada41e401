//! The life of a batch: planned, uploaded, created, looked at, read.
//!
//! In: an order, or what the journal knows of one that an earlier process sent. Out: for each line its result, given to the
//! call that waits for it. Before each step that costs something, the journal has the step before it, so that at whatever
//! moment the process dies, the next one knows where the batch stands: see the order in [`new_batch`].

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant, SystemTime};

use llmnode_model::batch::{
    BatchOrder, BatchRefusal, BatchStatus, BatchTraces, BatchWire, LineResult, MissingLines,
    OrderLine,
};
use llmnode_model::{BoxFuture, Category, Group, ModelError, Retry};

use super::group::NewOrder;
use super::parked::{Acks, BatchNames, BatchTimes, Failed, FailedCost, Outcome, Planned, Waiting};
use super::pool::{BatchPool, LeftStart};
use super::queue::InQueue;
use crate::ledger::{BatchEnd, JournaledBatch, Recorder, RecorderEvent};

/// So often a batch is created anew after a failure of the transport, if it is not there.
const CREATIONS: u32 = 4;

/// Later than this after its plan, a batch is not created anew. A wire that finds batches by their time looks further than that.
const CREATED_WITHIN: Duration = Duration::from_secs(3_600);

/// Results that cannot be read are asked for so often at least, even when the time of the batch is over.
const READINGS: u32 = 4;

/// How long a batch that was cancelled is given to end.
const CANCEL_WAIT: Duration = Duration::from_secs(60);

/// Files are kept for this long after a batch has to be over.
const FILES_KEPT: Duration = Duration::from_secs(7 * 86_400);

/// The batches of a map. They are polled with its calls.
pub(in crate::run) struct Drivers {
    pool: Arc<BatchPool>,
    batches: Vec<BoxFuture<'static, ()>>,
    /// Of a stream of nodes: ends when nothing came for a while.
    lingering: Option<Lingering>,
    has_warned: bool,
    /// How many requests the first orders had, if a limit held others back.
    limit_holds: Option<usize>,
}

struct Lingering {
    end: Instant,
    sleep: BoxFuture<'static, ()>,
}

impl Drivers {
    pub(in crate::run) fn new(pool: Arc<BatchPool>) -> Self {
        Drivers {
            pool,
            batches: Vec::new(),
            lingering: None,
            has_warned: false,
            limit_holds: None,
        }
    }

    /// Sends what is to be sent, and lets the batches go on. `in_flight`: the calls of the map. `is_waiting`: a stream of nodes
    /// has none at the moment.
    pub(in crate::run) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        in_flight: usize,
        is_waiting: bool,
    ) {
        // As it is before this look, which may be the one that finds all calls waiting.
        let quiet = self.pool.quiet();
        for start in self.pool.left_starts() {
            let pool = Arc::clone(&self.pool);
            self.batches.push(Box::pin(left_batch(pool, start, quiet)));
        }
        let mut orders = self.pool.take_orders(in_flight, is_waiting);
        if orders.is_none() && is_waiting && self.has_lingered(cx) {
            orders = self.pool.take_orders(in_flight, is_waiting);
        }
        let orders = orders.unwrap_or_default();
        let sent: usize = orders.iter().map(|order| order.lines.len()).sum();
        if sent > 0 && self.limit_holds.is_none() && self.pool.is_held() {
            // With those that went before.
            self.limit_holds = Some(self.pool.waiting());
        }
        for order in orders {
            let pool = Arc::clone(&self.pool);
            self.batches.push(Box::pin(new_batch(pool, order)));
        }
        let reads = self.pool.is_reading();
        self.batches
            .retain_mut(|batch| batch.as_mut().poll(cx).is_pending());
        // What waited for the end of a file, or for room in a queue, may be sent now, and nothing else would wake the map.
        let has_read = reads && !self.pool.is_reading();
        if self.pool.was_freed() || has_read {
            cx.waker().wake_by_ref();
        }
    }

    /// How many requests a limit holds at once. `None`: it holds back none so far.
    pub(in crate::run) fn limit_holds(&self) -> Option<usize> {
        self.limit_holds
    }

    /// How many requests wait, and in how many batches that are under way.
    pub(in crate::run) fn count(&self) -> (usize, usize) {
        (self.pool.waiting(), self.pool.batches())
    }

    /// Whether no node of the stream has come for a while.
    fn has_lingered(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(end) = self.pool.lingers_until() else {
            return false;
        };
        let clock = Arc::clone(&self.pool.clock);
        let mut lingering = self
            .lingering
            .take()
            .filter(|lingering| lingering.end == end)
            .unwrap_or_else(|| Lingering {
                end,
                sleep: Box::pin(async move { clock.until(end).await }),
            });
        let has_ended = lingering.sleep.as_mut().poll(cx).is_ready();
        if !has_ended {
            self.lingering = Some(lingering);
        }
        has_ended
    }

    /// All calls have ended: what is left is written to the journal, and files are deleted.
    pub(in crate::run) fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.pool.ends();
        if !std::mem::replace(&mut self.has_warned, true) {
            for batch in self.pool.unused() {
                self.leave_unused(&batch);
            }
        }
        self.batches
            .retain_mut(|batch| batch.as_mut().poll(cx).is_pending());
        match self.batches.is_empty() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

impl Drivers {
    /// A batch of an earlier process that no request asked for.
    fn leave_unused(&mut self, batch: &JournaledBatch) {
        if !batch.lines.is_empty() {
            return warn_of_unused(batch);
        }
        // All of its lines have an end, or it was planned and never sent: only the record of its end is missing.
        let Some(recorder) = self.pool.recorder() else {
            return;
        };
        let name = batch.name.clone();
        let was_created = batch.batch.is_some();
        self.batches.push(Box::pin(async move {
            let end = BatchEnd { was_created };
            recorder.note(RecorderEvent::BatchEnded { name: &name, end });
            if let Err(fault) = recorder.write().await {
                tracing::warn!(target: "llmnode::journal", "{fault}");
            }
        }));
    }
}

impl Drop for Drivers {
    fn drop(&mut self) {
        self.batches.clear();
        self.pool.clear();
    }
}

fn warn_of_unused(batch: &JournaledBatch) {
    tracing::warn!(
        target: "llmnode::journal", batch = batch.batch, lines = batch.lines.len(),
        "the batch {:?} in the journal has {} lines that no request of the map matches, as after a changed prompt; they are paid for \
         when they are answered",
        batch.batch.as_deref().unwrap_or(&batch.name), batch.lines.len(),
    );
}

/// What the steps of a batch share.
struct Batch {
    pool: Arc<BatchPool>,
    wire: Arc<dyn BatchWire>,
    recorder: Arc<dyn Recorder>,
    name: String,
    /// The provider's id.
    id: String,
    lines: usize,
    submitted: Option<SystemTime>,
    /// Until it has ended.
    in_queue: Option<InQueue>,
    /// Its lines without a result, by id.
    waiting: HashMap<String, Waiting>,
    /// Of `left`, if an earlier process sent it.
    place: Option<usize>,
    /// Ids in the order of the lines: a refusal may name them by number.
    order: Vec<String>,
    /// It was cancelled here, since its time was over.
    is_late: bool,
    /// Its results could not be read. It stays open in the journal, and keeps its files.
    is_unread: bool,
}

/// Plans, uploads and creates a batch, and sees it to its end:
///
/// 1. `batch_planned` with the ids of all lines, and `attempt_began` of each. If the process dies after this, the next one looks
///    for the batch by its name.
/// 2. The upload, and `batch_uploaded`.
/// 3. The creation, and `batch_created`. If the process dies after this, the next one looks at this batch.
async fn new_batch(pool: Arc<BatchPool>, order: NewOrder) {
    let Some(recorder) = pool.recorder() else {
        return;
    };
    let NewOrder {
        wire,
        api,
        model,
        mut waiting,
        lines,
        in_queue,
    } = order;
    let name = recorder.batch_name();
    let expires_after = pool.api.within.saturating_add(FILES_KEPT).as_secs();
    let ids: Vec<String> = lines.iter().map(|line| line.id.clone()).collect();
    let count = lines.len();
    pool.batch_begins();
    recorder.note(RecorderEvent::BatchPlanned {
        name: &name,
        api,
        model: &model,
        lines: &ids,
    });
    let names = Arc::new(BatchNames { name: name.clone() });
    let acks = Acks::new();
    for one in &mut waiting {
        let ack = acks.one();
        let batch = Arc::clone(&names);
        one.plan(Planned::In { batch, ack });
    }
    acks.wait().await;
    let mut order = BatchOrder {
        name: name.clone(),
        api,
        model,
        lines,
        body: None,
        expires_after,
    };
    let created = create(&pool, &*wire, &*recorder, &mut order).await;
    drop(order);
    let mut batch = Batch {
        pool,
        wire,
        recorder,
        name,
        id: String::new(),
        lines: count,
        submitted: Some(SystemTime::now()),
        in_queue: Some(in_queue),
        waiting: by_id(waiting),
        place: None,
        order: ids,
        is_late: false,
        is_unread: false,
    };
    match created {
        Ok(id) => {
            batch.pool.room().is_in(&id);
            batch.id = id;
            batch.run(Duration::ZERO).await;
        }
        Err(failed) => batch.was_not_created(&failed).await,
    }
}

fn by_id(waiting: Vec<Waiting>) -> HashMap<String, Waiting> {
    waiting
        .into_iter()
        .map(|one| (one.id.clone(), one))
        .collect()
}

/// Returns the batch's id, once the journal has it.
async fn create(
    pool: &BatchPool,
    wire: &dyn BatchWire,
    recorder: &dyn Recorder,
    order: &mut BatchOrder,
) -> Result<String, Failed> {
    let planned = SystemTime::now();
    let line = order.lines.first().map(|line: &OrderLine| line.id.clone());
    let lines = order.lines.len();
    write(recorder).await?;
    let unsent = |error: ModelError| Failed::of_error(&error, FailedCost::Unsent);
    let file = wire.upload(order).await.map_err(unsent)?;
    if let Some(file) = &file {
        let name = &order.name;
        recorder.note(RecorderEvent::BatchUploaded { name, file });
        write(recorder).await?;
    }
    let traces = BatchTraces {
        name: order.name.clone(),
        api: order.api.to_owned(),
        model: order.model.clone(),
        file,
        planned,
        lines,
        line,
    };
    let id = create_once(pool, wire, order, &traces).await?;
    recorder.note(RecorderEvent::BatchCreated {
        name: &order.name,
        batch: &id,
    });
    // It is there, and a later process finds it by its name.
    write(recorder).await.map_err(Failed::later)?;
    Ok(id)
}

/// A creation that failed on the way may have been one. So it is done again only when it surely did not leave, or when the
/// provider says that there is no such batch.
async fn create_once(
    pool: &BatchPool,
    wire: &dyn BatchWire,
    order: &mut BatchOrder,
    traces: &BatchTraces,
) -> Result<String, Failed> {
    let end = pool.clock.now().checked_add(pool.api.within);
    let last = pool.clock.now().checked_add(CREATED_WITHIN);
    let mut creations = 0;
    loop {
        let error = match wire.create(order, traces.file.as_deref()).await {
            Ok(id) => return Ok(id),
            Err(error) => error,
        };
        if error.category.group() != Group::Transport {
            return Err(Failed::of_error(&error, FailedCost::Unsent));
        }
        let goes_on = pool.pause(pool.api.wait_before(creations)).await;
        creations += 1;
        if error.reached
            && let Some(id) = find(pool, wire, traces, end).await?
        {
            return Ok(id);
        }
        let has_time = last.is_some_and(|last| pool.clock.now() < last);
        if !goes_on || !has_time || creations == CREATIONS {
            return Err(Failed::of_error(&error, FailedCost::Unsent));
        }
    }
}

/// Looks for a batch until the provider says whether it is there. An answer that does not come says nothing: whoever took it for
/// a no would send and pay everything twice.
async fn find(
    pool: &BatchPool,
    wire: &dyn BatchWire,
    traces: &BatchTraces,
    end: Option<Instant>,
) -> Result<Option<String>, Failed> {
    let mut look = 0;
    loop {
        let error = match wire.find(traces).await {
            Ok(found) => return Ok(found),
            Err(error) => error,
        };
        let is_over = pool.api.once || end.is_none_or(|end| pool.clock.now() >= end);
        let may_change = error.category.group() == Group::Transport;
        if is_over || !may_change || !pool.pause(pool.api.wait_before(look)).await {
            return Err(Failed::unread(&traces.name, &error));
        }
        look += 1;
    }
}

async fn write(recorder: &dyn Recorder) -> Result<(), Failed> {
    recorder.write().await.map_err(|fault| {
        let message = format!("the journal cannot be written: {fault}");
        Failed::new(Category::Aborted, message, FailedCost::Unsent)
    })
}

/// A batch that an earlier process sent, or was about to send. Its requests have parked in the order of the map's nodes; it is
/// looked at when all calls wait, so that most of what it answers is asked for.
async fn left_batch(pool: Arc<BatchPool>, start: LeftStart, quiet: usize) {
    let Some(recorder) = pool.recorder() else {
        return;
    };
    let LeftStart {
        place,
        batch,
        wire,
        in_queue,
    } = start;
    pool.batch_begins();
    wait_for_quiet(&pool, quiet).await;
    let id = match &batch.batch {
        Some(id) => Ok(Some(id.clone())),
        None => {
            let traces = batch.traces();
            let age = traces.planned.elapsed().unwrap_or_default();
            let left = pool.api.within.saturating_sub(age);
            let end = pool.clock.now().checked_add(left);
            find(&pool, &*wire, &traces, end).await
        }
    };
    let mut driven = Batch {
        pool,
        wire,
        recorder,
        name: batch.name,
        id: String::new(),
        lines: batch.planned_lines,
        submitted: batch.created.or(batch.planned),
        in_queue: Some(in_queue),
        waiting: HashMap::new(),
        place: Some(place),
        order: Vec::new(),
        is_late: false,
        is_unread: false,
    };
    match id {
        Ok(Some(id)) => {
            if batch.batch.is_none() {
                driven.recorder.note(RecorderEvent::BatchCreated {
                    name: &driven.name,
                    batch: &id,
                });
            }
            driven.pool.room().is_in(&id);
            driven.id = id;
            let age = driven
                .submitted
                .and_then(|submitted| submitted.elapsed().ok())
                .unwrap_or_default();
            driven.run(age).await;
        }
        Ok(None) => driven.never_was().await,
        Err(failed) => {
            driven.take_attached();
            driven.fail_all(&failed);
            driven.pool.batch_ends();
        }
    }
}

/// Until all calls of the map wait once more, or have ended.
async fn wait_for_quiet(pool: &BatchPool, before: usize) {
    poll_fn(|_| match pool.quiet() > before || pool.is_over() {
        true => Poll::Ready(()),
        // The map polls its batches whenever one of its calls has gone on.
        false => Poll::Pending,
    })
    .await;
}

impl Batch {
    /// Reads results until nobody asks for more.
    async fn run(mut self, age: Duration) {
        let mut status = None;
        loop {
            let before = self.pool.quiet();
            self.take_attached();
            self.waiting.retain(|_, waiting| !waiting.is_gone());
            if !self.waiting.is_empty() {
                let known = match status.take() {
                    Some(known) => Some(known),
                    None => self.until_ended(age).await,
                };
                self.in_queue = None;
                if let Some(known) = known {
                    self.read(&known, age).await;
                    status = Some(known);
                }
            }
            // Of a batch of this process, nobody will ask for more. One that an earlier process left may be asked again.
            if self.place.is_none() || self.pool.is_over() {
                break;
            }
            wait_for_quiet(&self.pool, before).await;
        }
        self.pool.batch_ends();
        if let Some(status) = status.filter(|status| status.has_ended && !self.is_unread) {
            self.end(&status).await;
        }
    }

    /// What it brought up is in the journal, and then that it has ended. Its files go when the map has ended.
    async fn end(&self, status: &BatchStatus) {
        let before = self.pool.quiet();
        wait_for_quiet(&self.pool, before).await;
        self.note_end(true).await;
        poll_fn(|_| match self.pool.is_over() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
        if !self.pool.api.keeps_files
            && !status.files.is_empty()
            && let Err(error) = self.wire.delete(&status.files).await
        {
            tracing::warn!(target: "llmnode::batch", batch = self.id, "its files were not deleted, and expire by themselves: {error}");
        }
    }

    async fn note_end(&self, was_created: bool) {
        self.recorder.note(RecorderEvent::BatchEnded {
            name: &self.name,
            end: BatchEnd { was_created },
        });
        if let Err(fault) = self.recorder.write().await {
            tracing::warn!(target: "llmnode::journal", "{fault}");
        }
    }

    fn take_attached(&mut self) {
        let Some(place) = self.place else { return };
        for mut one in self.pool.attached(place) {
            let ack = Acks::new().one();
            let name = self.name.clone();
            one.plan(Planned::In {
                batch: Arc::new(BatchNames { name }),
                ack,
            });
            self.waiting.insert(one.id.clone(), one);
        }
        if self.is_late && self.pool.api.at_once {
            self.pool.ask_directly(self.waiting.keys());
        }
    }

    fn fail_all(&mut self, failed: &Failed) {
        for (_, one) in self.waiting.drain() {
            one.ends(Outcome::Failed(failed.clone()));
        }
    }

    /// Nobody knows whether it is there, or it is and could not be noted: then the journal keeps it open.
    async fn was_not_created(mut self, failed: &Failed) {
        // First the end, then what follows from it: the calls may park again.
        if failed.cost != FailedCost::Later {
            self.note_end(false).await;
        }
        self.fail_all(failed);
        self.pool.batch_ends();
    }

    /// The process died before it created the batch: its lines are parked again, as if they had never been planned.
    async fn never_was(mut self) {
        self.note_end(false).await;
        if let Some(place) = self.place {
            self.pool.was_not_created(place);
        }
        self.take_attached();
        for (_, one) in self.waiting.drain() {
            one.ends(Outcome::Again);
        }
        self.pool.batch_ends();
    }

    fn end_of_time(&self, age: Duration) -> Option<Instant> {
        let left = self.pool.api.within.saturating_sub(age);
        self.pool.clock.now().checked_add(left)
    }

    /// Waits, as long as one of its calls waits for it. `false`: none does.
    async fn pause_for_calls(&mut self, time: Duration) -> bool {
        let clock = Arc::clone(&self.pool.clock);
        let mut sleep = std::pin::pin!(clock.sleep(time));
        // The map polls its batches whenever one of its calls has gone on, or was dropped.
        poll_fn(|cx| {
            if self.has_nobody() {
                return Poll::Ready(false);
            }
            sleep.as_mut().poll(cx).map(|()| true)
        })
        .await
    }

    /// Whether all calls are gone, such as one that was dropped by a timeout around it.
    fn has_nobody(&self) -> bool {
        self.pool.is_over() || self.waiting.values().all(Waiting::is_gone)
    }

    /// Looks at the batch until it has ended. `None`: everybody who waited was told something else, or is gone.
    async fn until_ended(&mut self, age: Duration) -> Option<BatchStatus> {
        let clock = Arc::clone(&self.pool.clock);
        let end = self.end_of_time(age);
        let mut look = 0;
        loop {
            // One that was just created is not done; one of another process may be.
            let waits = look > 0 || self.place.is_none() && !self.pool.api.once;
            let wait = self.pool.api.wait_before(look);
            if self.has_nobody() || waits && !self.pause_for_calls(wait).await {
                return None;
            }
            look += 1;
            match self.wire.poll(&self.id).await {
                Ok(status) if status.refused.is_some() => {
                    let refusal = status.refused.unwrap_or_default();
                    self.refused(&refusal).await;
                    return None;
                }
                Ok(status) if status.has_ended => return Some(status),
                Ok(status) if self.pool.api.once => {
                    self.pause(&status.state);
                    return None;
                }
                Ok(_) => {}
                Err(error) if error.category.group() == Group::Transport && !self.pool.api.once => {
                    tracing::warn!(target: "llmnode::batch", batch = self.id, "it cannot be looked at: {error}");
                }
                // It may be paid for: the next process looks at the same batch.
                Err(error) => {
                    self.fail_all(&Failed::unread(&self.id, &error));
                    return None;
                }
            }
            if end.is_some_and(|end| clock.now() >= end) {
                return self.too_late().await;
            }
        }
    }

    fn pause(&mut self, state: &str) {
        let message = format!(
            "the batch {} is {state}; start the map again with the same journal to go on",
            self.id
        );
        let failed = Failed::new(Category::Paused, message, FailedCost::Later);
        self.fail_all(&failed);
    }

    /// The batch has had its time: it is cancelled, and what is there is read.
    async fn too_late(&mut self) -> Option<BatchStatus> {
        self.is_late = true;
        if self.pool.api.at_once {
            self.pool.ask_directly(self.waiting.keys());
        }
        let clock = Arc::clone(&self.pool.clock);
        if let Err(error) = self.wire.cancel(&self.id).await {
            tracing::warn!(target: "llmnode::batch", batch = self.id, "it cannot be cancelled: {error}");
        }
        let end = clock.now().checked_add(CANCEL_WAIT);
        loop {
            if let Ok(status) = self.wire.poll(&self.id).await
                && status.has_ended
            {
                return Some(status);
            }
            if end.is_none_or(|end| clock.now() >= end) {
                let failed = self.never_ended();
                self.fail_all(&failed);
                return None;
            }
            if !self.pause_for_calls(CANCEL_WAIT / 12).await {
                return None;
            }
        }
    }

    fn never_ended(&self) -> Failed {
        let message = format!(
            "the batch {} did not end within {:?}, nor {CANCEL_WAIT:?} after it was cancelled; what it may have answered is unknown",
            self.id, self.pool.api.within
        );
        Failed {
            retry: self.pool.api.at_once.then_some(Retry::Adapted),
            ..Failed::new(Category::Timeout, message, FailedCost::Unknown)
        }
    }

    /// A batch that was refused as a whole cost nothing.
    async fn refused(&mut self, refusal: &BatchRefusal) {
        self.note_end(false).await;
        let message = format!("the batch {} was refused: {}", self.id, refusal.message);
        if refusal.is_full {
            let in_queue = self.in_queue.take();
            if in_queue.is_some_and(|place| place.was_refused(self.lines)) {
                self.pause_for_calls(self.pool.api.wait_before(0)).await;
                return self.again();
            }
            let failed = Failed::new(Category::RateLimitError, message, FailedCost::Nothing);
            return self.fail_all(&failed);
        }
        let failed = Failed::new(Category::BadRequest, message, FailedCost::Nothing);
        if !self.fail_refused_lines(refusal) {
            return self.fail_all(&failed);
        }
        // Those that were refused with others before would go round for ever.
        let ids: Vec<String> = self.waiting.keys().cloned().collect();
        for id in self.pool.refused_before(ids) {
            if let Some(line) = self.waiting.remove(&id) {
                line.ends(Outcome::Failed(failed.clone()));
            }
        }
        self.again();
    }

    /// Returns whether the rest is worth another order. Of a batch of another process it is not known which lines are meant: the
    /// order of this process tells.
    fn fail_refused_lines(&mut self, refusal: &BatchRefusal) -> bool {
        if self.place.is_some() {
            return !refusal.lines.is_empty();
        }
        let mut has_removed = false;
        for (at, fault) in &refusal.lines {
            let Some(id) = self.order.get(*at) else {
                continue;
            };
            has_removed = true;
            if let Some(line) = self.waiting.remove(id) {
                let message = format!("the batch {} was refused for this line: {fault}", self.id);
                let failed = Failed::new(Category::BadRequest, message, FailedCost::Nothing);
                line.ends(Outcome::Failed(failed));
            }
        }
        has_removed
    }

    fn again(&mut self) {
        for (_, one) in self.waiting.drain() {
            one.ends(Outcome::Again);
        }
    }

    /// Gives each line to its call, no more at once than the map's concurrency. A line that is missing failed on the way.
    async fn read(&mut self, status: &BatchStatus, age: Duration) {
        self.pool.begins_reading();
        let read = self.read_lines(status, age).await;
        match read {
            Ok(()) if status.missing != MissingLines::Lost => {
                let now = SystemTime::now();
                let result = match status.missing {
                    MissingLines::Cancelled => LineResult::Cancelled,
                    MissingLines::Expired | MissingLines::Lost => LineResult::Expired,
                };
                let waiting = std::mem::take(&mut self.waiting);
                for one in waiting.into_values() {
                    one.ends(self.outcome(result.clone(), now));
                }
            }
            Ok(()) => {
                let message = format!(
                    "the results of the batch {} have no line for this request",
                    self.id
                );
                let failed = Failed {
                    retry: Some(Retry::Transport),
                    ..Failed::new(Category::BadResponse, message, FailedCost::Unknown)
                };
                self.fail_all(&failed);
            }
            // Not sent again by itself, since it is paid for.
            Err(error) if error.category == Category::NotFound => {
                self.fail_all(&Failed::of_error(&error, FailedCost::Unknown));
            }
            // The next process reads it.
            Err(error) => {
                self.is_unread = true;
                self.fail_all(&Failed::unread(&self.id, &error));
            }
        }
        self.pool.ends_reading();
    }

    /// What was read is done with. After a failure on the way, the rest is read again until the time of the batch is over.
    async fn read_lines(&mut self, status: &BatchStatus, age: Duration) -> Result<(), ModelError> {
        let ended = SystemTime::now();
        let end = self.end_of_time(age);
        let mut readings = 0;
        loop {
            let error = match self.read_once(status, ended).await {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            let wait = self.pool.api.wait_before(readings);
            readings += 1;
            let has_time = end.is_some_and(|end| self.pool.clock.now() < end);
            let goes_on = match self.pool.api.once {
                true => false,
                false => readings < READINGS || has_time,
            };
            if error.category.group() != Group::Transport || !goes_on {
                return Err(error);
            }
            tracing::warn!(target: "llmnode::batch", batch = self.id, "its results cannot be read: {error}");
            // Meanwhile, others may be sent.
            self.pool.ends_reading();
            let goes_on = self.pause_for_calls(wait).await;
            self.pool.begins_reading();
            if !goes_on {
                return Ok(());
            }
        }
    }

    async fn read_once(
        &mut self,
        status: &BatchStatus,
        ended: SystemTime,
    ) -> Result<(), ModelError> {
        let mut results = self.wire.results(status).await?;
        while !self.has_nobody()
            && let Some((id, result)) = results.next().await?
        {
            let Some(line) = self.waiting.remove(&id) else {
                continue;
            };
            let pool = Arc::clone(&self.pool);
            poll_fn(|_| match line.is_gone() || pool.has_room_for_result() {
                true => Poll::Ready(()),
                false => Poll::Pending,
            })
            .await;
            line.ends(self.outcome(result, ended));
        }
        Ok(())
    }

    fn outcome(&self, result: LineResult, ended: SystemTime) -> Outcome {
        let id = &self.id;
        match result {
            LineResult::Response(response) => Outcome::Response(
                response,
                BatchTimes {
                    batch: id.clone(),
                    submitted: self.submitted,
                    ended: Some(ended),
                },
            ),
            LineResult::Expired => Outcome::Failed(Failed::new(
                Category::Timeout,
                format!("the batch {id} expired before this request was answered"),
                FailedCost::Nothing,
            )),
            LineResult::Cancelled if self.is_late && self.pool.api.at_once => Outcome::Again,
            LineResult::Cancelled if self.is_late => Outcome::Failed(Failed::new(
                Category::Timeout,
                format!(
                    "the batch {id} did not end within {:?}, and was cancelled before this request was answered",
                    self.pool.api.within
                ),
                FailedCost::Nothing,
            )),
            LineResult::Cancelled => Outcome::Failed(Failed::new(
                Category::Cancelled,
                format!("the batch {id} was cancelled before this request was answered"),
                FailedCost::Nothing,
            )),
        }
    }
}
