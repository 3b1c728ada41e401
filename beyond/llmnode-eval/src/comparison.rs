//! Compares two reports on the same cases.

use std::fmt;

use llmnode_runtime::{Category, NodeError};
use serde::Serialize;

use super::report::Evaluation;
use super::statistics;

/// A smaller `p` is more than noise.
const NOISE: f64 = 0.05;

/// A comparison leaves out one case of so many at most.
const MOST_LEFT_OUT: usize = 10;

/// How two evaluations of the same cases differ, case by case.
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
}

impl Evaluation {
    /// Compares this report with another one on the same cases, pair by pair. Cases that an outage left out of one of them are not
    /// compared.
    ///
    /// # Errors
    /// A `config_error`, if the other report has other cases: more or fewer, or both come from files that differ.
    /// Cases that the program made are assumed to be the same if their number is the same. Also if outages left out more than one
    /// case in ten, since those that are left may be the easy ones.
    pub fn compare(&self, other: &Evaluation) -> Result<EvaluationDiff, NodeError> {
        let refused = |message: String| Err(NodeError::new(Category::ConfigError, message));
        if self.cases.len() != other.cases.len() {
            let (one, two) = (self.cases.len(), other.cases.len());
            return refused(format!(
                "the reports have {one} and {two} cases; compare reports on the same data"
            ));
        }
        if let (Some(one), Some(two)) = (&self.data, &other.data)
            && one != two
        {
            return refused(
                "the reports are on other data; compare reports on the same data".to_owned(),
            );
        }
        let pairs = self.pairs(other);
        let left_out = self.cases.len() - pairs.len();
        if left_out * MOST_LEFT_OUT > self.cases.len() {
            return refused(format!(
                "outages left out {left_out} of {} cases, which is more than one in {MOST_LEFT_OUT}; evaluate again, with \
                 `resume(journal)` only what is missing",
                self.cases.len()
            ));
        }
        Ok(compared(&pairs, left_out))
    }

    /// The scores of the cases that both have.
    fn pairs(&self, other: &Evaluation) -> Vec<Pair> {
        let both = self.cases.iter().zip(&other.cases);
        let both = both.filter(|(one, two)| !one.is_left_out() && !two.is_left_out());
        both.map(|(one, two)| Pair {
            this: one.score,
            other: two.score,
        })
        .collect()
    }
}

struct Pair {
    this: f64,
    other: f64,
}

impl Pair {
    fn difference(&self) -> f64 {
        self.this - self.other
    }

    fn is_share(&self) -> bool {
        [self.this, self.other]
            .iter()
            .all(|score| *score == 0.0 || *score == 1.0)
    }
}

fn compared(pairs: &[Pair], left_out: usize) -> EvaluationDiff {
    let differences: Vec<_> = pairs.iter().map(Pair::difference).collect();
    let better = differences
        .iter()
        .filter(|difference| **difference > 0.0)
        .count();
    let worse = differences
        .iter()
        .filter(|difference| **difference < 0.0)
        .count();
    let ((low, high), p) = match (pairs.iter().all(Pair::is_share), pairs.len()) {
        (true, n) => (
            statistics::agresti_min(better, worse, n),
            statistics::sign_test(better, worse),
        ),
        (false, 1) => ((-1.0, 1.0), 1.0),
        (false, _) => (
            statistics::student(&differences),
            statistics::sign_flips(&differences),
        ),
    };
    let n = pairs.len() as f64;
    let mean = pairs.iter().map(|pair| pair.this).sum::<f64>() / n;
    let other = pairs.iter().map(|pair| pair.other).sum::<f64>() / n;
    let interval = (low.max(-1.0), high.min(1.0));
    EvaluationDiff {
        mean,
        other,
        interval,
        better,
        worse,
        left_out,
        p,
    }
}

impl fmt::Display for EvaluationDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EvaluationDiff {
            mean,
            other,
            interval: (low, high),
            better,
            worse,
            left_out,
            p,
        } = self;
        let verdict = if self.is_more_than_noise() {
            "more than noise"
        } else {
            "no more than noise"
        };
        write!(
            f,
            "{other:.3} → {mean:.3}: {:+.3} (95 %: {low:+.3} to {high:+.3}), {better} better, {worse} worse, \
             p = {p:.3}: {verdict}",
            self.difference()
        )?;
        match left_out {
            0 => Ok(()),
            left_out => write!(f, "; {left_out} left out by outages"),
        }
    }
}
