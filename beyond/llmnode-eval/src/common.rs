//! The cases that a report and a baseline both have, matched by their names.

use std::collections::HashMap;

use super::baseline::{Baseline, BaselineCase};
use super::evaluated_case::EvaluatedCase;
use super::report::Evaluation;

/// The cases that a report and a baseline both have, and those that one of them lacks.
pub(super) struct Common<'a> {
    pub(super) pairs: Vec<Pair<'a>>,
    /// The places of the cases that are new.
    pub(super) added: Vec<usize>,
    /// The names of those that are gone.
    pub(super) gone: Vec<String>,
    /// The names of those that had to be right, and now need not be, or are gone.
    pub(super) no_must: Vec<String>,
}

pub(super) struct Pair<'a> {
    pub(super) place: usize,
    pub(super) now: &'a EvaluatedCase,
    pub(super) then: &'a BaselineCase,
}

impl<'a> Common<'a> {
    pub(super) fn of(report: &'a Evaluation, baseline: &'a Baseline) -> Self {
        let by_name: HashMap<&str, &BaselineCase> = baseline
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
                    then: by_name.get(now.name.as_str())?,
                })
            })
            .collect();
        let places = report.cases.iter().enumerate();
        let added = places.filter(|(_, case)| !by_name.contains_key(case.name.as_str()));
        let now: HashMap<&str, &EvaluatedCase> = report
            .cases
            .iter()
            .map(|case| (case.name.as_str(), case))
            .collect();
        let before = baseline.cases.iter();
        let gone = before
            .clone()
            .filter(|case| !now.contains_key(case.case.as_str()));
        let no_must = before.filter(|case| {
            let still = now.get(case.case.as_str());
            case.must && still.is_none_or(|now| !now.must)
        });
        Common {
            pairs,
            added: added.map(|(place, _)| place).collect(),
            gone: gone.map(|case| case.case.clone()).collect(),
            no_must: no_must.map(|case| case.case.clone()).collect(),
        }
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
