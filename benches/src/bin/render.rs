//! Processor time of rendering a prompt, against `format!`.

use std::hint::black_box;

use llmnode_benches::measure::{cpu_each, median};
use llmnode_benches::summarize::{Summarize, by_format, by_llmnode};

const ROUNDS: usize = 5;
const TIMES: usize = 100_000;

fn main() {
    let node = Summarize::example();
    let (mut ours, mut format) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(nanoseconds(&node, by_llmnode));
        format.push(nanoseconds(&node, by_format));
    }
    println!("render.ours {:.1}", median(ours));
    println!("render.format {:.1}", median(format));
}

fn nanoseconds<T>(node: &Summarize, render: fn(&Summarize) -> T) -> f64 {
    1000.0
        * cpu_each(TIMES, || {
            for _ in 0..TIMES {
                black_box(render(black_box(node)));
            }
        })
}
