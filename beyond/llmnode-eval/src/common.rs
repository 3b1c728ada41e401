//! The cases that a report and a baseline both have, matched by their names.

use std::collections::{BTreeSet, HashMap};

use super::baseline::{Baseline, BaselineCase};
use super::evaluated_case::EvaluatedCase;
use super::report::Evaluation;

/// The cases that a report and a baseline both have.
pub(super) struct Common<'a> {
    pub(super) pairs: Vec<Pair<'a>>,
    pub(super) added: usize,
    pub(super) gone: usize,
}

pub(super) struct Pair<'a> {
    pub(super) place: usize,
    pub(super) now: &'a EvaluatedCase,
    pub(super) then: &'a BaselineCase,
}

impl<'a> Common<'a> {
    pub(super) fn of(report: &'a Evaluation, baseline: &'a Baseline) -> Self {
        let known: HashMap<&str, &BaselineCase> = baseline
            .cases
            .iter()
            .map(|case| (case.case.as_str(), case))
            .collect();
        let scored = report
            .cases
            .iter()
            .enumerate()
            .filter(|(_, case)| !case.is_left_out());
        let pairs: Vec<_> = scored
            .filter_map(|(place, now)| {
                Some(Pair {
                    place,
                    now,
                    then: known.get(now.name.as_str())?,
                })
            })
            .collect();
        let now: BTreeSet<&str> = report.cases.iter().map(|case| case.name.as_str()).collect();
        let added = now.iter().filter(|name| !known.contains_key(*name)).count();
        let gone = known.keys().filter(|name| !now.contains(*name)).count();
        Common { pairs, added, gone }
    }

    pub(super) fn differences(&self) -> Vec<f64> {
        self.pairs.iter().map(Pair::difference).collect()
    }

    /// Those that fell, the deepest first.
    pub(super) fn fallen(&self) -> Vec<&Pair<'a>> {
        let mut fallen: Vec<_> = self
            .pairs
            .iter()
            .filter(|pair| pair.difference() < 0.0)
            .collect();
        fallen.sort_by(|one, other| one.difference().total_cmp(&other.difference()));
        fallen
    }
}

impl Pair<'_> {
    fn difference(&self) -> f64 {
        self.now.score - self.then.score
    }
}
