//! The tables.

use crate::programs::Programs;
use crate::{Figures, RUNS, SHORT, STEPS};

/// What a step and its route may cost, in nanoseconds.
const TARGET: f64 = 1000.0;
/// Ten times the steps, or the runs, may take so many times the time.
const LINEAR: f64 = 11.0;

fn called(library: &str) -> &str {
    match library {
        "hand" => "a loop and a `match`, by hand",
        "llmnode" => "llmnode, `flow!`",
        "llmnode-built" => "llmnode, `Flow::builder`",
        "llmnode-journal" => "llmnode, `flow!` with a journal, `Fsync::Never`",
        "llmnode-journal-fsync" => "llmnode, `flow!` with a journal, `Fsync::EachStep`",
        "llmnode-graph" => "llmnode, a graph from JSON",
        "langgraph" => "LangGraph",
        "graph-flow" => "graph-flow 0.8.1",
        "floxide" => "floxide 3.2.2",
        "pocketflow" => "PocketFlow 0.0.3",
        "pocketflow-async" => "PocketFlow 0.0.3, `AsyncFlow`",
        other => other,
    }
}

/// A step and its route, everywhere.
pub fn beside(figures: &Figures, programs: &Programs) {
    println!("| a step and its route | time | to llmnode's | allocations | target | met |");
    println!("|---|---|---|---|---|---|");
    let of = |library| figures.of((library, 1000, 1, false));
    for library in programs.one_at_a_time() {
        let (Some(time), Some(ours)) = (of(library), of("llmnode")) else {
            continue;
        };
        let allocations = programs
            .allocations(library)
            .map(|count| format!("{count:.1}"));
        let (target, met) = match library {
            "llmnode" | "llmnode-built" => (format!("≤ {TARGET} ns"), yes_or_no(time <= TARGET)),
            _ => Default::default(),
        };
        println!(
            "| {} | {time:.0} ns | {:.2} | {} | {target} | {met} |",
            called(library),
            time / ours,
            allocations.unwrap_or_default(),
        );
    }
}

/// How long loading a graph takes.
pub fn loading(programs: &Programs) {
    println!("\n| load and check a graph | 100 nodes | 1,000 nodes | ratio |");
    println!("|---|---|---|---|");
    let ((small, of_small), (large, of_large)) = (programs.load(100), programs.load(1000));
    println!(
        "| llmnode | {} | {} | {:.1} |",
        with_unit(small),
        with_unit(large),
        large / small
    );
    if let (Some(small), Some(large)) = (of_small, of_large) {
        println!(
            "| LangGraph, build and `compile` | {} | {} | {:.1} |",
            with_unit(small),
            with_unit(large),
            large / small
        );
    }
}

/// What a journal adds to a step.
pub fn journal(figures: &Figures, programs: &Programs) {
    println!("\n| a step and its route | of the processor | by the clock |");
    println!("|---|---|---|");
    for library in ["llmnode"].into_iter().chain(programs.journalled()) {
        let case = (library, 1000, 1, false);
        let (Some(cpu), Some(clock)) = (figures.of(case), figures.by_the_clock(case)) else {
            continue;
        };
        println!(
            "| {} | {} | {} |",
            called(library),
            with_unit(cpu),
            with_unit(clock)
        );
    }
}

/// A run of more and more steps.
pub fn growth_with_steps(figures: &Figures, programs: &Programs) {
    let heads = STEPS.map(|steps| format!("{steps} steps"));
    let whole = |library, steps: u64| Some(figures.of((library, steps, 1, false))? * steps as f64);
    growth("a run of", &heads, programs.one_at_a_time(), &STEPS, whole);
}

/// More and more runs side by side.
pub fn growth_with_runs(figures: &Figures, programs: &Programs) {
    let heads = RUNS.map(|runs| format!("{runs} run{}", if runs == 1 { "" } else { "s" }));
    let whole = |library, runs: u64| {
        Some(figures.of((library, SHORT, runs, true))? * (runs * SHORT) as f64)
    };
    let what = format!("of {SHORT} steps that wait a turn, side by side,");
    growth(&what, &heads, programs.side_by_side(), &RUNS, whole);
}

/// The time of each size, and how much more it is than that of the size before.
fn growth(
    what: &str,
    heads: &[String],
    libraries: Vec<&'static str>,
    sizes: &[u64],
    whole: impl Fn(&'static str, u64) -> Option<f64>,
) {
    println!(
        "\n| {what} | {} | most growth | target | met |",
        heads.join(" | ")
    );
    println!("|---|{}---|---|---|", "---|".repeat(heads.len()));
    for library in libraries {
        let times: Vec<f64> = sizes
            .iter()
            .filter_map(|size| whole(library, *size))
            .collect();
        let growth = times
            .windows(2)
            .map(|pair| pair[1] / pair[0])
            .fold(0.0, f64::max);
        let shown: Vec<_> = times.iter().map(|time| with_unit(*time)).collect();
        let (target, met) = match library {
            "llmnode" | "llmnode-built" => (
                format!("≤ {LINEAR} ×"),
                yes_or_no((growth * 10.0).round() <= LINEAR * 10.0),
            ),
            _ => Default::default(),
        };
        println!(
            "| {} | {} | {growth:.1} × | {target} | {met} |",
            called(library),
            shown.join(" | ")
        );
    }
}

fn yes_or_no(met: bool) -> &'static str {
    if met { "yes" } else { "**no**" }
}

fn with_unit(nanoseconds: f64) -> String {
    let (value, unit) = match nanoseconds {
        ..1e3 => (nanoseconds, "ns"),
        ..1e6 => (nanoseconds / 1e3, "µs"),
        ..1e9 => (nanoseconds / 1e6, "ms"),
        _ => (nanoseconds / 1e9, "s"),
    };
    let digits = if value < 10.0 {
        2
    } else if value < 100.0 {
        1
    } else {
        0
    };
    format!("{value:.digits$} {unit}")
}
