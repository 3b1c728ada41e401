//! Runs a check a fixed number of times on inputs of its own: no libFuzzer, no C++ compiler, and always the same inputs.
//!
//! ```text
//! cargo run --release --manifest-path fuzz/reading/Cargo.toml --bin fixed -- mangled 1000000 [SEED]
//! ```
//!
//! Each input that fails is printed with the number that makes it again, `fixed mangled 1 NUMBER`; after ten of them it
//! ends. A stack that overflows ends it at once.

use std::panic::catch_unwind;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The bytes of an input, at most.
const LENGTH: usize = 96;
/// So many failures are enough.
const ENOUGH: u32 = 10;

type Target = fn(&[u8]);

const TARGETS: [(&str, Target); 3] = [
    ("soup", llmnode_fuzz_reading::soup),
    ("mangled", llmnode_fuzz_reading::mangled),
    ("schema", llmnode_fuzz_reading::schema),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, count, seed @ ..] = &arguments[..] else {
        return usage();
    };
    let target = TARGETS.iter().find(|(known, _)| known == name);
    let seed = seed.first().map_or(Ok(0), |seed| seed.parse::<u64>());
    let (Some((_, target)), Ok(count), Ok(seed)) = (target, count.parse::<u64>(), seed) else {
        return usage();
    };
    // As much stack as a thread has of itself.
    let name = name.clone();
    let run = std::thread::spawn(move || run(&name, *target, seed, count));
    match run.join() {
        Ok(true) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn usage() -> ExitCode {
    eprintln!("fixed soup|mangled|schema COUNT [SEED]");
    ExitCode::FAILURE
}

fn run(name: &str, target: Target, seed: u64, count: u64) -> bool {
    let begin = Instant::now();
    let mut failed = 0;
    let (mut last, mut slowest) = (begin, (Duration::ZERO, 0));
    for number in seed..seed.saturating_add(count) {
        if catch_unwind(|| target(&input(number))).is_err() {
            eprintln!("failed: fixed {name} 1 {number}\n");
            failed += 1;
            if failed == ENOUGH {
                return false;
            }
        }
        let now = Instant::now();
        slowest = slowest.max((now - last, number));
        last = now;
    }
    let seconds = begin.elapsed().as_secs_f64();
    println!(
        "{name}: {count} executions from {seed}, {:.0} a second, {failed} failed",
        count as f64 / seconds
    );
    println!("slowest: {:?}, fixed {name} 1 {}", slowest.0, slowest.1);
    llmnode_fuzz_reading::print_read();
    failed == 0
}

/// The bytes of a number: SplitMix64, from which each number has its own sequence.
fn input(number: u64) -> Vec<u8> {
    let mut state = number.wrapping_mul(0xd134_2543_de82_ef95);
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    let length = next() as usize % LENGTH;
    let mut bytes: Vec<u8> = (0..length.div_ceil(8))
        .flat_map(|_| next().to_le_bytes())
        .collect();
    bytes.truncate(length);
    bytes
}
