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

use super::parked::{Acks, BatchNames, BatchTimes, Failed, FailedCost, Outcome, Planned, Waiting};
use super::pool::{BatchPool, LeftStart, NewOrder};
use crate::ledger::{BatchEnd, JournaledBatch, Recorder, RecorderEvent};

/// So often a batch is created anew after a failure of the transport, if it is not there.
const CREATIONS: u32 = 4;

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
            self.limit_holds = Some(sent);
        }
        for order in orders {
            let pool = Arc::clone(&self.pool);
            self.batches.push(Box::pin(new_batch(pool, order)));
        }
        let reads = self.pool.is_reading();
        self.batches
            .retain_mut(|batch| batch.as_mut().poll(cx).is_pending());
        // What waited for the end of a file may be sent now, and nothing else would wake the map.
        if reads && !self.pool.is_reading() {
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
    api: String,
    model: String,
    lines: usize,
    submitted: Option<SystemTime>,
    /// Its lines without a result, by id.
    waiting: HashMap<String, Waiting>,
    /// Of `left`, if an earlier process sent it.
    place: Option<usize>,
    /// Ids in the order of the lines: a refusal may name them by number.
    order: Vec<String>,
    /// It was cancelled here, since its time was over.
    is_late: bool,
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
        model: model.clone(),
        lines,
        body: None,
        expires_after,
    };
    let created = create(&*wire, &*recorder, &mut order).await;
    drop(order);
    let mut batch = Batch {
        pool,
        wire,
        recorder,
        name,
        id: String::new(),
        api: api.to_owned(),
        model,
        lines: count,
        submitted: Some(SystemTime::now()),
        waiting: by_id(waiting),
        place: None,
        order: ids,
        is_late: false,
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

/// Returns the batch's id. A creation that failed on the way may have been one: it is looked for before it is tried again.
async fn create(
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
        file: file.clone(),
        planned,
        lines,
        line,
    };
    let mut creations = 0;
    let id = loop {
        let error = match wire.create(order, file.as_deref()).await {
            Ok(id) => break id,
            Err(error) => error,
        };
        creations += 1;
        let may_be_there = error.category.group() == Group::Transport;
        if !may_be_there || creations == CREATIONS {
            return Err(Failed::of_error(&error, FailedCost::Unsent));
        }
        if let Ok(Some(id)) = wire.find(&traces).await {
            break id;
        }
    };
    recorder.note(RecorderEvent::BatchCreated {
        name: &order.name,
        batch: &id,
    });
    write(recorder).await?;
    Ok(id)
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
    let LeftStart { place, batch, wire } = start;
    pool.batch_begins();
    wait_for_quiet(&pool, quiet).await;
    let planned = batch.planned.unwrap_or(SystemTime::UNIX_EPOCH);
    let id = match &batch.batch {
        Some(id) => Ok(Some(id.clone())),
        None => {
            let traces = BatchTraces {
                name: batch.name.clone(),
                api: batch.api.clone(),
                model: batch.model.clone(),
                file: batch.file.clone(),
                planned,
                lines: batch.planned_lines,
                line: batch.lines.first().cloned(),
            };
            wire.find(&traces).await
        }
    };
    let mut driven = Batch {
        pool,
        wire,
        recorder,
        name: batch.name,
        id: String::new(),
        api: batch.api,
        model: batch.model,
        lines: batch.planned_lines,
        submitted: batch.created.or(batch.planned),
        waiting: HashMap::new(),
        place: Some(place),
        order: Vec::new(),
        is_late: false,
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
        Err(error) => {
            let failed = Failed::of_error(&error, FailedCost::Unknown);
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
                if let Some(known) = known {
                    self.read(&known).await;
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
        if let Some(status) = status.filter(|status| status.has_ended) {
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
    }

    fn fail_all(&mut self, failed: &Failed) {
        for (_, one) in self.waiting.drain() {
            one.ends(Outcome::Failed(failed.clone()));
        }
    }

    async fn was_not_created(mut self, failed: &Failed) {
        // First the end, then what follows from it: the calls may park again.
        self.note_end(false).await;
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

    /// Looks at the batch until it has ended. `None`: everybody who waited was told something else.
    async fn until_ended(&mut self, age: Duration) -> Option<BatchStatus> {
        let clock = Arc::clone(&self.pool.clock);
        let left = self.pool.api.within.saturating_sub(age);
        let end = clock.now().checked_add(left);
        let mut look = 0;
        loop {
            // One that was just created is not done; one of another process may be.
            if look > 0 || self.place.is_none() && !self.pool.api.once {
                clock.sleep(self.pool.api.wait_before(look)).await;
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
                Err(error) if error.category.group() == Group::Transport => {
                    tracing::warn!(target: "llmnode::batch", batch = self.id, "it cannot be looked at: {error}");
                }
                Err(error) => {
                    self.fail_all(&Failed::of_error(&error, FailedCost::Unknown));
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
            self.pool.ask_directly();
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
            clock.sleep(CANCEL_WAIT / 12).await;
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
            let is_smaller = self.pool.halve_orders(&self.api, &self.model, self.lines);
            if is_smaller {
                self.pool.clock.sleep(self.pool.api.wait_before(0)).await;
                return self.again();
            }
            let failed = Failed::new(Category::RateLimitError, message, FailedCost::Nothing);
            return self.fail_all(&failed);
        }
        for (at, fault) in &refusal.lines {
            let line = self.order.get(*at).and_then(|id| self.waiting.remove(id));
            if let Some(line) = line {
                let message = format!("the batch {} was refused for this line: {fault}", self.id);
                let failed = Failed::new(Category::BadRequest, message, FailedCost::Nothing);
                line.ends(Outcome::Failed(failed));
            }
        }
        if refusal.lines.is_empty() {
            self.fail_all(&Failed::new(
                Category::BadRequest,
                message,
                FailedCost::Nothing,
            ));
        }
        self.again();
    }

    fn again(&mut self) {
        for (_, one) in self.waiting.drain() {
            one.ends(Outcome::Again);
        }
    }

    /// Gives each line to its call, no more at once than the map's concurrency. A line that is missing failed on the way.
    async fn read(&mut self, status: &BatchStatus) {
        self.pool.begins_reading();
        let read = self.read_lines(status).await;
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
            Err(error) => self.fail_all(&Failed::of_error(&error, FailedCost::Unknown)),
        }
        self.pool.ends_reading();
    }

    async fn read_lines(&mut self, status: &BatchStatus) -> Result<(), ModelError> {
        let ended = SystemTime::now();
        let mut broken = 0;
        'download: loop {
            let mut results = self.wire.results(status).await?;
            loop {
                let (id, result) = match results.next().await {
                    Ok(Some(line)) => line,
                    Ok(None) => return Ok(()),
                    // What was read is done with; the rest is read again.
                    Err(error) if error.category.group() == Group::Transport && broken < 3 => {
                        broken += 1;
                        continue 'download;
                    }
                    Err(error) => return Err(error),
                };
                let Some(line) = self.waiting.remove(&id) else {
                    continue;
                };
                let pool = Arc::clone(&self.pool);
                poll_fn(move |_| match pool.has_room_for_result() {
                    true => Poll::Ready(()),
                    false => Poll::Pending,
                })
                .await;
                line.ends(self.outcome(result, ended));
            }
        }
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
