//! Prints the nanoseconds of the processor that loading a graph takes, with all its checks: `load NODES`.

use flow_bench::by_graph::{file, load};
use flow_bench::measure::cpu;

fn main() {
    let nodes: usize = std::env::args()
        .nth(1)
        .and_then(|nodes| nodes.parse().ok())
        .expect("load NODES");
    let file = file(nodes);
    load(&file);
    let times = (20_000 / nodes).max(3);
    let began = cpu();
    (0..times).for_each(|_| drop(load(&file)));
    println!("{}", (cpu() - began).as_nanos() as f64 / times as f64);
}
