//! The figures and the verdict: a table, and a line of JSON.

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
    let Outcome {
        figures,
        closed,
        ended,
        ..
    } = outcome;
    let memory = &closed.memory;
    let (heap, resident) = (
        slope(memory, |sample| sample.heap),
        slope(memory, |sample| sample.resident),
    );
    let all: u64 = ended.values().sum();
    println!("| | |\n|---|---|");
    let allowed = MAX_SLOPE + BUFFERS / (options.calls.max(2) / 2) as f64;
    let row = |name: &str, value: String| println!("| {name} | {value} |");
    row(
        "calls",
        format!(
            "{all}, {} in flight, seed {}",
            options.in_flight, options.seed
        ),
    );
    for (how, calls) in ended {
        row(&format!("calls: {how}"), calls.to_string());
    }
    row(
        "calls that failed for want of retry budget",
        outcome.budget_empty.to_string(),
    );
    row("requests in the ledger", figures.entries.to_string());
    row("requests that the server saw", figures.seen.to_string());
    row("of equal usage on both sides", figures.equal.to_string());
    row("unknown, and claiming nothing", figures.unknown.to_string());
    row(
        "never seen by the server, and claiming nothing",
        figures.unseen.to_string(),
    );
    row("wrong", figures.wrong.to_string());
    row("tokens", figures.tokens.to_string());
    row(
        "waits that the clock was spared",
        format!("{:.0?}", closed.clock_waited),
    );
    row(
        "heap, bytes a call over the last half",
        format!("{heap:.3}"),
    );
    row(
        "resident memory, bytes a call over the last half",
        format!("{resident:.3}"),
    );
    row(
        "tasks and sockets left",
        format!("{} and {}", closed.tasks_left, closed.sockets_left),
    );
    row(
        "seconds",
        format!(
            "{:.1}, {:.0} calls a second",
            closed.seconds,
            all as f64 / closed.seconds
        ),
    );
    let promises = [
        ("every call has its record", all == options.calls),
        ("both books agree", figures.wrong == 0),
        (
            "the ledger's sums are those of its entries",
            (closed.requests, closed.tokens) == (figures.entries, figures.tokens),
        ),
        // A wait at a gate is measured, and all calls move the clock.
        (
            "who asked again has waited",
            closed.ledger_waited >= closed.clock_waited,
        ),
        (
            "the retry budget is for outages",
            outcome.budget_empty <= all / 100,
        ),
        ("the heap does not grow", heap <= allowed),
        (
            "the resident memory does not grow",
            all < MANY || resident <= MAX_SLOPE,
        ),
        ("no task is left", closed.tasks_left == 0),
        ("no socket is left", closed.sockets_left == 0),
    ];
    let broken: Vec<_> = promises
        .iter()
        .filter(|(_, holds)| !holds)
        .map(|(promise, _)| *promise)
        .collect();
    println!(
        "\n{}",
        serde_json::json!({
            "calls": all, "ended": ended, "budget_empty": outcome.budget_empty, "requests": figures, "seconds": closed.seconds,
            "heap_bytes_per_call": heap, "resident_bytes_per_call": resident,
            "tasks_left": closed.tasks_left, "sockets_left": closed.sockets_left, "broken": broken,
        })
    );
    broken
        .iter()
        .for_each(|promise| eprintln!("BROKEN: {promise}"));
    outcome
        .complaints
        .iter()
        .for_each(|complaint| eprintln!("  {complaint}"));
    if broken.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
