//! How far a judge agrees with people.
//!
//! A judge is a node, so it is evaluated as any other: on answers that people have graded, with [`agreement`] as the metric. The metric
//! keeps both grades of each case as fields, and [`Evaluation::agreement`] reads from them what the mean alone does not say: whether a
//! judge that calls everything good would agree as often, and to which side it errs.

use std::fmt;

use llmnode_runtime::{BoxError, Cx, Node};

use super::metric::{Metric, ScoredCase};
use super::report::{Evaluation, interval};
use super::score::Score;

/// The fields in which a case has both grades.
const JUDGE: &str = "judge";
const PEOPLE: &str = "people";

/// Two grades that are closer are the same.
const SAME: f64 = 1e-9;

/// Scores a judge by its agreement with people: 1 if both give the same grade, 0 if one gives 0 and the other 1. The outputs of the judge
/// and the labels are what a [`Score`] can be made from, such as the type that [`judge`](super::judge) reads its score from, or a `bool`.
///
/// ```
/// use llmnode::evals::{Dataset, Score, agreement, evaluate};
/// # use llmnode::{BoxError, Cx, Exec, Node, NodeError, Run, ScriptedModel};
/// # struct Grade { summary: String }
/// # impl Node for Grade { type Output = Verdict; const NAME: &'static str = "grade"; }
/// # impl<S: ?Sized + Sync> Exec<S> for Grade {
/// #     async fn exec(&self, _: &Cx<'_, S>) -> Result<Verdict, BoxError> { Ok(Verdict { good: self.summary.len() < 12 }) }
/// # }
/// # #[derive(Clone, serde::Serialize)]
/// # struct Verdict { good: bool }
/// # impl From<Verdict> for Score { fn from(verdict: Verdict) -> Self { verdict.good.into() } }
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// # let run = Run::new(ScriptedModel::new());
/// // #[llm_node(prompt = "..", output = Verdict)] struct Grade { summary: String }
/// // What people said of four summaries.
/// let graded = [("short", true), ("brief", true), ("much too long", false), ("wrong", false)];
/// let graded = Dataset::new(graded.map(|(summary, good)| (Grade { summary: summary.into() }, good)));
/// let report = evaluate(&run, &graded, agreement()).await?;
/// let found = report.agreement().unwrap();
/// assert_eq!((found.share, found.kappa, found.too_kind, found.too_strict), (0.75, Some(0.5), 1, 0));
/// println!("{found}"); // the judge agrees in 0.750 (95 %: 0.301 to 0.954) of 4 cases, beyond chance in 0.500; too kind in 1, too strict in 0
/// # Ok::<(), NodeError>(()) }).unwrap();
/// ```
pub fn agreement() -> AgreementMetric {
    AgreementMetric
}

/// A metric for judges. [`agreement`] creates it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AgreementMetric;

impl<N, E, S> Metric<N, E, S> for AgreementMetric
where
    N: Node<Output: Clone + Into<Score> + Sync> + Sync,
    E: Clone + Into<Score> + Sync,
    S: ?Sized + Sync,
{
    async fn score(&self, judged: ScoredCase<'_, N, E>, _: &Cx<'_, S>) -> Result<Score, BoxError> {
        let judge: Score = judged.output.clone().into();
        let people: Score = judged.expected.clone().into();
        let far = (judge.value - people.value).abs();
        let feedback = if far < SAME {
            String::new()
        } else {
            format!("people gave {}, the judge {}", people.value, judge.value)
        };
        let score = Score::new(1.0 - far).feedback(feedback);
        Ok(score.field(JUDGE, judge.value).field(PEOPLE, people.value))
    }

    fn name(&self) -> String {
        "agreement".to_owned()
    }
}

/// How far a judge agrees with people. [`Evaluation::agreement`] returns it, and `Display` says it in a line.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Agreement {
    /// How many cases both have graded.
    pub cases: usize,
    /// The mean agreement from 0 to 1. With grades of 0 and 1 it is the share of cases with the same grade.
    pub share: f64,
    /// The ends of its 95 % interval.
    pub interval: (f64, f64),
    /// The agreement beyond what chance alone would give, at most 1; 0 is as good as grades that are dealt out blindly. It is Cohen's
    /// kappa, with linear weights for grades between 0 and 1. `None`: judge and people gave one and the same grade to all cases, so that
    /// nothing is known of the other grades.
    pub kappa: Option<f64>,
    /// In how many cases the judge gave more than people did.
    pub too_kind: usize,
    /// In how many cases the judge gave less.
    pub too_strict: usize,
}

