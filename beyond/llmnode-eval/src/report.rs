//! The result of an evaluation.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use llmnode_runtime::internal::{milliseconds, read_format};
use llmnode_runtime::{CallReport, Category, FormatError, NodeError, Usage};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::case::{Scored, is_outage, replayed};
use super::dataset::Mark;
use super::statistics;

const FORMAT: &str = "llmnode/evaluation";
const VERSION: u64 = 1;
/// A baseline is measured so many times as often.
const BLESSED: u32 = 3;

/// The result of an evaluation: the score of each case, and overall figures.
///
/// `Display` writes a table for a terminal. As JSON ([`to_json`](Evaluation::to_json)) it can be kept and
/// [compared](Evaluation::compare) with a later one; the JSON has outputs and feedback unencrypted.
#[derive(Clone)]
pub struct Evaluation {
    pub(super) node: String,
    pub(super) data: Option<String>,
    /// The name of the metric. Empty: an older report, which has none.
    pub(super) metric: String,
    pub(super) repeats: u32,
    pub(super) cases: Vec<EvaluatedCase>,
    /// Whether it was made to write the baseline.
    pub(super) is_blessing: bool,
    /// The test that made it.
    pub(super) test: String,
}

/// How often an evaluation asks, and for which test.
pub(super) struct Measured {
    pub(super) repeats: u32,
    is_blessing: bool,
    test: String,
}

impl Measured {
    /// A test has its name from the thread on which it runs. The one that `LLMNODE_BLESS` names asks three times as often: an error in a
    /// baseline is an error in each later verdict.
    pub(super) fn on_this_thread(repeats: u32) -> Self {
        let thread = std::thread::current();
        let path = thread.name().unwrap_or_default();
        let test = path.rsplit("::").next().unwrap_or_default().to_owned();
        let blessed = std::env::var("LLMNODE_BLESS").unwrap_or_default();
        let is_blessing = !test.is_empty() && (blessed == test || blessed == path);
        let repeats = if is_blessing {
            repeats.saturating_mul(BLESSED)
        } else {
            repeats
        };
        Measured {
            repeats,
            is_blessing,
            test,
        }
    }
}

/// One case of an evaluation.
#[derive(Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EvaluatedCase {
    /// What the case is called in a baseline: a hash of its row in the file, or its place among the program's.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Whether the case must be right each time: `"must": true` in its row.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub must: bool,
    /// The scores of its repeats, in order, without those that an outage left out. Empty: it was asked once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scores: Vec<f64>,
    /// The score from 0 to 1, the mean of all repeats; 0 if the case failed. If it was [left out](EvaluatedCase::is_left_out), the 0 stands for no score.
    pub score: f64,
    /// The metric's feedback on the answer; of several repeats, on the worst.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub feedback: String,
    /// Why the case failed. `None`: it was scored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// The node's output, as JSON; of several repeats, the worst. `None`: the case has none, since it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// The model that answered last. `None`: it is unknown, or the answer came from a journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What the case used, including the requests of the metric. Answers from a journal are not in it.
    pub usage: Usage,
    /// What the answers from a journal used when they were asked for.
    #[serde(default, skip_serializing_if = "has_no_request")]
    pub replayed_usage: Usage,
    /// The time from the start of the node's call to the score; of several repeats, the mean. For a failed case, it is the time of the
    /// call that failed.
    #[serde(rename = "elapsed_ms", with = "milliseconds")]
    pub elapsed: Duration,
    /// How many answers came from a journal, of the node and of the metric.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub replayed: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

fn has_no_request(usage: &Usage) -> bool {
    usage.requests == 0
}

/// Why a case failed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Failure {
    /// The category of the error; `exec_error` if the metric failed by itself.
    pub category: Category,
    /// The error as it is shown, without the raw answer.
    pub message: String,
}

impl EvaluatedCase {
    /// Returns whether an outage left the case without a score: its failure is of the transport, or of a key, a quota or a model
    /// that is not found.
    pub fn is_left_out(&self) -> bool {
        self.failure
            .as_ref()
            .is_some_and(|failure| is_outage(failure.category))
    }

