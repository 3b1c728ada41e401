//! The calls: so many at a time, some of them dropped on the way, all on one run in one thread, so that every byte
//! on the heap is theirs.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use llmnode::Settings;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::draw::random;
use crate::faulty::{Caller, REFUSING};
use crate::memory::sockets;
use crate::options::Options;
use crate::serve::tell;
use crate::told::{Closed, Ended, Told};

/// Of one attempt: long enough for an answer on a busy machine.
const TIMEOUT: Duration = Duration::from_millis(500);
/// The fewest calls after which the heap is looked at, since none may be under way then.
const BATCH: u64 = 1000;

struct Work {
    caller: Caller,
    next: AtomicU64,
    /// Nanoseconds of the waits in the ledger.
    waited: AtomicU64,
    seed: u64,
    drops: u64,
}

pub(crate) fn call(options: &Options) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let caller = runtime.block_on(async { Caller::new(&options.base_url, TIMEOUT) })?;
    let ledger = caller.run.ledger();
    let clock = caller.clock.clone();
    let (next, waited) = (AtomicU64::new(0), AtomicU64::new(0));
    let work = Arc::new(Work { caller, next, waited, seed: options.seed, drops: options.drops });
    let batch = (options.calls / 200).max(BATCH);
    let mut heap = Vec::with_capacity(256);
    let began = Instant::now();
    let mut live = 0;
    while work.next.load(Ordering::Relaxed) < options.calls {
        let until = (work.next.load(Ordering::Relaxed) + batch).min(options.calls);
        let measured =
            allocation_counter::measure(|| runtime.block_on(make(&work, until, options.in_flight)));
        live += measured.bytes_current;
        heap.push((until, live));
    }
    let seconds = began.elapsed().as_secs_f64();
    let ledger_waited = Duration::from_nanos(work.waited.load(Ordering::Relaxed));
    drop(work);
    let tasks_left = settle(&runtime);
    let total = ledger.total();
    tell(&Told::Closed(Closed {
        requests: total.requests,
        tokens: total.total.known,
        clock_waited: clock.waited(),
        ledger_waited,
        heap,
        tasks_left,
        sockets_left: sockets()?,
        seconds,
    }));
    Ok(())
}

/// Makes calls until the next one has the number `until`, and waits for all of them.
async fn make(work: &Arc<Work>, until: u64, in_flight: u64) {
    let mut workers = JoinSet::new();
    for _ in 0..in_flight {
        let work = Arc::clone(work);
        workers.spawn(async move {
            while let Ok(number) = work
                .next
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| (next < until).then_some(next + 1))
            {
                work.one(number).await;
            }
        });
    }
    workers.join_all().await;
}

impl Work {
    async fn one(&self, number: u64) {
        // Another draw than the server's.
        let random = random(!self.seed, number);
        let refused = random % 100 == 99;
        let mut settings = Settings::new();
        settings.model = refused.then(|| REFUSING.to_owned());
        let polls = (random / 100 % 100 < self.drops).then_some((random / 10_000 % 5) as u32);
        let record = self.caller.call(number, settings, polls).await;
        let waits: Duration = record.attempts.iter().map(|attempt| attempt.wait).sum();
        self.waited.fetch_add(waits.as_nanos() as u64, Ordering::Relaxed);
        let category = record.category.map(|category| category.as_str().to_owned());
        let entries = self.caller.entries(number, &record);
        tell(&Told::Ended { call: Ended { category, refused }, entries });
    }
}

/// Waits until all tasks have ended, some seconds at most; those that are left.
fn settle(runtime: &Runtime) -> usize {
    for _ in 0..500 {
        if runtime.metrics().num_alive_tasks() == 0 {
            break;
        }
        runtime.block_on(async { tokio::time::sleep(Duration::from_millis(10)).await });
    }
    runtime.metrics().num_alive_tasks()
}
