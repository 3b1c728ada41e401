//! Prints the nanoseconds that a step takes, of the processor and by the clock: `steps STEPS_IN_ALL LIBRARY STEPS RUNS yes|no`.
//!
//! The task is done as often as it takes to come to so many steps in all.

use flow_bench::contender::{Contender, Load};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [in_all, library, load @ ..] = &arguments[..] else {
        panic!("steps STEPS_IN_ALL LIBRARY STEPS RUNS yes|no");
    };
    let contender =
        Contender::named(library).unwrap_or_else(|| panic!("nobody is called {library}"));
    let load = Load::parse(load).expect("STEPS RUNS yes|no");
    let times = (in_all.parse::<u64>().unwrap() / load.steps / load.runs).max(1);
    // What is made once, at the first use, is no part of a step.
    contender.run(load);
    let steps = times * load.runs * load.steps;
    let [cpu, clock] = contender
        .time(load, times)
        .map(|time| time.as_nanos() as f64 / steps as f64);
    println!("{cpu} {clock}");
}