    /// The repeats of one case as one: the worst of them, with the mean of the scores. `None`: there is none.
    pub(super) fn of_repeats(repeats: Vec<EvaluatedCase>, mark: &Mark) -> Option<Self> {
        let count = u32::try_from(repeats.len()).unwrap_or(u32::MAX);
        let scores: Vec<f64> = repeats
            .iter()
            .filter(|repeat| !repeat.is_left_out())
            .map(|repeat| repeat.score)
            .collect();
        let mut usage = Usage::default();
        let mut replayed_usage = Usage::default();
        let mut replayed = 0;
        for repeat in &repeats {
            usage += repeat.usage;
            replayed_usage += repeat.replayed_usage;
            replayed += repeat.replayed;
        }
        let elapsed: Duration = repeats.iter().map(|repeat| repeat.elapsed).sum();
        // One with a score says more than one that was left out; of equal ones, the first is taken.
        let worst = repeats
            .into_iter()
            .min_by(|one, two| one.rank().total_cmp(&two.rank()))?;
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        Some(EvaluatedCase {
            name: mark.name.clone(),
            must: mark.must,
            score: if scores.is_empty() { 0.0 } else { mean },
            scores: if count > 1 { scores } else { Vec::new() },
            usage,
            replayed_usage,
            elapsed: elapsed / count.max(1),
            replayed,
            ..worst
        })
    }

    /// The worst is the lowest; one that was left out is above all.
    fn rank(&self) -> f64 {
        if self.is_left_out() {
            f64::INFINITY
        } else {
            self.score
        }
    }

    /// The lowest score of its repeats.
    pub(super) fn lowest(&self) -> f64 {
        self.scores.iter().copied().fold(self.score, f64::min)
    }

    /// Why it failed, or what the metric said.
    pub(super) fn reason(&self) -> &str {
        self.failure
            .as_ref()
            .map_or(&self.feedback, |failure| &failure.message)
    }

    pub(super) fn scored(report: CallReport<Scored>) -> Self {
        let replayed_usage = report.replayed();
        let Scored {
            score,
            output,
            replayed,
            model,
        } = report.value;
        EvaluatedCase {
            name: String::new(),
            must: false,
            scores: Vec::new(),
            score: score.value,
            feedback: score.feedback,
            failure: None,
            output: Some(output),
            model,
            usage: report.total,
            replayed_usage,
            elapsed: report.record.elapsed,
            replayed,
        }
    }

    pub(super) fn failed(error: &NodeError) -> Self {
        let (replayed, replayed_usage) = replayed(error.calls());
        EvaluatedCase {
            name: String::new(),
            must: false,
            scores: Vec::new(),
            score: 0.0,
            feedback: String::new(),
            failure: Some(Failure {
                category: error.category(),
                message: error.to_string(),
            }),
            output: None,
            model: error
                .attempts()
                .last()
                .and_then(|attempt| attempt.model.clone()),
            usage: error.usage(),
            elapsed: error
                .record()
                .map(|record| record.elapsed)
                .unwrap_or_default(),
            replayed,
            replayed_usage,
        }
    }
}

impl Evaluation {
    pub(super) fn new(node: &str, data: Option<String>, cases: Vec<EvaluatedCase>) -> Self {
        let node = node.to_owned();
        Evaluation {
            node,
            data,
            metric: String::new(),
            repeats: 1,
            cases,
            is_blessing: false,
            test: String::new(),
        }
    }

    pub(super) fn measured(self, metric: String, measured: Measured) -> Self {
        let Measured {
            repeats,
            is_blessing,
            test,
        } = measured;
        Evaluation {
            metric,
            repeats,
            is_blessing,
            test,
            ..self
        }
    }

    /// The models that answered.
    pub(super) fn models(&self) -> BTreeSet<String> {
        self.cases
            .iter()
            .filter_map(|case| case.model.clone())
            .collect()
    }

    /// Returns the cases, in the order of the data.
    pub fn cases(&self) -> &[EvaluatedCase] {
        &self.cases
    }

    /// Returns the name of the node.
    pub fn node(&self) -> &str {
        &self.node
    }

    /// Returns the mean score from 0 to 1. A failed case counts as 0, and one that an outage left out does not count. NaN: no case
    /// was scored, which only a report read from JSON can have.
    pub fn mean(&self) -> f64 {
        self.scores().sum::<f64>() / self.scores().count() as f64
    }

    fn scores(&self) -> impl Iterator<Item = f64> {
        self.cases
            .iter()
            .filter(|case| !case.is_left_out())
            .map(|case| case.score)
    }

    /// Returns the ends of the 95 % interval, which holds the true mean in 95 of 100 such evaluations: Wilson's if all scores are 0 or 1, Student's t otherwise. With one case, or where all
    /// scores are the same, it is also Wilson's, since such scores do not show how far others would spread.
    pub fn interval(&self) -> (f64, f64) {
        let scores: Vec<_> = self.scores().collect();
        let same = scores.iter().all(|score| Some(score) == scores.first());
        let (low, high) = match scores.iter().all(|score| *score == 0.0 || *score == 1.0) || same {
            true => statistics::wilson(self.mean(), scores.len().max(1)),
            false => statistics::student(&scores),
        };
        (low.max(0.0), high.min(1.0))
    }