/// Both grades of a case.
struct Grades {
    judge: f64,
    people: f64,
}

impl Grades {
    fn agreement(&self) -> f64 {
        1.0 - (self.judge - self.people).abs()
    }
}

impl Evaluation {
    /// Returns how far a judge agrees with people. `None`: the metric was not [`agreement`], or no case has both grades. Cases in which
    /// the judge gave no answer are not in it; the mean of the report counts them as 0.
    pub fn agreement(&self) -> Option<Agreement> {
        let graded = self.cases.iter().filter(|case| case.failure.is_none());
        let grades: Vec<Grades> = graded
            .filter_map(|case| {
                Some(Grades {
                    judge: *case.fields.get(JUDGE)?,
                    people: *case.fields.get(PEOPLE)?,
                })
            })
            .collect();
        if grades.is_empty() {
            return None;
        }
        let scores: Vec<f64> = grades.iter().map(Grades::agreement).collect();
        Some(Agreement {
            cases: grades.len(),
            share: observed(&grades),
            interval: interval(&scores),
            kappa: kappa(&grades),
            too_kind: grades
                .iter()
                .filter(|both| both.judge - both.people > SAME)
                .count(),
            too_strict: grades
                .iter()
                .filter(|both| both.people - both.judge > SAME)
                .count(),
        })
    }
}

fn observed(grades: &[Grades]) -> f64 {
    let sum: f64 = grades.iter().map(Grades::agreement).sum();
    sum / grades.len() as f64
}

/// Chance deals each grade of the judge to each case of the people.
fn kappa(grades: &[Grades]) -> Option<f64> {
    let mut sum = 0.0;
    for judge in grades.iter().map(|both| both.judge) {
        for people in grades.iter().map(|both| both.people) {
            sum += 1.0 - (judge - people).abs();
        }
    }
    let by_chance = sum / (grades.len() as f64).powi(2);
    let beyond = 1.0 - by_chance;
    (beyond > SAME).then(|| (observed(grades) - by_chance) / beyond)
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cases = if self.cases == 1 { "case" } else { "cases" };
        write!(
            f,
            "the judge agrees in {:.3} (95 %: {:.3} to {:.3}) of {} {cases}",
            self.share, self.interval.0, self.interval.1, self.cases
        )?;
        match self.kappa {
            Some(kappa) => write!(f, ", beyond chance in {kappa:.3}")?,
            None => f.write_str(", all with the same grade, which says little")?,
        }
        write!(
            f,
            "; too kind in {}, too strict in {}",
            self.too_kind, self.too_strict
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grades(all: &[[f64; 2]]) -> Vec<Grades> {
        let each = all.iter();
        each.map(|[judge, people]| Grades {
            judge: *judge,
            people: *people,
        })
        .collect()
    }

    /// As `sklearn.metrics.cohen_kappa_score` says, with `weights="linear"` where there are more than two grades.
    #[test]
    fn kappa_is_cohens() {
        let mut table = vec![[1.0, 1.0]; 20];
        table.extend(vec![[1.0, 0.0]; 10]);
        table.extend(vec![[0.0, 1.0]; 5]);
        table.extend(vec![[0.0, 0.0]; 15]);
        assert!((observed(&grades(&table)) - 0.7).abs() < 1e-12);
        assert!((kappa(&grades(&table)).unwrap() - 0.4).abs() < 1e-12);
        // Says yes to all: it agrees in nine of ten, and knows nothing.
        let mut yes = vec![[1.0, 1.0]; 9];
        yes.push([1.0, 0.0]);
        assert_eq!(kappa(&grades(&yes)), Some(0.0));
        let middle = grades(&[[0.0, 0.0], [0.5, 0.5], [1.0, 0.5], [1.0, 1.0]]);
        assert!((kappa(&middle).unwrap() - 0.714_285_714).abs() < 1e-6);
        assert_eq!(kappa(&grades(&[[1.0, 1.0], [1.0, 1.0]])), None);
    }
}
