//! Why a gate fails a test.

use std::fmt;
use std::path::PathBuf;

use llmnode_runtime::{FormatError, NodeError};
use serde_json::Value;

use super::columns::shown;
use super::common::Pair;
use super::evaluated_case::EvaluatedCase;
use super::figures::spread;
use super::verdict::Verdict;

const LISTED: usize = 20;

/// Why a gate fails a test. `Debug` is the same text as `Display`, because that is what a test prints that returns it.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum GateError {
    /// The node is worse than the baseline, beyond what chance explains.
    #[error("{verdict}{}", listed(cases))]
    Worse {
        /// By how much.
        verdict: Box<Verdict>,
        /// The cases that fell, the deepest first.
        cases: Vec<FallenCase>,
    },
    /// Cases with `"must": true` are wrong.
    #[error(
        "{} that must be right {} not:{}{}",
        counted(cases.len()),
        if cases.len() == 1 { "is" } else { "are" },
        listed(cases),
        beside(verdict.as_deref())
    )]
    Must {
        /// These cases.
        cases: Vec<FallenCase>,
        /// How all cases compare to the baseline. `None`: there is none, or it cannot be compared.
        verdict: Option<Box<Verdict>>,
    },
    /// The margin of the gate is no share.
    #[error("the margin is {margin}, which is not from 0 to 1; five points of a hundred are 0.05")]
    Margin {
        /// As it was set.
        margin: f64,
    },
    /// The gate is strict, and there are too few cases to tell.
    #[error("{verdict}\nthe gate is strict: add cases or repeats, or widen the margin")]
    CannotTell {
        /// What was found.
        verdict: Box<Verdict>,
    },
    /// There is no baseline yet.
    #[error("there is no baseline {}; {}", path.display(), how_to_write(test))]
    NoBaseline {
        /// The file that is missing.
        path: PathBuf,
        /// The name of the test, by the thread on which the evaluation was made. Empty: that was no thread of a test.
        test: String,
    },
    /// `LLMNODE_BLESS` is set where `CI` is, too: a baseline is written by a person.
    #[error("{} is not written where CI is set: write it on your machine, and commit it", path.display())]
    WriteInCi {
        /// The file.
        path: PathBuf,
    },
    /// The baseline is of something else.
    #[error("{}: {why}; compare like with like, or write a new baseline", path.display())]
    NotComparable {
        /// The file.
        path: PathBuf,
        /// What is different.
        why: String,
    },
    /// Outages left more than one case in ten without a score, or one that must be right; or any, where a baseline is written whose
    /// cases are known by their places alone.
    #[error(
        "unfinished: outages left {left_out} of {cases} cases without a score, more than one in ten, one that must be right, or one \
         of a new baseline whose cases have no names; evaluate again"
    )]
    Unfinished {
        /// How many have none.
        left_out: usize,
        /// Of how many.
        cases: usize,
    },
    /// The baseline cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no baseline, or one of a newer llmnode.
    #[error("{}: {source}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Why.
        source: FormatError,
    },
    /// The evaluation itself ended, as by a limit: nothing is known of the node.
    #[error("unfinished: {0}")]
    Evaluation(NodeError),
}

impl fmt::Debug for GateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A case whose score fell, or that must be right and is not.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct FallenCase {
    /// Its place in the data.
    pub place: usize,
    /// Its score in the baseline. `None`: it was not compared.
    pub before: Option<f64>,
    /// Its score now.
    pub now: f64,
    /// The scores of its repeats now, in order. Empty: it was asked once.
    pub scores: Vec<f64>,
    /// What the metric said about its answer, or why it failed.
    pub feedback: String,
    /// Its answer in the baseline, where that keeps answers, and now.
    pub answers: [Option<Value>; 2],
}

impl FallenCase {
    pub(super) fn alone(place: usize, case: &EvaluatedCase) -> Self {
        FallenCase {
            place,
            before: None,
            now: case.lowest(),
            scores: case.scores.clone(),
            feedback: case.reason().to_owned(),
            answers: [None, case.output.clone()],
        }
    }

    pub(super) fn of(pair: &Pair<'_>) -> Self {
        FallenCase {
            before: Some(pair.then.score),
            now: pair.now.score,
            answers: [pair.then.answer.clone(), pair.now.output.clone()],
            ..FallenCase::alone(pair.place, pair.now)
        }
    }
}

/// Answers may be private.
impl fmt::Debug for FallenCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("FallenCase");
        shown
            .field("place", &self.place)
            .field("before", &self.before)
            .field("now", &self.now);
        shown.finish_non_exhaustive()
    }
}

impl fmt::Display for FallenCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "case {}: ", self.place)?;
        if let Some(before) = self.before {
            write!(f, "{before:.3} → ")?;
        }
        write!(f, "{:.3}", self.now)?;
        if let Some(spread) = spread(&self.scores) {
            write!(f, " ({spread})")?;
        }
        if !self.feedback.is_empty() {
            write!(f, "  {}", shown(&self.feedback, 200))?;
        }
        if let [Some(before), Some(now)] = &self.answers {
            write!(
                f,
                "\n    then {}\n    now  {}",
                shown(&before.to_string(), 200),
                shown(&now.to_string(), 200)
            )?;
        }
        Ok(())
    }
}

fn beside(verdict: Option<&Verdict>) -> String {
    verdict.map_or_else(String::new, |verdict| format!("\nof all cases: {verdict}"))
}

fn counted(cases: usize) -> String {
    if cases == 1 {
        "a case".to_owned()
    } else {
        format!("{cases} cases")
    }
}

fn listed(cases: &[FallenCase]) -> String {
    let mut list: String = cases
        .iter()
        .take(LISTED)
        .map(|case| format!("\n  {case}"))
        .collect();
    if let more @ 1.. = cases.len().saturating_sub(LISTED) {
        list.push_str(&format!("\n  and {more} more"));
    }
    list
}

/// `LLMNODE_BLESS` names a test, which is known by the thread on which it runs.
fn how_to_write(test: &str) -> String {
    if test.is_empty() {
        return "it is written by a test that evaluates on its own thread, and this evaluation ran on another one: await it in \
                the test itself, not in a spawned task, and run the test without `--test-threads=1`"
            .to_owned();
    }
    format!(
        "write it with LLMNODE_BLESS={test} cargo test {test} -- --ignored, which evaluates three times as often"
    )
}
