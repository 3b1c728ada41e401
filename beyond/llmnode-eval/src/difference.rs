//! How two evaluations of the same cases differ: the figures, by case and by field.

use std::collections::BTreeMap;

use llmnode_runtime::Usage;
use serde::Serialize;

use super::evaluated_case::EvaluatedCase;

/// A smaller `p` is more than noise.
const NOISE: f64 = 0.05;

/// How two evaluations of the same cases differ, case by case.
///
/// `Display` writes a table for a terminal, 100 columns wide or as wide as the format says, but at least 60: `format!("{difference:140}")`. It begins
/// with the [`summary`](EvaluationDiff::summary), then has both reports beside each other, by field, with their tokens, cost and time,
/// and at last the cases that fell, the deepest first, with the old answer beside the new one. It shows what is in answers, without what
/// looks like a key; `Debug` does not.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EvaluationDiff {
    /// The mean of this report, over the cases that are compared.
    pub mean: f64,
    /// The mean of the other report, over the same cases.
    pub other: f64,
    /// The ends of the 95 % interval of the difference.
    pub interval: (f64, f64),
    /// How many cases have a higher score in this report.
    pub better: usize,
    /// How many cases have a lower score in this report.
    pub worse: usize,
    /// How many cases are not compared, since an outage left them out of one of the reports.
    pub left_out: usize,
    /// How likely chance alone makes a difference as large as this one: McNemar's exact test if all scores are 0 or 1, otherwise
    /// a sign-flip test for up to 16 cases that differ (exact), and Student's t for more.
    pub p: f64,
    /// The means of each field that the metric scored.
    pub fields: BTreeMap<String, FieldDiff>,
    /// The cases that are compared, in the order of the data, with what both reports have of them: answers, feedback, tokens, times.
    pub cases: Vec<CaseDiff>,
    #[serde(skip)]
    pub(super) repeats: u32,
    #[serde(skip)]
    pub(super) other_repeats: u32,
}

/// The mean of one field in two reports.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FieldDiff {
    /// The mean of this report.
    pub mean: f64,
    /// The mean of the other report.
    pub other: f64,
    /// Over how many cases: those that have the field in both reports. One that failed has 0.
    pub cases: usize,
}

/// One case in two reports.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CaseDiff {
    /// Its place in the data.
    pub place: usize,
    /// What this report has of it.
    pub this: EvaluatedCase,
    /// What the other report has of it.
    pub other: EvaluatedCase,
}

impl CaseDiff {
    /// Returns how much better the case is in this report; below 0, it fell.
    pub fn difference(&self) -> f64 {
        self.this.score - self.other.score
    }
}

impl EvaluationDiff {
    /// Returns how much better this report is than the other one; below 0, it is worse.
    pub fn difference(&self) -> f64 {
        self.mean - self.other
    }

    /// Returns whether the difference is more than noise: chance alone makes such a difference in fewer than 5 of 100 comparisons.
    pub fn is_more_than_noise(&self) -> bool {
        self.p < NOISE
    }

    /// Returns the cases that fell, the deepest first.
    pub fn fallen(&self) -> Vec<&CaseDiff> {
        let fell = self.cases.iter().filter(|case| case.difference() < 0.0);
        let mut fallen: Vec<_> = fell.collect();
        // The sort is stable: those that fell equally far keep their order.
        fallen.sort_by(|one, other| one.difference().total_cmp(&other.difference()));
        fallen
    }

    /// Returns what the compared cases used in this report, all repeats together. Answers from a journal count as they did when they
    /// were asked for.
    pub fn usage(&self) -> Usage {
        used(self.cases.iter().map(|case| &case.this))
    }

    /// Returns what the compared cases used in the other report, as [`usage`](EvaluationDiff::usage) does.
    pub fn other_usage(&self) -> Usage {
        used(self.cases.iter().map(|case| &case.other))
    }

    /// Returns both means, their difference and whether it is more than noise, in one line.
    pub fn summary(&self) -> String {
        let EvaluationDiff {
            mean,
            other,
            interval: (low, high),
            better,
            worse,
            p,
            ..
        } = self;
        let verdict = if self.is_more_than_noise() {
            "more than noise"
        } else {
            "no more than noise"
        };
        let mut summary = format!(
            "{other:.3} → {mean:.3}: {:+.3} (95 %: {low:+.3} to {high:+.3}), {better} better, {worse} worse, \
             p = {p:.3}: {verdict}",
            self.difference()
        );
        if self.left_out > 0 {
            summary.push_str(&format!("; {} left out by outages", self.left_out));
        }
        summary
    }
}

fn used<'a>(cases: impl Iterator<Item = &'a EvaluatedCase>) -> Usage {
    let mut usage = Usage::default();
    for case in cases {
        usage += case.total_usage();
    }
    usage
}
