//! A baseline: the scores that a later evaluation is held against, in a file of the repository.
//!
//! It is one JSON object with one line for each case, sorted by the case's name, so that a change reads well as a diff. It has scores,
//! tokens and times, and no answers unless they are asked for: a repository is read by many.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::time::Duration;

use llmnode_runtime::FormatError;
use llmnode_runtime::ext::{milliseconds, read_format};
use llmnode_runtime::internal::files::write_atomically;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value;

use super::evaluated_case::EvaluatedCase;
use super::report::Evaluation;

const FORMAT: &str = "llmnode/baseline";
const VERSION: u64 = 1;

/// The scores of an evaluation, without what may be private.
#[derive(Deserialize)]
pub(super) struct Baseline {
    pub(super) node: String,
    pub(super) metric: String,
    pub(super) repeats: u32,
    /// The models that answered.
    pub(super) models: BTreeSet<String>,
    pub(super) cases: Vec<BaselineCase>,
}

#[derive(Deserialize, Serialize)]
pub(super) struct BaselineCase {
    /// The name of the case: see `EvaluatedCase::name`.
    pub(super) case: String,
    /// Whether it had to be right each time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) must: bool,
    /// The mean over the repeats.
    #[serde(deserialize_with = "share")]
    pub(super) score: f64,
    /// `None`: a request did not report its usage.
    #[serde(default)]
    pub(super) tokens: Option<u64>,
    #[serde(rename = "elapsed_ms", with = "milliseconds")]
    pub(super) elapsed: Duration,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) answer: Option<Value>,
}

#[derive(Serialize)]
struct Head<'a> {
    format: &'static str,
    version: u64,
    node: &'a str,
    metric: &'a str,
    repeats: u32,
    models: &'a BTreeSet<String>,
}

impl Baseline {
    /// Those that an outage left out have no score, and are not in it.
    pub(super) fn of(report: &Evaluation, with_answers: bool) -> Self {
        let scored = report.cases().iter().filter(|case| !case.is_left_out());
        let mut cases: Vec<_> = scored
            .map(|case| BaselineCase::of(case, with_answers))
            .collect();
        cases.sort_by(|one, other| one.case.cmp(&other.case));
        Baseline {
            node: report.node.clone(),
            metric: report.metric.clone(),
            repeats: report.repeats,
            models: report.models(),
            cases,
        }
    }

    /// People merge and edit the file: what no evaluation can have written is refused, so that it decides nothing.
    pub(super) fn read(json: &str) -> Result<Self, FormatError> {
        // Some editors begin a file with a mark of its encoding.
        let json = json.strip_prefix('\u{feff}').unwrap_or(json);
        let baseline: Baseline = read_format(json, FORMAT, VERSION)?;
        let mut seen = HashSet::new();
        let again = baseline.cases.iter().find(|case| !seen.insert(&case.case));
        match again {
            None => Ok(baseline),
            Some(case) => {
                let why = format!("the case `{}` is there twice", case.case);
                Err(FormatError::Malformed {
                    format: FORMAT,
                    source: de::Error::custom(why),
                })
            }
        }
    }

    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        write_atomically(path, self.to_json()?.as_bytes())
    }

    fn to_json(&self) -> io::Result<String> {
        let Baseline {
            node,
            metric,
            repeats,
            models,
            cases,
        } = self;
        let head = Head {
            format: FORMAT,
            version: VERSION,
            node,
            metric,
            repeats: *repeats,
            models,
        };
        let head = serde_json::to_string(&head)?;
        let mut json = format!("{},\"cases\":[", head.trim_end_matches('}'));
        for (at, case) in cases.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            // Writing to a text cannot fail.
            let _ = write!(json, "{comma}\n{}", serde_json::to_string(case)?);
        }
        json.push_str("\n]}\n");
        Ok(json)
    }
}

impl BaselineCase {
    fn of(case: &EvaluatedCase, with_answers: bool) -> Self {
        BaselineCase {
            case: case.name.clone(),
            must: case.must,
            score: case.score,
            tokens: case.usage.total.total(),
            elapsed: case.elapsed,
            answer: case.output.clone().filter(|_| with_answers),
        }
    }
}

fn share<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let score = f64::deserialize(from)?;
    if (0.0..=1.0).contains(&score) {
        return Ok(score);
    }
    let unexpected = de::Unexpected::Float(score);
    Err(de::Error::invalid_value(unexpected, &"a score from 0 to 1"))
}
