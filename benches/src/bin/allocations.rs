//! Allocations of llmnode's own share of a call: of one attempt, by the size of the state, and of a correction.
//!
//! A binary of its own, since its counting allocator would slow the others down.

use allocation_counter::measure;
use llmnode_benches::mocked::Calls;
use llmnode_benches::summarize::{Summarize, by_llmnode};

/// The ledger remembers so many calls; from then on each call frees one.
const WARM_UP: usize = 300;
const MEGABYTES_10: usize = 10_000_000;

fn main() {
    let (plain, bytes) = allocations(Calls::plain, 1000);
    println!("allocations.plain {plain}");
    println!("allocations.bytes {bytes}");
    println!(
        "allocations.large-state {}",
        allocations(Calls::plain, MEGABYTES_10).0
    );
    println!(
        "allocations.corrected {}",
        allocations(Calls::corrected, 1000).0
    );
    let node = Summarize::example();
    let rendering = measure(|| drop(by_llmnode(&node)));
    println!("allocations.render {}", rendering.count_total);
}

/// Allocations, and bytes allocated, of one call.
fn allocations(calls: impl Fn(usize, usize) -> Calls, state: usize) -> (u64, u64) {
    let calls = calls(WARM_UP + 1, state);
    calls.make(WARM_UP);
    let counted = measure(|| calls.make(1));
    (counted.count_total, counted.bytes_total)
}
