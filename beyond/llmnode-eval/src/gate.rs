//! The gate: may a changed node be merged, by the cases that a baseline has scores of?
//!
//! In come a report and the file of the baseline, out comes a [`Verdict`] that lets the test pass, or a [`GateError`] that fails it.
//! In this order:
//!
//! 1. a case that must be right and is not fails, with or without a baseline; what the others say stands beside it;
//! 2. outages left too many cases without a score, or one that must be right: that is unfinished, and never a fall;
//! 3. an evaluation that was started to write the baseline writes it, and passes;
//! 4. what cannot be compared is refused: no baseline, another node or metric, other data, and a file that nobody can have measured;
//! 5. *worse*: the scores fell, and by more than chance would make them fall. Only this fails by a comparison;
//! 6. *no worse*: the lowest difference that would not be surprising is above the margin;
//! 7. *cannot tell* otherwise, which passes unless the gate is strict: with a dozen cases hardly anything can be told, and who fails
//!    on the mean alone fails a third of the time for nothing.

use std::future::IntoFuture;
use std::path::{Path, PathBuf};

use llmnode_runtime::NodeError;

use super::baseline::Baseline;
use super::common::Common;
use super::fall::is_surprising;
use super::gate_error::{FallenCase, GateError};
use super::report::{Evaluation, Measured};
use super::verdict::{Verdict, VerdictKind};

const MARGIN: f64 = 0.05;
/// One case of so many may be without a score.
const MOST_LEFT_OUT: usize = 10;
/// The share of cases that has to be in both.
const LEAST_COMMON: f64 = 0.8;

/// Holds a report against a baseline in a file: `Gate::new("evals/sort.baseline.json").margin(0.1).check(&report)`.
///
/// [`Evaluation::against`] is a gate with the defaults. The margin is how much worse a node may be before it is called worse than
/// harmless, and 0.05 by default: of 100 points, 5.
#[derive(Clone, Debug)]
#[must_use = "a gate checks nothing until it is given a report"]
pub struct Gate {
    path: PathBuf,
    margin: f64,
    is_strict: bool,
    with_answers: bool,
}

impl Gate {
    /// Creates a gate with the file of the baseline.
    pub fn new(baseline: impl Into<PathBuf>) -> Self {
        Gate {
            path: baseline.into(),
            margin: MARGIN,
            is_strict: false,
            with_answers: false,
        }
    }

    /// Sets how far the mean score may have fallen, from 0 to 1, for a node to count as no worse. Default 0.05. A smaller margin needs
    /// more cases: with 0.05, some 200.
    pub fn margin(mut self, margin: f64) -> Self {
        self.margin = margin;
        self
    }

    /// Fails also if there are too few cases to tell.
    pub fn strict(mut self) -> Self {
        self.is_strict = true;
        self
    }

    /// Keeps the answers in the baseline when it is written, so that a fall shows the old one beside the new one. By default the file
    /// has scores alone: answers may be private, and a repository is read by many.
    pub fn with_answers(mut self) -> Self {
        self.with_answers = true;
        self
    }

    /// Holds a report against the baseline.
    ///
    /// # Errors
    /// A [`GateError`]: the node is worse, a case that must be right is not, or nothing can be compared.
    pub fn check(&self, report: &Evaluation) -> Result<Verdict, GateError> {
        self.check_margin()?;
        let wrong = wrong_musts(report);
        if !wrong.is_empty() {
            return Err(GateError::Must {
                cases: wrong,
                verdict: self.beside(report).map(Box::new),
            });
        }
        unfinished(report)?;
        if report.is_blessing {
            return self.write(report);
        }
        let baseline = self.read(&report.test)?;
        self.compare(report, &baseline)
    }

