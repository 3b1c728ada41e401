//! Compares two reports on the same cases.

use std::collections::{BTreeMap, BTreeSet};

use llmnode_runtime::{Category, NodeError};

use super::difference::{CaseDiff, EvaluationDiff, FieldDiff};
use super::report::Evaluation;
use super::statistics;

/// A comparison leaves out one case of so many at most.
const MOST_LEFT_OUT: usize = 10;

impl Evaluation {
    /// Compares this report with another one on the same cases, pair by pair. Cases that an outage left out of one of them are not
    /// compared. `Display` of the result is a table, with the cases that fell and both of their answers.
    ///
    /// ```
    /// use llmnode::evals::{Dataset, evaluate, exact};
    /// # use llmnode::{BoxError, Cx, Exec, Node, NodeError, Run, ScriptedModel};
    /// # struct Times(u64);
    /// # impl Node for Times { type Output = u64; const NAME: &'static str = "times"; }
    /// # impl Exec<u64> for Times {
    /// #     async fn exec(&self, cx: &Cx<'_, u64>) -> Result<u64, BoxError> { Ok(self.0 * cx.state()) }
    /// # }
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    /// # runtime.block_on(async {
    /// # let old = Run::new(ScriptedModel::new()).with_state(2);
    /// # let new = Run::new(ScriptedModel::new()).with_state(3);
    /// let data = Dataset::new([(Times(0), 0), (Times(1), 3), (Times(2), 4)]);
    /// let before = evaluate(&old, &data, exact()).await?;
    /// let after = evaluate(&new, &data, exact()).await?;
    /// let difference = after.compare(&before)?;
    /// assert_eq!((difference.better, difference.worse), (1, 1));
    /// assert_eq!(difference.fallen()[0].place, 2);
    /// println!("{difference}");
    /// # Ok::<(), NodeError>(()) }).unwrap();
    /// ```
    ///
    /// # Errors
    /// A `config_error`, if the other report has other cases: more or fewer, or both come from files that differ. Also if another
    /// metric scored it.
    /// Cases that the program made are assumed to be the same if their number is the same. Also if outages left out more than one
    /// case in ten, since those that are left may be the easy ones.
    pub fn compare(&self, other: &Evaluation) -> Result<EvaluationDiff, NodeError> {
        if self.cases.len() != other.cases.len() {
            let one = self.cases.len();
            let two = other.cases.len();
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
        if !self.metric.is_empty() && !other.metric.is_empty() && self.metric != other.metric {
            return refused(format!(
                "the reports were scored by `{}` and `{}`; compare reports of the same metric",
                self.metric, other.metric
            ));
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
        let mut compared = compared(pairs, left_out);
        compared.repeats = self.repeats;
        compared.other_repeats = other.repeats;
        Ok(compared)
    }

    /// The cases that both have.
    fn pairs(&self, other: &Evaluation) -> Vec<CaseDiff> {
        let both = self.cases.iter().zip(&other.cases).enumerate();
        let both = both.filter(|(_, (one, two))| !one.is_left_out() && !two.is_left_out());
        both.map(|(place, (this, other))| CaseDiff {
            place,
            this: this.clone(),
            other: other.clone(),
        })
        .collect()
    }
}

fn refused(message: String) -> Result<EvaluationDiff, NodeError> {
    Err(NodeError::new(Category::ConfigError, message))
}

/// Whether both scores are 0 or 1.
fn is_share(pair: &CaseDiff) -> bool {
    let scores = [pair.this.score, pair.other.score];
    scores.iter().all(|score| *score == 0.0 || *score == 1.0)
}

/// The means of each field, over the cases that have it in both reports. A case that failed has 0 in all of them.
fn compared_fields(pairs: &[CaseDiff]) -> BTreeMap<String, FieldDiff> {
    let reports = pairs.iter().flat_map(|pair| [&pair.this, &pair.other]);
    let names: BTreeSet<&String> = reports.flat_map(|case| case.fields.keys()).collect();
    let mut fields = BTreeMap::new();
    for name in names {
        let mut field = FieldDiff::default();
        for pair in pairs {
            let scores = pair.this.field(name).zip(pair.other.field(name));
            let Some((this, other)) = scores else {
                continue;
            };
            field.cases += 1;
            field.mean += this;
            field.other += other;
        }
        if field.cases == 0 {
            continue;
        }
        field.mean /= field.cases as f64;
        field.other /= field.cases as f64;
        fields.insert(name.clone(), field);
    }
    fields
}

fn compared(pairs: Vec<CaseDiff>, left_out: usize) -> EvaluationDiff {
    let differences: Vec<_> = pairs.iter().map(CaseDiff::difference).collect();
    let better = differences
        .iter()
        .filter(|difference| **difference > 0.0)
        .count();
    let worse = differences
        .iter()
        .filter(|difference| **difference < 0.0)
        .count();
    let mut interval = (-1.0, 1.0);
    let mut p = 1.0;
    if pairs.iter().all(is_share) {
        interval = statistics::agresti_min(better, worse, pairs.len());
        p = statistics::sign_test(better, worse);
    } else if pairs.len() > 1 {
        interval = statistics::student(&differences);
        p = statistics::sign_flips(&differences);
    }
    let n = pairs.len() as f64;
    let mean = pairs.iter().map(|pair| pair.this.score).sum::<f64>() / n;
    let other = pairs.iter().map(|pair| pair.other.score).sum::<f64>() / n;
    let interval = (interval.0.max(-1.0), interval.1.min(1.0));
    EvaluationDiff {
        mean,
        other,
        interval,
        better,
        worse,
        left_out,
        p,
        fields: compared_fields(&pairs),
        cases: pairs,
        repeats: 1,
        other_repeats: 1,
    }
}

#[cfg(test)]
#[path = "comparison_tests.rs"]
mod tests;
