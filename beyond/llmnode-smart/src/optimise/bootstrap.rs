//! Finds examples for the prompt in the answers of a teacher.

use std::borrow::Cow;

use llmnode_runtime::private::LlmNode;
use llmnode_runtime::{Category, Cx, Exec, Limits, NodeError};
use serde::Serialize;

use super::labels::{labels, program_with_demos};
use super::outcome::Optimised;
use super::teacher::Lesson;
use super::trial::{Candidate, OptimiserId, Trial, mean};
use crate::program::MOST_DEMOS;
use crate::signature::{Demo, Smart};
use llmnode_eval::Metric;
use llmnode_eval::ext::Random;
use llmnode_eval::ext::replayed;

/// Finds examples for the prompt, as DSPy's `BootstrapFewShot` does.
///
/// A teacher model is asked about the training cases in order, with labelled cases as its examples, until 4 of its answers pass.
/// These become the examples of the program, with the teacher's reasoning if the node thinks, and labelled cases fill them up to 8.
///
/// It takes two evaluations on the validation cases, and one request for each training case that it asks about.
///
/// ```no_run
/// use llmnode::evals::{Dataset, exact};
/// use llmnode::smart::optimise::Bootstrap;
/// use llmnode::prelude::*;
/// use llmnode::smart::Program;
/// use llmnode::Limits;
///
/// #[llm_output]
/// struct Verdict {
///     holds: bool,
/// }
///
/// #[llm_node(goal = "Judge the claim.", think, output = Verdict)]
/// struct Judge {
///     claim: String,
/// }
///
/// # async fn optimise(small: ScriptedModel, big: ScriptedModel) -> Result<(), Box<dyn std::error::Error>> {
/// let run = Run::new(small).model("big", big);
/// let (train, validation) = Dataset::<Judge, Verdict>::open("claims.jsonl")?.split(0.5, 0);
/// let optimised = Bootstrap::new()
///     .teacher("big")
///     .limits(Limits::new().requests(200))
///     .optimise(&run, &Program::new(), &train, &validation, exact())
///     .await?;
/// println!("{}", optimised.report());
/// optimised.save("judge.json")?; // writes nothing if nothing beats the start
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Bootstrap {
    bootstrapped: usize,
    labelled: usize,
    rounds: u32,
    threshold: f64,
    teacher: Option<Cow<'static, str>>,
    pub(super) seed: u64,
    pub(super) limits: Limits,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Bootstrap::new()
    }
}

impl Bootstrap {
    /// Begins with 4 bootstrapped examples, filled up to 8 with labelled ones, 1 round, and seed 0. You must set the limits.
    pub fn new() -> Self {
        Bootstrap {
            bootstrapped: 4,
            labelled: 8,
            rounds: 1,
            threshold: 1.0,
            teacher: None,
            seed: 0,
            limits: Limits::new(),
        }
    }

    /// Sets how many of the teacher's answers become examples. Default 4.
    #[must_use]
    pub fn bootstrapped(mut self, examples: usize) -> Self {
        self.bootstrapped = examples;
        self
    }

    /// Sets how many examples the prompt has at most, after labelled cases are added. The teacher is shown as many. Default 8.
    #[must_use]
    pub fn labelled(mut self, examples: usize) -> Self {
        self.labelled = examples;
        self
    }

    /// Sets how often the teacher is asked about a case until its answer passes. After the first time, the temperature is 1.
    /// Default 1; 0 counts as 1.
    #[must_use]
    pub fn rounds(mut self, rounds: u32) -> Self {
        self.rounds = rounds.max(1);
        self
    }

    /// Sets the score that a teacher's answer needs to pass. Default 1.
    #[must_use]
    pub fn threshold(mut self, score: f64) -> Self {
        self.threshold = score;
        self
    }

    /// Sets the teacher model: a name registered on the run, or else the provider's id. Default: the node's own.
    #[must_use]
    pub fn teacher(mut self, model: impl Into<Cow<'static, str>>) -> Self {
        self.teacher = Some(model.into());
        self
    }

    pub(super) fn fault(&self) -> Option<String> {
        match self.bootstrapped.max(self.labelled) {
            0 => Some(
                "there is no example to find; set `bootstrapped` or `labelled` above 0".to_owned(),
            ),
            most if most > MOST_DEMOS => Some(format!(
                "a program has {MOST_DEMOS} examples at most, and {most} are asked for; ask for fewer"
            )),
            _ => None,
        }
    }

    /// The least that is useful: two evaluations, and up to three of the teacher's answers.
    pub(super) fn needs(&self, train: usize, validation: usize) -> u64 {
        (2 * validation + self.bootstrapped.min(train).min(3)) as u64
    }