    /// Evaluates, and holds the report against the baseline. If it is worse, it evaluates once more, and fails only if that is worse,
    /// too: of 1,000 runs of a node that did not change, 4 fail in place of 40.
    ///
    /// ```no_run
    /// # use llmnode::{BoxError, Cx, Exec, Node, NodeError, Run, ScriptedModel};
    /// use llmnode::evals::{Dataset, Gate, GateError, evaluate, exact};
    /// # struct Double(u64);
    /// # impl Node for Double { type Output = u64; const NAME: &'static str = "double"; }
    /// # impl<S: ?Sized + Sync> Exec<S> for Double {
    /// #     async fn exec(&self, _: &Cx<'_, S>) -> Result<u64, BoxError> { Ok(self.0 * 2) }
    /// # }
    ///
    /// # async fn gate(run: &Run) -> Result<(), GateError> {
    /// let data = Dataset::new([(Double(1), 2), (Double(2), 4)]);
    /// let gate = Gate::new("evals/double.baseline.json").margin(0.1);
    /// let verdict = gate.confirm(|| evaluate(run, &data, exact()).repeats(3)).await?;
    /// println!("{verdict}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A [`GateError`], as from [`check`](Gate::check), or of the evaluation.
    pub async fn confirm<E>(&self, evaluate: impl Fn() -> E) -> Result<Verdict, GateError>
    where
        E: IntoFuture<Output = Result<Evaluation, NodeError>>,
    {
        self.check_margin()?;
        // Who has no baseline learns it before the model is paid.
        let measured = Measured::on_this_thread(1);
        if !measured.is_blessing {
            self.read(&measured.test)?;
        }
        let first = self.check(&evaluate().await.map_err(GateError::Evaluation)?);
        match first {
            Err(GateError::Worse { .. }) => {
                self.check(&evaluate().await.map_err(GateError::Evaluation)?)
            }
            other => other,
        }
    }

    /// A percentage in place of a share would let every loss pass.
    fn check_margin(&self) -> Result<(), GateError> {
        let margin = self.margin;
        if (0.0..=1.0).contains(&margin) {
            Ok(())
        } else {
            Err(GateError::Margin { margin })
        }
    }

    /// How all cases compare, beside those that must be right and are not. `None`: they cannot be compared.
    fn beside(&self, report: &Evaluation) -> Option<Verdict> {
        if report.is_blessing || unfinished(report).is_err() {
            return None;
        }
        let baseline = self.read(&report.test).ok()?;
        match self.compare(report, &baseline) {
            Ok(verdict) => Some(verdict),
            Err(GateError::Worse { verdict, .. } | GateError::CannotTell { verdict }) => {
                Some(*verdict)
            }
            Err(_) => None,
        }
    }

    fn write(&self, report: &Evaluation) -> Result<Verdict, GateError> {
        if std::env::var_os("CI").is_some() {
            return Err(GateError::WriteInCi {
                path: self.path.clone(),
            });
        }
        let baseline = Baseline::of(report, self.with_answers);
        baseline
            .write(&self.path)
            .map_err(|source| self.file(source))?;
        Ok(Verdict::written(report, &self.path))
    }

