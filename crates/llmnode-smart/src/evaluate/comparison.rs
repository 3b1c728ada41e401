//! Compares two reports on the same cases.

use std::fmt;

use llmnode_runtime::{Category, NodeError};
use serde::Serialize;

use super::report::Evaluation;
use super::statistics;

/// A smaller `p` is more than noise.
const NOISE: f64 = 0.05;

/// How two evaluations of the same cases differ, case by case.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// The mean of this report.
    pub mean: f64,
    /// The mean of the other report.
    pub other: f64,
    /// The ends of the 95 % interval of the difference.
    pub interval: (f64, f64),
    /// How many cases have a higher score in this report.
    pub better: usize,
    /// How many cases have a lower score in this report.
    pub worse: usize,
    /// How likely chance alone makes a difference as large as this one: McNemar's exact test if all scores are 0 or 1, otherwise
    /// a sign-flip test for up to 16 cases that differ (exact), and Student's t for more.
    pub p: f64,
}

impl Comparison {
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
    /// Compares this report with another one on the same cases, pair by pair.
    ///
    /// # Errors
    /// A `config_error`, if the other report has other cases: more or fewer, or both come from files that differ.
    /// Cases that the program made are assumed to be the same if their number is the same.
    pub fn compare(&self, other: &Evaluation) -> Result<Comparison, NodeError> {
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
            return refused("the reports are on other data; compare reports on the same data".to_owned());
        }
        Ok(self.paired(other))
    }

    fn paired(&self, other: &Evaluation) -> Comparison {
        let pairs = || self.cases.iter().zip(&other.cases).map(|(one, two)| (one.score, two.score));
        let differences: Vec<_> = pairs().map(|(one, two)| one - two).collect();
        let better = differences.iter().filter(|difference| **difference > 0.0).count();
        let worse = differences.iter().filter(|difference| **difference < 0.0).count();
        let is_share = |score: f64| score == 0.0 || score == 1.0;
        let shares = pairs().all(|(one, two)| is_share(one) && is_share(two));
        let ((low, high), p) = match (shares, differences.len()) {
            (true, n) => (statistics::agresti_min(better, worse, n), statistics::sign_test(better, worse)),
            (false, 1) => ((-1.0, 1.0), 1.0),
            (false, _) => (statistics::student(&differences), statistics::sign_flips(&differences)),
        };
        let interval = (low.max(-1.0), high.min(1.0));
        Comparison { mean: self.mean(), other: other.mean(), interval, better, worse, p }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Comparison { mean, other, interval: (low, high), better, worse, p } = self;
        let verdict = if self.is_more_than_noise() { "more than noise" } else { "no more than noise" };
        write!(
            f,
            "{other:.3} → {mean:.3}: {:+.3} (95 %: {low:+.3} to {high:+.3}), {better} better, {worse} worse, \
             p = {p:.3}: {verdict}",
            self.difference()
        )
    }
}
