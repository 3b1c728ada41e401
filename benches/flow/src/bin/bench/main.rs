//! Measures everything, and prints tables in Markdown: `bench [ROUNDS]`. `benches/flow/run` builds and starts it.

mod programs;
mod table;

use std::collections::BTreeMap;

use programs::Programs;

/// Each round measures everything once; the least of the rounds counts, as other work only adds to it.
const ROUNDS: usize = 9;
pub const STEPS: [u64; 5] = [10, 100, 1_000, 10_000, 100_000];
pub const RUNS: [u64; 5] = [1, 10, 100, 1_000, 10_000];
/// The steps of each run where many run side by side.
pub const SHORT: u64 = 20;

/// A library, the load, and whether its steps give other tasks a turn.
pub type Case = (&'static str, u64, u64, bool);

/// Nanoseconds of a step: of the processor, and by the clock.
#[derive(Default)]
pub struct Figures(BTreeMap<Case, [f64; 2]>);

impl Figures {
    fn add(&mut self, case: Case, time: [f64; 2]) {
        let least = self.0.entry(case).or_insert([f64::INFINITY; 2]);
        *least = [least[0].min(time[0]), least[1].min(time[1])];
    }

    /// Of the processor. `None`: it was not measured.
    pub fn of(&self, case: Case) -> Option<f64> {
        self.0.get(&case).map(|[cpu, _]| *cpu)
    }

    pub fn by_the_clock(&self, case: Case) -> Option<f64> {
        self.0.get(&case).map(|[_, clock]| *clock)
    }
}

fn main() {
    let programs = Programs::find();
    let mut figures = Figures::default();
    let cases = cases(&programs);
    let rounds = std::env::args()
        .nth(1)
        .map_or(ROUNDS, |rounds| rounds.parse().unwrap());
    for round in 1..=rounds {
        eprintln!("round {round} of {rounds} ...");
        for case in &cases {
            figures.add(*case, programs.time(*case));
        }
    }
    table::beside(&figures, &programs);
    table::loading(&programs);
    table::journal(&figures, &programs);
    table::growth_with_steps(&figures, &programs);
    table::growth_with_runs(&figures, &programs);
}

fn cases(programs: &Programs) -> Vec<Case> {
    let mut cases = Vec::new();
    for library in programs.one_at_a_time() {
        cases.extend(STEPS.map(|steps| (library, steps, 1, false)));
    }
    for library in programs.side_by_side() {
        cases.extend(RUNS.map(|runs| (library, SHORT, runs, true)));
    }
    cases.extend(
        programs
            .journalled()
            .map(|library| (library, 1_000, 1, false)),
    );
    cases
}
