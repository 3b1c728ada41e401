//! Prints the allocations of a step: `allocations LIBRARY STEPS RUNS yes|no`.
//!
//! A binary of its own, since its counting allocator would slow the others down.

use flow_bench::contender::{Contender, Load};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [library, load @ ..] = &arguments[..] else {
        panic!("allocations LIBRARY STEPS RUNS yes|no")
    };
    let contender =
        Contender::named(library).unwrap_or_else(|| panic!("nobody is called {library}"));
    let load = Load::parse(load).expect("STEPS RUNS yes|no");
    contender.run(load);
    let counted = allocation_counter::measure(|| contender.run(load));
    println!(
        "{}",
        counted.count_total as f64 / (load.runs * load.steps) as f64
    );
}
