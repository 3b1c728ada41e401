//! How often the gate of an evaluation is wrong, simulated: the rule of `llmnode::evals::Gate` over pairs of a baseline and a report,
//! both drawn from the same cases.
//!
//! ```text
//! cargo run --release --manifest-path benches/Cargo.toml --bin gate            # 3,000 pairs a row
//! cargo run --release --manifest-path benches/Cargo.toml --bin gate -- 10000
//! ```
//!
//! A case is answered right with a chance of its own: easy ones nearly always, hard ones now and then. A loss takes the same share of
//! each chance away. Without a loss, "worse" is a false alarm; at a loss of the margin, "no worse" is wrong.

use llmnode_eval::ext::{Random, chance_of_fall, is_surprising, lowest_difference};

/// How hard the cases are.
#[derive(Clone, Copy, Debug)]
enum Cases {
    /// Nearly all right, some by chance.
    Easy,
    /// Of every kind.
    Even,
    /// Right or wrong nearly always.
    Split,
}

struct Row {
    cases: usize,
    loss: f64,
    baseline_repeats: u32,
    repeats: u32,
    margin: f64,
    kind: Cases,
}

#[derive(Default)]
struct Verdicts {
    worse: u32,
    no_worse: u32,
    cannot_tell: u32,
}

fn main() {
    let pairs: u32 = std::env::args()
        .nth(1)
        .map_or(3_000, |pairs| pairs.parse().expect("a number of pairs"));
    println!(
        "| cases | repeats, baseline's | margin | loss | kind | worse | no worse | cannot tell |\n|---|---|---|---|---|---|---|---|"
    );
    for kind in [Cases::Easy, Cases::Even, Cases::Split] {
        for (cases, baseline_repeats, repeats, margin) in [
            (12, 9, 3, 0.05),
            (60, 1, 1, 0.10),
            (60, 9, 3, 0.10),
            (200, 9, 3, 0.05),
            (500, 3, 1, 0.05),
        ] {
            for loss in [0.0, margin] {
                print(
                    &Row {
                        cases,
                        loss,
                        baseline_repeats,
                        repeats,
                        margin,
                        kind,
                    },
                    pairs,
                );
            }
        }
    }
}

fn print(row: &Row, pairs: u32) {
    let mut random = Random::new(1);
    let mut verdicts = Verdicts::default();
    for _ in 0..pairs {
        judge(row, &mut random, &mut verdicts);
    }
    let percent = |count: u32| 100.0 * f64::from(count) / f64::from(pairs);
    let Row {
        cases,
        loss,
        baseline_repeats,
        repeats,
        margin,
        kind,
    } = row;
    println!(
        "| {cases} | {repeats}, {baseline_repeats} | {margin} | {loss} | {kind:?} | {:.1} % | {:.1} % | {:.1} % |",
        percent(verdicts.worse),
        percent(verdicts.no_worse),
        percent(verdicts.cannot_tell)
    );
}

fn judge(row: &Row, random: &mut Random, verdicts: &mut Verdicts) {
    let chances: Vec<f64> = (0..row.cases).map(|_| row.kind.chance(random)).collect();
    let mean = chances.iter().sum::<f64>() / row.cases as f64;
    let kept = ((mean - row.loss) / mean).max(0.0);
    let differences: Vec<f64> = chances
        .iter()
        .map(|chance| {
            score(chance * kept, row.repeats, random) - score(*chance, row.baseline_repeats, random)
        })
        .collect();
    let difference = differences.iter().sum::<f64>() / row.cases as f64;
    let p = chance_of_fall(&differences, row.repeats * row.baseline_repeats);
    if difference < 0.0 && is_surprising(p) {
        verdicts.worse += 1;
    } else if lowest_difference(&differences) > -row.margin {
        verdicts.no_worse += 1;
    } else {
        verdicts.cannot_tell += 1;
    }
}

impl Cases {
    fn chance(self, random: &mut Random) -> f64 {
        let drawn = uniform(random);
        match self {
            Cases::Easy => 1.0 - 0.2 * drawn * drawn,
            Cases::Even => drawn.sqrt(),
            Cases::Split if drawn < 0.2 => 0.05,
            Cases::Split => 0.97,
        }
    }
}

fn score(chance: f64, repeats: u32, random: &mut Random) -> f64 {
    let right = (0..repeats).filter(|_| uniform(random) < chance).count();
    right as f64 / f64::from(repeats)
}

fn uniform(random: &mut Random) -> f64 {
    random.below(1 << 53) as f64 / (1_u64 << 53) as f64
}
