//! One case of an evaluation: what came out of its repeats.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use llmnode_runtime::ext::milliseconds;
use llmnode_runtime::{CallReport, Category, NodeError, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::case::{Scored, is_outage, replayed};
use super::dataset::Mark;

/// One case of an evaluation.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
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
    /// The score of each field that the metric scored, the mean of all repeats; a repeat that failed counts as 0.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, f64>,
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
        let fields = mean_fields(&repeats);
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
            fields,
            usage,
            replayed_usage,
            elapsed: elapsed / count.max(1),
            replayed,
            ..worst
        })
    }

    /// The worst is the lowest: one that failed is below a wrong answer, and one that was left out is above all.
    fn rank(&self) -> f64 {
        if self.is_left_out() {
            f64::INFINITY
        } else if self.failure.is_some() {
            f64::NEG_INFINITY
        } else {
            self.score
        }
    }

    /// The score of one of its fields. A case that failed has 0. `None`: the case has no such field.
    pub(super) fn field(&self, name: &str) -> Option<f64> {
        let scored = self.fields.get(name).copied();
        scored.or_else(|| self.failure.is_some().then_some(0.0))
    }

    /// The lowest score of its repeats.
    pub(super) fn lowest(&self) -> f64 {
        self.scores.iter().copied().fold(self.score, f64::min)
    }

    /// What it used, now or when the answers of a journal were asked for.
    pub(super) fn total_usage(&self) -> Usage {
        let mut usage = self.usage;
        usage += self.replayed_usage;
        usage
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
            fields: score.fields,
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
            fields: BTreeMap::new(),
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

/// Each field's mean over the repeats that have a score.
fn mean_fields(repeats: &[EvaluatedCase]) -> BTreeMap<String, f64> {
    let mut fields = BTreeMap::new();
    let scored = repeats.iter().filter(|repeat| !repeat.is_left_out());
    let count = scored.clone().count();
    for (name, value) in scored.flat_map(|repeat| &repeat.fields) {
        *fields.entry(name.clone()).or_default() += value / count as f64;
    }
    fields
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
