//! Processor time of llmnode's own share of a call: by the size of the state, and of a correction.

use llmnode_benches::measure::{cpu_each, median};
use llmnode_benches::mocked::Calls;

const ROUNDS: usize = 3;
const CALLS: usize = 20_000;

/// Calls, so many of them, with so many bytes of state.
type Make = fn(usize, usize) -> Calls;

fn main() {
    let kinds: [(&str, Make, usize); 3] = [
        ("mocked.plain", Calls::plain, 1000),
        ("mocked.large-state", Calls::plain, 10_000_000),
        ("mocked.corrected", Calls::corrected, 1000),
    ];
    let mut times = [const { Vec::new() }; 3];
    for round in 0..ROUNDS {
        for place in 0..kinds.len() {
            let kind = (place + round) % kinds.len();
            let (_, calls, state) = kinds[kind];
            let calls = calls(CALLS + 1000, state);
            calls.make(1000);
            times[kind].push(cpu_each(CALLS, || calls.make(CALLS)));
        }
    }
    for ((name, ..), times) in kinds.iter().zip(times) {
        println!("{name} {:.3}", median(times));
    }
}