    /// Returns the failed cases, each with its index. Those that an outage left out are in [`left_out`](Self::left_out).
    pub fn failures(&self) -> impl Iterator<Item = (usize, &Failure)> {
        self.without_output()
            .filter(|(_, failure)| !is_outage(failure.category))
    }

    /// Returns the cases that an outage left without a score, each with its index. They count in no mean and in no comparison.
    pub fn left_out(&self) -> impl Iterator<Item = (usize, &Failure)> {
        self.without_output()
            .filter(|(_, failure)| is_outage(failure.category))
    }

    fn without_output(&self) -> impl Iterator<Item = (usize, &Failure)> {
        self.cases
            .iter()
            .enumerate()
            .filter_map(|(index, case)| Some((index, case.failure.as_ref()?)))
    }

    /// Returns what all cases used, including the requests of the metric. Unknown figures stay unknown.
    pub fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        self.cases.iter().for_each(|case| usage += case.usage);
        usage
    }

    /// Returns the mean time of the cases without an answer from a journal, and not left out. `None`: there is none.
    pub fn time_per_case(&self) -> Option<Duration> {
        let asked: Vec<_> = self
            .cases
            .iter()
            .filter(|case| case.replayed == 0 && !case.is_left_out())
            .collect();
        let sum: Duration = asked.iter().map(|case| case.elapsed).sum();
        sum.checked_div(u32::try_from(asked.len()).unwrap_or(u32::MAX))
    }

    /// Returns the report as JSON.
    pub fn to_json(&self) -> String {
        // Cannot fail: keys are texts.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Reads a report that this version of llmnode or an older one wrote.
    ///
    /// # Errors
    /// A [`FormatError`]: the JSON is something else, newer than this llmnode, or malformed.
    pub fn from_json(json: &str) -> Result<Self, FormatError> {
        #[derive(Deserialize)]
        struct Body {
            node: String,
            data: Option<String>,
            #[serde(default)]
            metric: String,
            #[serde(default = "once")]
            repeats: u32,
            cases: Vec<EvaluatedCase>,
        }
        fn once() -> u32 {
            1
        }
        let Body {
            node,
            data,
            metric,
            repeats,
            cases,
        } = read_format(json, FORMAT, VERSION)?;
        Ok(Evaluation {
            metric,
            repeats,
            ..Evaluation::new(&node, data, cases)
        })
    }
}

impl Serialize for Evaluation {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut report = to.serialize_struct("Evaluation", 13)?;
        report.serialize_field("format", FORMAT)?;
        report.serialize_field("version", &VERSION)?;
        report.serialize_field("node", &self.node)?;
        report.serialize_field("data", &self.data)?;
        if !self.metric.is_empty() {
            report.serialize_field("metric", &self.metric)?;
        }
        if self.repeats > 1 {
            report.serialize_field("repeats", &self.repeats)?;
        }
        report.serialize_field("n", &self.cases.len())?;
        report.serialize_field("mean", &self.mean())?;
        report.serialize_field("interval", &self.interval())?;
        report.serialize_field("failed", &self.failures().count())?;
        report.serialize_field("left_out", &self.left_out().count())?;
        report.serialize_field("usage", &self.usage())?;
        report.serialize_field("cases", &self.cases)?;
        report.end()
    }
}

/// Outputs and feedback may be private.
impl fmt::Debug for EvaluatedCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failure = self.failure.as_ref().map(|failure| failure.category);
        let mut shown = f.debug_struct("EvaluatedCase");
        shown
            .field("score", &self.score)
            .field("failure", &failure)
            .field("elapsed", &self.elapsed);
        shown.finish_non_exhaustive()
    }
}

impl fmt::Debug for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Evaluation");
        shown
            .field("node", &self.node)
            .field("n", &self.cases.len())
            .field("mean", &self.mean());
        shown.finish_non_exhaustive()
    }
}

/// For optimisers, whose cases are asked in their own way.
pub trait EvaluationInternals {
    /// Creates a report of cases, in the order of the data.
    fn of_cases(node: &str, fingerprint: Option<String>, cases: Vec<EvaluatedCase>) -> Self;
}

impl EvaluationInternals for Evaluation {
    fn of_cases(node: &str, fingerprint: Option<String>, cases: Vec<EvaluatedCase>) -> Self {
        Evaluation::new(node, fingerprint, cases)
    }
}