    pub(super) async fn run<S, N, E, M>(
        &self,
        trial: &Trial<'_, N, E, M>,
        cx: &Cx<'_, S>,
    ) -> Result<Optimised<N>, NodeError>
    where
        S: ?Sized + Sync,
        N: Smart + LlmNode<S> + Exec<S, Output: Serialize>,
        E: Serialize + Send + Sync,
        M: Metric<N, E, S>,
    {
        let by = OptimiserId {
            name: "bootstrap",
            seed: self.seed,
        };
        let labels = labels(trial.train.rows())?;
        let mut random = Random::new(self.seed);
        let start = trial.validate(cx, trial.start).await?;
        let Lessons { passed, scores } = self.teach(trial, cx, &labels, &mut random).await?;
        let others = (0..labels.len())
            .filter(|at| passed.iter().all(|(used, _)| used != at))
            .collect();
        let fill = self.labelled.saturating_sub(passed.len());
        let labelled = draw(&labels, others, fill, &mut random);
        let demos: Vec<_> = passed
            .into_iter()
            .chain(labelled)
            .map(|(_, demo)| demo)
            .collect();
        if demos.is_empty() {
            return Ok(trial.outcome(start, None, &by));
        }
        trial.proposed();
        let program = program_with_demos(trial.start, demos)?;
        match trial.validate(cx, &program).await {
            Ok(validation) => {
                let train = mean(scores.into_iter());
                Ok(trial.outcome(
                    start,
                    Some(Candidate {
                        program,
                        validation,
                        train,
                    }),
                    &by,
                ))
            }
            // Answers took more than one request each, so no candidate was judged.
            Err(error) if error.category() == Category::LimitExceeded => {
                Ok(trial.outcome(start, None, &by))
            }
            Err(error) => Err(error),
        }
    }

    /// Runs as many cases concurrently as answers are missing: one by one, all of these would be asked, too.
    async fn teach<S, N, E, M>(
        &self,
        trial: &Trial<'_, N, E, M>,
        cx: &Cx<'_, S>,
        labels: &[Option<Demo>],
        random: &mut Random,
    ) -> Result<Lessons, NodeError>
    where
        S: ?Sized + Sync,
        N: Smart + LlmNode<S> + Exec<S, Output: Serialize>,
        E: Send + Sync,
        M: Metric<N, E, S>,
    {
        let shown = draw(labels, (0..labels.len()).collect(), self.labelled, random);
        let mut lessons = Lessons::default();
        let mut next = 0;
        while lessons.passed.len() < self.bootstrapped && next < trial.train.len() {
            // Keeps requests for judging the candidate.
            let kept_back = trial.validation.len() as u64 * trial.per_case();
            let of_lesson = u64::from(self.rounds).saturating_mul(trial.per_case());
            let affordable = trial.left().saturating_sub(kept_back) / of_lesson;
            let lessons_left =
                (self.bootstrapped - lessons.passed.len()).min(trial.train.len() - next);
            let wave = lessons_left.min(usize::try_from(affordable).unwrap_or(usize::MAX));
            let nodes = (next..next + wave)
                .map(|at| self.lesson(trial, at, &shown))
                .collect::<Result<Vec<_>, _>>()?;
            let results = cx.map(nodes).concurrency(trial.concurrency).report().await;
            for (at, result) in (next..).zip(results) {
                match result {
                    Ok(report) => {
                        trial.charge(
                            report.total,
                            report.replayed(),
                            report.value.model.as_deref(),
                        );
                        lessons.scores.push(report.value.score);
                        lessons
                            .passed
                            .extend(report.value.demo.map(|demo| (at, demo)));
                    }
                    Err(error) if error.category() == Category::LimitExceeded => {
                        trial.charge(error.usage(), replayed(error.calls()).1, None)
                    }
                    Err(error) => return Err(error),
                }
            }
            trial.report_progress();
            if wave == 0 {
                break;
            }
            next += wave;
        }
        Ok(lessons)
    }

    fn lesson<'b, N: Smart, E, M>(
        &'b self,
        trial: &'b Trial<'_, N, E, M>,
        at: usize,
        shown: &[(usize, Demo)],
    ) -> Result<Lesson<'b, N, E, M>, NodeError> {
        // The teacher must not see the label of its own case.
        let others = shown
            .iter()
            .filter(|(of, _)| *of != at)
            .map(|(_, demo)| demo.clone());
        let program = if shown.is_empty() {
            trial.start.clone()
        } else {
            program_with_demos(trial.start, others.collect())?
        };
        Ok(Lesson {
            case: &trial.train.rows()[at],
            metric: trial.metric,
            program,
            model: self.teacher.as_ref(),
            rounds: self.rounds,
            threshold: self.threshold,
        })
    }
}

#[derive(Default)]
struct Lessons {
    passed: Vec<(usize, Demo)>,
    scores: Vec<f64>,
}

fn draw(
    labels: &[Option<Demo>],
    mut of: Vec<usize>,
    most: usize,
    random: &mut Random,
) -> Vec<(usize, Demo)> {
    of.retain(|at| labels[*at].is_some());
    random.shuffle(&mut of);
    of.truncate(most);
    of.into_iter()
        .filter_map(|at| Some((at, labels[at].clone()?)))
        .collect()
}
