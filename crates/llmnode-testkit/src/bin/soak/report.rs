//! The figures and the verdict: a table, and a line of JSON.

use std::fmt::Display;
use std::process::ExitCode;

use crate::memory::slope;
use crate::options::Options;
use crate::watch::Outcome;

/// Resident memory is judged from this many calls on: an allocator's pages vary by some 100 KB, more than a byte for
/// each of fewer calls.
const MANY: u64 = 500_000;
/// Bytes a call.
const MAX_SLOPE: f64 = 1.0;
/// Buffers of connections that a busy machine closes late. Even the shortest run finds a leak of one record a call.
const BUFFERS: f64 = 65_536.0;

/// Fails if a promise does not hold.
pub(crate) fn print(options: &Options, outcome: &Outcome) -> ExitCode {
    let memory = Growth::of(outcome);
    let calls: u64 = outcome.ended.values().sum();
    print_table(options, outcome, &memory, calls);
    let broken = broken_promises(options, outcome, &memory, calls);
    let closed = &outcome.closed;
    println!(
        "\n{}",
        serde_json::json!({
            "calls": calls, "ended": outcome.ended, "budget_empty": outcome.budget_empty, "requests": outcome.figures,
            "seconds": closed.seconds, "heap_bytes_per_call": memory.heap, "resident_bytes_per_call": memory.resident,
            "tasks_left": closed.tasks_left, "sockets_left": closed.sockets_left, "broken": broken,
        })
    );
    for promise in &broken {
        eprintln!("BROKEN: {promise}");
    }
    for complaint in &outcome.complaints {
        eprintln!("  {complaint}");
    }
    if broken.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Bytes a call, over the last half of the calls.
struct Growth {
    heap: f64,
    resident: f64,
}

impl Growth {
    fn of(outcome: &Outcome) -> Self {
        let memory = &outcome.closed.memory;
        Growth {
            heap: slope(memory, |sample| sample.heap),
            resident: slope(memory, |sample| sample.resident),
        }
    }
}

fn print_table(options: &Options, outcome: &Outcome, memory: &Growth, calls: u64) {
    let Outcome {
        figures,
        closed,
        ended,
        budget_empty,
        ..
    } = outcome;
    println!("| | |\n|---|---|");
    let in_flight = options.in_flight;
    let seed = options.seed;
    row(
        "calls",
        format!("{calls}, {in_flight} in flight, seed {seed}"),
    );
    for (how, calls) in ended {
        row(&format!("calls: {how}"), calls);
    }
    row("calls that failed for want of retry budget", budget_empty);
    row("requests in the ledger", figures.entries);
    row("requests that the server saw", figures.seen);
    row("of equal usage on both sides", figures.equal);
    row("unknown, and claiming nothing", figures.unknown);
    row(
        "never seen by the server, and claiming nothing",
        figures.unseen,
    );
    row("wrong", figures.wrong);
    row("tokens", figures.tokens);
    let spared = closed.clock_waited;
    row("waits that the clock was spared", format!("{spared:.0?}"));
    let heap = format!("{:.3}", memory.heap);
    row("heap, bytes a call over the last half", heap);
    let resident = format!("{:.3}", memory.resident);
    row("resident memory, bytes a call over the last half", resident);
    let left = format!("{} and {}", closed.tasks_left, closed.sockets_left);
    row("tasks and sockets left", left);
    let rate = calls as f64 / closed.seconds;
    row(
        "seconds",
        format!("{:.1}, {rate:.0} calls a second", closed.seconds),
    );
}

fn row(name: &str, value: impl Display) {
    println!("| {name} | {value} |");
}

/// The promises of the crate that this run did not keep.
fn broken_promises(
    options: &Options,
    outcome: &Outcome,
    memory: &Growth,
    calls: u64,
) -> Vec<&'static str> {
    let Outcome {
        figures,
        closed,
        budget_empty,
        ..
    } = outcome;
    let allowed = MAX_SLOPE + BUFFERS / (options.calls.max(2) / 2) as f64;
    let same_sums = closed.requests == figures.entries && closed.tokens == figures.tokens;
    // A wait at a gate is measured, and all calls move the clock.
    let has_waited = closed.ledger_waited >= closed.clock_waited;
    let resident_is_flat = calls < MANY || memory.resident <= MAX_SLOPE;
    let promises = [
        ("every call has its record", calls == options.calls),
        ("both books agree", figures.wrong == 0),
        ("the ledger's sums are those of its entries", same_sums),
        ("who asked again has waited", has_waited),
        (
            "the retry budget is for outages",
            *budget_empty <= calls / 100,
        ),
        ("the heap does not grow", memory.heap <= allowed),
        ("the resident memory does not grow", resident_is_flat),
        ("no task is left", closed.tasks_left == 0),
        ("no socket is left", closed.sockets_left == 0),
    ];
    promises
        .into_iter()
        .filter(|(_, holds)| !holds)
        .map(|(promise, _)| promise)
        .collect()
}
