//! Measures what the macros cost to compile, and prints a table in Markdown. As the wrapper that cargo calls in rustc's
//! place, it runs rustc and notes its processor time.
//!
//! ```text
//! cargo run --manifest-path benches/compile/Cargo.toml -- [rounds]   # nodes beside derives, 5 rounds by default
//! cargo run --manifest-path benches/compile/Cargo.toml -- clean      # a whole program, beside others
//! ```

mod clean;
mod crates;
mod sources;
mod wrapper;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crates::{Crates, Mode};
use sources::{Kind, Sources};

/// The crates that are compared with each other: what is in them, and how often.
const MEASURED: [(Kind, usize); 11] = [
    (Kind::Empty, 0),
    (Kind::Derives, 10),
    (Kind::Derives, 100),
    (Kind::Nodes, 10),
    (Kind::Nodes, 100),
    (Kind::Outputs, 100),
    (Kind::Validated, 100),
    (Kind::DerivesUsed, 10),
    (Kind::DerivesUsed, 100),
    (Kind::NodesCalled, 10),
    (Kind::NodesCalled, 100),
];

/// Seconds of each round, by mode and crate.
type Figures = BTreeMap<(Mode, String), Vec<f64>>;

fn main() {
    if wrapper::is_one() {
        wrapper::run();
    }
    match std::env::args().nth(1).as_deref() {
        Some("clean") => clean::measure(&folder()),
        Some(rounds) => macros(rounds.parse().expect("`clean` or a number of rounds")),
        None => macros(5),
    }
}

/// Where generated crates go.
fn folder() -> PathBuf {
    let program = std::env::current_exe().expect("this program has a path");
    program
        .parent()
        .and_then(Path::parent)
        .expect("it lies in a target folder")
        .join("compile")
}

/// What nodes cost beside derives.
fn macros(rounds: usize) {
    let sources: Vec<Sources> = MEASURED
        .iter()
        .map(|(kind, count)| Sources::of(*kind, *count))
        .collect();
    let crates = Crates::written(folder(), &sources);
    let mut figures = Figures::new();
    for mode in Mode::ALL {
        eprintln!("{}: dependencies ...", mode.name());
        crates.compile(&sources[0], mode);
    }
    for round in 0..rounds {
        for mode in Mode::ALL {
            eprintln!("round {} of {rounds}, {} ...", round + 1, mode.name());
            for index in 0..sources.len() {
                // In an order of its own, so that a load that comes and goes meets all alike.
                let source = &sources[(index + round) % sources.len()];
                let seconds = crates.compile(source, mode);
                figures
                    .entry((mode, source.name.clone()))
                    .or_default()
                    .push(seconds);
            }
        }
    }
    print(&figures);
}

fn print(figures: &Figures) {
    println!("| | {} |", Mode::ALL.map(|mode| mode.name()).join(" | "));
    println!("|---|{}", "---|".repeat(Mode::ALL.len()));
    for (kind, count) in MEASURED {
        let name = Sources::of(kind, count).name;
        let cell = |mode| {
            let rounds = &figures[&(mode, name.clone())];
            format!("{:.2} / {:.2}", least(rounds), median(rounds))
        };
        println!(
            "| {} | {} |",
            kind.title(count),
            Mode::ALL.map(cell).join(" | ")
        );
    }
    row(
        figures,
        "nodes ÷ derives, beyond the derives (≤ 0.3)",
        |of| {
            (of(Kind::Nodes, 100) - of(Kind::Derives, 100))
                / (of(Kind::Derives, 100) - of(Kind::Empty, 0))
        },
    );
    row(
        figures,
        "the same with `#[llm_output]` for the derives",
        |of| {
            (of(Kind::Outputs, 100) - of(Kind::Derives, 100))
                / (of(Kind::Derives, 100) - of(Kind::Empty, 0))
        },
    );
    row(figures, "the same with a block of validators each", |of| {
        (of(Kind::Validated, 100) - of(Kind::Derives, 100))
            / (of(Kind::Derives, 100) - of(Kind::Empty, 0))
    });
    row(figures, "nodes called ÷ derives used, beyond these", |of| {
        let used = of(Kind::DerivesUsed, 100);
        (of(Kind::NodesCalled, 100) - used) / (used - of(Kind::Empty, 0))
    });
    row(figures, "100 nodes ÷ 10 nodes (≤ 11)", |of| {
        (of(Kind::Nodes, 100) - of(Kind::Empty, 0)) / (of(Kind::Nodes, 10) - of(Kind::Empty, 0))
    });
    row(figures, "100 nodes called ÷ 10", |of| {
        (of(Kind::NodesCalled, 100) - of(Kind::Empty, 0))
            / (of(Kind::NodesCalled, 10) - of(Kind::Empty, 0))
    });
}

/// A ratio, of the least seconds and of the medians.
fn row(figures: &Figures, title: &str, ratio: impl Fn(&dyn Fn(Kind, usize) -> f64) -> f64) {
    let cell = |mode| {
        let by = |seconds: fn(&[f64]) -> f64| {
            ratio(&|kind, count| seconds(&figures[&(mode, Sources::of(kind, count).name)]))
        };
        format!("{:.2} / {:.2}", by(least), by(median))
    };
    println!("| {title} | {} |", Mode::ALL.map(cell).join(" | "));
}

fn least(rounds: &[f64]) -> f64 {
    rounds.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The value in the middle.
fn median(rounds: &[f64]) -> f64 {
    let mut rounds = rounds.to_vec();
    rounds.sort_by(f64::total_cmp);
    rounds[rounds.len() / 2]
}
