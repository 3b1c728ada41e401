//! An order of this process, until it is a batch: planned, uploaded, created.
//!
//! Before each step that costs something, the journal has the step before it, so that at whatever moment the process dies, the next
//! one knows where the batch stands.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use llmnode_model::batch::{BatchOrder, BatchTraces, BatchWire, OrderLine};
use llmnode_model::{Category, Group, ModelError};

use super::batch::{Batch, by_id};
use super::find::find;
use super::group::NewOrder;
use super::parked::{Acks, BatchNames, Failed, FailedCost, Planned, Unread, Waiting};
use super::pool::BatchPool;
use crate::ledger::{Recorder, RunEvent};

/// So often a batch is created anew after a failure of the transport, if it is not there.
const CREATIONS: u32 = 4;

/// Later than this after its plan, a batch is not created anew. A wire that finds batches by their time looks further than that.
const CREATED_WITHIN: Duration = Duration::from_secs(3_600);

/// So many lines are noted in the journal before it is written: their records wait in memory until then.
const NOTED_AT_ONCE: usize = 1_000;

/// Files are kept for this long after a batch has to be over.
const FILES_KEPT: Duration = Duration::from_secs(7 * 86_400);

/// Plans, uploads and creates a batch, and sees it to its end:
///
/// 1. `batch_planned` with the ids of all lines, and `attempt_began` of each. If the process dies after this, the next one looks
///    for the batch by its name.
/// 2. The upload, and `batch_uploaded`.
/// 3. The creation, and `batch_created`. If the process dies after this, the next one looks at this batch.
pub(super) async fn new_batch(pool: Arc<BatchPool>, order: NewOrder) {
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
    let ids: Vec<Arc<str>> = lines.iter().map(|line| Arc::clone(&line.id)).collect();
    let count = lines.len();
    pool.batch_begins();
    recorder.record(&RunEvent::BatchPlanned {
        name: &name,
        api,
        model: &model,
        lines: &ids,
    });
    let planned = plan(&*recorder, &name, &mut waiting).await;
    let order = BatchOrder {
        name: name.clone(),
        api,
        model,
        lines: Arc::new(lines),
        expires_after,
    };
    let created = match planned {
        Ok(()) => create(&pool, &*wire, &*recorder, &order).await,
        Err(failed) => Err(failed),
    };
    drop(order);
    let mut batch = Batch {
        pool,
        wire,
        recorder,
        name,
        id: String::new(),
        lines: count,
        submitted: Some(SystemTime::now()),
        cancelled: None,
        in_queue: Some(in_queue),
        waiting: by_id(waiting),
        place: None,
        order: ids,
        is_late: false,
        unread: Unread::default(),
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

/// Has each call note its request, and the journal write that.
async fn plan(recorder: &dyn Recorder, name: &str, waiting: &mut [Waiting]) -> Result<(), Failed> {
    let names = Arc::new(BatchNames {
        name: name.to_owned(),
    });
    for lines in waiting.chunks_mut(NOTED_AT_ONCE) {
        let acks = Acks::new();
        for one in lines {
            let ack = acks.one();
            let batch = Arc::clone(&names);
            one.plan(Planned::In { batch, ack });
        }
        acks.wait().await;
        write(recorder).await?;
    }
    Ok(())
}

/// Returns the batch's id, once the journal has it.
async fn create(
    pool: &BatchPool,
    wire: &dyn BatchWire,
    recorder: &dyn Recorder,
    order: &BatchOrder,
) -> Result<String, Failed> {
    let planned = SystemTime::now();
    let line = order
        .lines
        .first()
        .map(|line: &OrderLine| line.id.to_string());
    let lines = order.lines.len();
    let unsent = |error: ModelError| Failed::of_error(&error, FailedCost::Unsent);
    let file = wire.upload(order).await.map_err(unsent)?;
    if let Some(file) = &file {
        let name = &order.name;
        recorder.record(&RunEvent::BatchUploaded { name, file });
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
    recorder.record(&RunEvent::BatchCreated {
        name: &order.name,
        batch: &id,
    });
    // It is there, and a later process finds it by its name.
    write(recorder).await.map_err(Failed::later)?;
    Ok(id)
}

/// A creation that failed on the way, or whose answer cannot be read, may have been one: then the provider is asked whether the batch
/// is there. It is done again only after a failure on the way, when it surely did not leave or when there is no such batch.
async fn create_once(
    pool: &BatchPool,
    wire: &dyn BatchWire,
    order: &BatchOrder,
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
        let may_be_tried_again = error.category.group() == Group::Transport;
        if !may_be_tried_again && !may_be_created(&error) {
            return Err(Failed::of_error(&error, FailedCost::Unsent));
        }
        if pool.api.once {
            // A list may not have it yet: a later start looks for it.
            return Err(match error.reached {
                true => Failed::unread(&traces.name, &error),
                false => Failed::of_error(&error, FailedCost::Unsent),
            });
        }
        let continues = pool.pause(pool.api.wait_before(creations)).await;
        creations += 1;
        if error.reached
            && let Some(id) = find(pool, wire, traces, end).await?
        {
            return Ok(id);
        }
        let has_time = last.is_some_and(|last| pool.clock.now() < last);
        if !may_be_tried_again || !continues || !has_time || creations == CREATIONS {
            return Err(Failed::of_error(&error, FailedCost::Unsent));
        }
    }
}

/// Whether an answer that is no failure on the way can be one to a creation: such as a success whose body cannot be read.
fn may_be_created(error: &ModelError) -> bool {
    let is_refused = error.status.is_some_and(|status| status < 500);
    error.reached && !is_refused
}

async fn write(recorder: &dyn Recorder) -> Result<(), Failed> {
    recorder.write().await.map_err(|fault| {
        let message = format!("the journal cannot be written: {fault}");
        Failed::new(Category::Aborted, message, FailedCost::Unsent)
    })
}

impl Batch {
    /// Nobody knows whether it is there, or it is and could not be noted: then the journal keeps it open.
    async fn was_not_created(mut self, failed: &Failed) {
        // First the end, then what follows from it: the calls may park again.
        if failed.cost != FailedCost::Later {
            self.note_end(false).await;
        }
        self.fail_all(failed);
        self.pool.batch_ends();
    }
}
