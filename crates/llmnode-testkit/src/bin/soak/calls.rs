//! The calls: so many at a time, some of them dropped on the way, all on one run in one thread, so that every byte
//! on the heap is theirs.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use llmnode::Settings;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::draw::random;
use crate::event::{Closed, Ended, Event};
use crate::faulty::{Caller, REFUSING};
use crate::memory::{Sample, resident, sockets};
use crate::options::Options;
use crate::serve::send;

/// Long enough for an answer on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(2);
/// Memory is sampled between batches, when no call is running: at most so often, and after at least so many calls.
const MOST_BATCHES: u64 = 50;
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
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    // Where tokio handles signals, for MCP's processes, it has its own sockets.
    let at_start = sockets()?;
    let caller = runtime.block_on(async { Caller::new(&options.base_url, TIMEOUT) })?;
    let ledger = caller.run.ledger();
    let clock = caller.clock.clone();
    let work = Arc::new(Work {
        caller,
        next: AtomicU64::new(0),
        waited: AtomicU64::new(0),
        seed: options.seed,
        drops: options.drops,
    });
    let began = Instant::now();
    let memory = in_batches(&runtime, &work, options)?;
    let seconds = began.elapsed().as_secs_f64();
    let ledger_waited = Duration::from_nanos(work.waited.load(Ordering::Relaxed));
    drop(work);
    let metrics = runtime.metrics();
    settle(&runtime, || {
        Ok(metrics.num_alive_tasks() == 0 && sockets()? <= at_start)
    })?;
    let total = ledger.total();
    let closed = Closed {
        requests: total.requests,
        tokens: total.total.known,
        clock_waited: clock.waited(),
        ledger_waited,
        memory,
        tasks_left: metrics.num_alive_tasks(),
        sockets_left: sockets()?.saturating_sub(at_start),
        seconds,
    };
    send(&Event::Closed(closed));
    Ok(())
}

/// Samples the memory after each batch, when no call is running and the server has closed idle connections.
fn in_batches(runtime: &Runtime, work: &Arc<Work>, options: &Options) -> io::Result<Vec<Sample>> {
    let batch = (options.calls / MOST_BATCHES).max(BATCH);
    let mut memory = Vec::with_capacity(MOST_BATCHES as usize + 2);
    // Of the port that refuses connections.
    let open_before = sockets()?;
    let mut calls = 0;
    let mut live = 0;
    let mut settled = Ok(());
    while calls < options.calls {
        calls = (calls + batch).min(options.calls);
        let measured = allocation_counter::measure(|| {
            runtime.block_on(make(work, calls, options.in_flight));
            settled = settle(runtime, || Ok(sockets()? <= open_before));
        });
        std::mem::replace(&mut settled, Ok(()))?;
        live += measured.bytes_current;
        memory.push(Sample {
            calls,
            heap: live,
            resident: resident()?,
        });
    }
    Ok(memory)
}

/// Waits for all of them.
async fn make(work: &Arc<Work>, until: u64, in_flight: u64) {
    let mut workers = JoinSet::new();
    for _ in 0..in_flight {
        let work = Arc::clone(work);
        workers.spawn(async move {
            while let Ok(number) =
                work.next
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| {
                        (next < until).then_some(next + 1)
                    })
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
        settings.model = refused.then(|| REFUSING.into());
        let polls = (random / 100 % 100 < self.drops).then_some((random / 10_000 % 5) as u32);
        let record = self.caller.call(number, settings, polls).await;
        let waits: Duration = record.attempts.iter().map(|attempt| attempt.wait).sum();
        self.waited
            .fetch_add(waits.as_nanos() as u64, Ordering::Relaxed);
        let category = record.category.map(|category| category.as_str().to_owned());
        let last = record.attempts.last().filter(|_| category.is_some());
        let budget_empty = last.is_some_and(|last| last.message.contains("retry budget"));
        let call = Ended {
            category,
            refused,
            budget_empty,
        };
        send(&Event::Ended {
            call,
            entries: self.caller.entries(&record),
        });
    }
}

/// Runs remaining tasks until `quiet`, for some seconds at most.
fn settle(runtime: &Runtime, quiet: impl Fn() -> io::Result<bool>) -> io::Result<()> {
    let began = Instant::now();
    while !quiet()? && began.elapsed() < Duration::from_secs(5) {
        runtime.block_on(async { tokio::time::sleep(Duration::from_millis(5)).await });
    }
    Ok(())
}
