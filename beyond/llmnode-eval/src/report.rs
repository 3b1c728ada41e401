//! The result of an evaluation.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use llmnode_runtime::ext::read_format;
use llmnode_runtime::{FormatError, Usage};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use super::case::is_outage;
use super::evaluated_case::{EvaluatedCase, Failure};
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
    pub(super) is_blessing: bool,
    /// Empty: it runs on no thread of a test.
    pub(super) test: String,
}

impl Measured {
    /// A test has its name from the thread on which it runs. The one that `LLMNODE_BLESS` names asks three times as often: an error in a
    /// baseline is an error in each later verdict.
    pub(super) fn on_this_thread(repeats: u32) -> Self {
        let thread = std::thread::current();
        let path = thread
            .name()
            .filter(|name| is_test(name))
            .unwrap_or_default();
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

/// A program and the threads of a runtime have names, too, such as `main` and `tokio-rt-worker`.
fn is_test(thread: &str) -> bool {
    let mut letters = thread.chars();
    thread != "main" && letters.all(|letter| letter.is_alphanumeric() || "_:".contains(letter))
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

    /// Returns the mean score of each field, over the cases that are not left out. A failed case counts as 0. Empty: the metric scores
    /// no fields.
    pub fn fields(&self) -> BTreeMap<String, f64> {
        let scored = self.cases.iter().filter(|case| !case.is_left_out());
        let scored: Vec<&EvaluatedCase> = scored.collect();
        let names: BTreeSet<&String> = scored.iter().flat_map(|case| case.fields.keys()).collect();
        let mut means = BTreeMap::new();
        for name in names {
            // A case need not have each field: its label may lack it.
            let values = scored.iter().filter_map(|case| case.field(name));
            let values: Vec<f64> = values.collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            means.insert(name.clone(), mean);
        }
        means
    }

    /// Returns the ends of the 95 % interval, which holds the true mean in 95 of 100 such evaluations: Wilson's if all scores are 0 or 1, Student's t otherwise. With one case, or where all
    /// scores are the same, it is also Wilson's, since such scores do not show how far others would spread.
    pub fn interval(&self) -> (f64, f64) {
        let scores: Vec<_> = self.scores().collect();
        interval(&scores)
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
        let fresh: Vec<_> = self
            .cases
            .iter()
            .filter(|case| case.replayed == 0 && !case.is_left_out())
            .collect();
        let times = fresh.iter().map(|case| case.elapsed);
        let sum = times.fold(Duration::ZERO, Duration::saturating_add);
        sum.checked_div(u32::try_from(fresh.len()).unwrap_or(u32::MAX))
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

/// See [`Evaluation::interval`].
pub(super) fn interval(scores: &[f64]) -> (f64, f64) {
    let mean = scores.iter().sum::<f64>() / scores.len() as f64;
    let are_the_same = scores.iter().all(|score| Some(score) == scores.first());
    let are_shares = scores.iter().all(|score| *score == 0.0 || *score == 1.0);
    let (low, high) = if are_shares || are_the_same {
        statistics::wilson(mean, scores.len().max(1))
    } else {
        statistics::student(scores)
    };
    (low.max(0.0), high.min(1.0))
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

impl Evaluation {
    /// Creates a report of cases, in the order of the data.
    ///
    /// For optimisers, whose cases are asked in their own way. `node`: its name, as the report shows it. `fingerprint`: that of the
    /// [dataset](crate::Dataset::fingerprint).
    pub fn of_cases(node: &str, fingerprint: Option<String>, cases: Vec<EvaluatedCase>) -> Self {
        Evaluation::new(node, fingerprint, cases)
    }
}