    fn read(&self, test: &str) -> Result<Baseline, GateError> {
        let text = match std::fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(GateError::NoBaseline {
                    path: self.path.clone(),
                    test: test.to_owned(),
                });
            }
            Err(error) => return Err(self.file(error)),
        };
        Baseline::read(&text).map_err(|source| GateError::Format {
            path: self.path.clone(),
            source,
        })
    }

    fn file(&self, source: std::io::Error) -> GateError {
        GateError::File {
            path: self.path.clone(),
            source,
        }
    }

    fn not_comparable(&self, why: String) -> GateError {
        GateError::NotComparable {
            path: self.path.clone(),
            why,
        }
    }

    fn compare(&self, report: &Evaluation, baseline: &Baseline) -> Result<Verdict, GateError> {
        if report.node != baseline.node {
            let why = format!(
                "it is of the node `{}`, not of `{}`",
                baseline.node, report.node
            );
            return Err(self.not_comparable(why));
        }
        if report.metric != baseline.metric {
            let why = format!(
                "it was scored by `{}`, not by `{}`",
                baseline.metric, report.metric
            );
            return Err(self.not_comparable(why));
        }
        // Who puts a case first has moved all others.
        if are_places(report) && report.cases.len() != baseline.cases.len() {
            let now = report.cases.len();
            let then = baseline.cases.len();
            let why = format!(
                "it has {then} cases and there are {now}, and cases that the program makes are known by their places alone: \
                 read them from a file, which may grow"
            );
            return Err(self.not_comparable(why));
        }
        let common = Common::of(report, baseline);
        let all = report.cases.len().max(baseline.cases.len());
        let in_both = common.pairs.len();
        if in_both == 0 || (in_both as f64) < all as f64 * LEAST_COMMON {
            return Err(self.not_comparable(format!("only {in_both} of {all} cases are in both")));
        }
        let mut verdict = Verdict::between(report, baseline, &common, self.margin);
        if verdict.difference < 0.0 && is_surprising(verdict.chance) {
            verdict.kind = VerdictKind::Worse;
            return Err(GateError::Worse {
                verdict: Box::new(verdict),
                cases: common.fallen().into_iter().map(FallenCase::of).collect(),
            });
        }
        if verdict.lowest > -self.margin {
            verdict.kind = VerdictKind::NoWorse;
        } else if self.is_strict {
            return Err(GateError::CannotTell {
                verdict: Box::new(verdict),
            });
        }
        Ok(verdict)
    }
}

impl Evaluation {
    /// Holds this report against the baseline in a file, with a margin of 0.05: see [`Gate`] for another one.
    ///
    /// ```no_run
    /// # use llmnode::{BoxError, Cx, Exec, Node, NodeError, Run};
    /// use llmnode::evals::{Dataset, evaluate, exact};
    /// # struct Sort { letter: String }
    /// # impl Node for Sort { type Output = String; const NAME: &'static str = "sort"; }
    /// # impl<S: ?Sized + Sync> Exec<S> for Sort {
    /// #     async fn exec(&self, _: &Cx<'_, S>) -> Result<String, BoxError> { Ok(self.letter.clone()) }
    /// # }
    ///
    /// # async fn test() -> Result<(), Box<dyn std::error::Error>> {
    /// # let run = Run::new(llmnode::ScriptedModel::new());
    /// let data = Dataset::new([(Sort { letter: "The roof leaks!".into() }, "repairs".to_owned())]);
    /// let report = evaluate(&run, &data, exact()).repeats(3).await?;
    /// report.against("evals/sort.baseline.json")?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A [`GateError`]: the node is worse, a case that must be right is not, or nothing can be compared.
    pub fn against(&self, baseline: impl AsRef<Path>) -> Result<Verdict, GateError> {
        Gate::new(baseline.as_ref()).check(self)
    }
}

fn wrong_musts(report: &Evaluation) -> Vec<FallenCase> {
    let cases = report.cases.iter().enumerate();
    let wrong = cases.filter(|(_, case)| case.must && !case.is_left_out() && case.lowest() < 1.0);
    wrong
        .map(|(place, case)| FallenCase::alone(place, case))
        .collect()
}

/// Whether the cases are the program's own, which are known by their places alone.
fn are_places(report: &Evaluation) -> bool {
    report.cases.iter().all(|case| case.name.starts_with('#'))
}

fn unfinished(report: &Evaluation) -> Result<(), GateError> {
    let left_out = report
        .cases
        .iter()
        .filter(|case| case.is_left_out())
        .count();
    let cases = report.cases.len();
    let lacks_a_must = report
        .cases
        .iter()
        .any(|case| case.must && case.is_left_out());
    // A baseline without a case would compare with no later report: there the number of cases is all that is known of them.
    let lacks_a_place = report.is_blessing && left_out > 0 && are_places(report);
    if lacks_a_must || lacks_a_place || left_out * MOST_LEFT_OUT > cases {
        return Err(GateError::Unfinished { left_out, cases });
    }
    Ok(())
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
