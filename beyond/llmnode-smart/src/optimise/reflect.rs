//! Finds a better goal by reflection on mistakes.

use std::borrow::Cow;

use llmnode_runtime::{Category, Cx, Exec, Limits, NodeError, Usage};
use serde::Serialize;

use super::outcome::Optimised;
use super::pareto;
use super::propose::{proposal_prompt, proposed, proposer};
use super::trial::{Candidate, OptimiserId, Trial, mean};
use crate::signature::Smart;
use llmnode_eval::ext::Random;
use llmnode_eval::ext::{is_fatal, is_outage};
use llmnode_eval::{EvaluatedCase, Metric};

/// Finds a better goal by reflecting on mistakes, as GEPA does.
///
/// It picks a candidate of the Pareto front, runs it on 3 training cases, and lets a model propose a new goal from the
/// [feedback](llmnode_eval::Score) of the metric. A proposal that scores higher on the same cases is judged on all validation cases
/// and joins the candidates. This continues while the limit allows another proposal. The best candidate is the result.
///
/// A proposal takes 7 requests, and one more for each validation case if it is judged on them.
///
/// ```no_run
/// use llmnode::evals::{Dataset, exact};
/// use llmnode::smart::optimise::{Optimised, Reflect};
/// use llmnode::prelude::*;
/// use llmnode::smart::Program;
/// use llmnode::Limits;
///
/// #[llm_output]
/// struct Verdict {
///     holds: bool,
/// }
///
/// #[llm_node(goal = "Judge the claim.", output = Verdict)]
/// struct Judge {
///     claim: String,
/// }
///
/// # async fn optimise(small: ScriptedModel, big: ScriptedModel) -> Result<(), Box<dyn std::error::Error>> {
/// let run = Run::new(small).model("big", big);
/// let (train, validation) = Dataset::<Judge, Verdict>::open("claims.jsonl")?.split(0.5, 0);
/// let reflect = Reflect::new().model("big").limits(Limits::new().requests(500));
/// match reflect.optimise(&run, &Program::new(), &train, &validation, exact()).await? {
///     Optimised::Improved { program, report } => println!("{report}\n{}", program.goal()),
///     other => println!("nothing is better: {}", other.report()),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Reflect {
    minibatch: usize,
    model: Option<Cow<'static, str>>,
    pub(super) seed: u64,
    pub(super) limits: Limits,
}

impl Default for Reflect {
    fn default() -> Self {
        Reflect::new()
    }
}

impl Reflect {
    /// Begins with minibatches of 3 cases and seed 0. You must set the limits.
    pub fn new() -> Self {
        Reflect {
            minibatch: 3,
            model: None,
            seed: 0,
            limits: Limits::new(),
        }
    }

    /// Sets how many training cases are used to make and try a proposal. Default 3; 0 counts as 1.
    #[must_use]
    pub fn minibatch(mut self, cases: usize) -> Self {
        self.minibatch = cases.max(1);
        self
    }

    /// Sets the model that proposes: a name registered on the run, or else the provider's id. Default: the run's own.
    #[must_use]
    pub fn model(mut self, model: impl Into<Cow<'static, str>>) -> Self {
        self.model = Some(model.into());
        self
    }

    fn proposal_cost(&self, train: usize, validation: usize, per_case: u64) -> u64 {
        (2 * self.minibatch.min(train) + validation) as u64 * per_case + 1
    }

    pub(super) fn needs(&self, train: usize, validation: usize) -> u64 {
        validation as u64 + 3 * self.proposal_cost(train, validation, 1)
    }

    pub(super) async fn run<S, N, E, M>(
        &self,
        trial: &Trial<'_, N, E, M>,
        cx: &Cx<'_, S>,
    ) -> Result<Optimised<N>, NodeError>
    where
        S: ?Sized + Sync,
        N: Smart + Exec<S, Output: Serialize>,
        E: Send + Sync,
        M: Metric<N, E, S>,
    {
        let start = trial.validate(cx, trial.start).await?;
        let mut pool = vec![Candidate {
            program: trial.start.clone(),
            validation: start.clone(),
            train: 0.0,
        }];
        if let Err(error) = self.search(trial, cx, &mut pool).await
            // Answers took more than one request each: what was judged before counts.
            && error.category() != Category::LimitExceeded
        {
            return Err(error);
        }
        // Of equal candidates, the first stays.
        let found = pool.into_iter().skip(1);
        let best = found.reduce(|best, next| {
            if next.validation.mean() > best.validation.mean() {
                next
            } else {
                best
            }
        });
        Ok(trial.outcome(
            start,
            best,
            &OptimiserId {
                name: "reflect",
                seed: self.seed,
            },
        ))
    }

    async fn search<S, N, E, M>(
        &self,
        trial: &Trial<'_, N, E, M>,
        cx: &Cx<'_, S>,
        pool: &mut Vec<Candidate<N>>,
    ) -> Result<(), NodeError>
    where
        S: ?Sized + Sync,
        N: Smart + Exec<S, Output: Serialize>,
        E: Send + Sync,
        M: Metric<N, E, S>,
    {
        let mut random = Random::new(self.seed);
        let mut batches = Minibatches::new(trial.train.len(), self.minibatch);
        let cost = self.proposal_cost(trial.train.len(), trial.validation.len(), trial.per_case());
        let mut perfect = 0;
        while trial.left() >= cost
            && pool
                .iter()
                .all(|candidate| candidate.validation.mean() < 1.0)
        {
            let parent = pool[pick(pool, &mut random)].program.clone();
            let batch = batches.next(&mut random);
            let cases: Vec<_> = batch.iter().map(|at| &trial.train.rows()[*at]).collect();
            let before = trial.run(cx, &parent, cases.clone()).await?;
            if before.iter().all(|case| case.score >= 1.0) {
                perfect += batch.len();
                // Twice the number of cases had nothing to teach.
                if perfect >= 2 * trial.train.len() {
                    break;
                }
                continue;
            }
            perfect = 0;
            let inputs: Vec<_> = cases.iter().map(|(input, _)| input).collect();
            let proposal_prompt = proposal_prompt(&parent, &inputs, &before);
            let Some(goal) = self.propose(trial, cx, proposal_prompt).await? else {
                continue;
            };
            let program = parent.clone().with_goal(goal);
            if program == parent {
                continue;
            }
            let after = trial.run(cx, &program, cases).await?;
            if sum(&after) > sum(&before) {
                let validation = trial.validate(cx, &program).await?;
                let train = mean(after.iter().map(|case| case.score));
                pool.push(Candidate {
                    program,
                    validation,
                    train,
                });
            }
        }
        Ok(())
    }

    /// `None`: the model proposed none.
    async fn propose<S, N, E, M>(
        &self,
        trial: &Trial<'_, N, E, M>,
        cx: &Cx<'_, S>,
        proposal_prompt: String,
    ) -> Result<Option<String>, NodeError>
    where
        S: ?Sized + Sync,
        N: Smart,
        E: Send + Sync,
        M: Send + Sync,
    {
        trial.proposed();
        let proposer = proposer(self.model.as_ref())?;
        let question = proposer.ask(proposal_prompt);
        match cx.call(&question).report().await {
            Ok(report) => {
                let model = report
                    .record
                    .attempts
                    .last()
                    .and_then(|attempt| attempt.model.as_deref());
                trial.charge(report.total, report.replayed(), model);
                Ok(proposed(&report.value))
            }
            Err(error) if is_fatal(error.category()) || is_outage(error.category()) => Err(error),
            Err(error) => {
                trial.charge(error.usage(), Usage::default(), None);
                Ok(None)
            }
        }
    }
}

fn sum(cases: &[EvaluatedCase]) -> f64 {
    cases.iter().map(|case| case.score).sum()
}

fn pick<N>(pool: &[Candidate<N>], random: &mut Random) -> usize {
    let scores: Vec<Vec<f64>> = pool
        .iter()
        .map(|candidate| {
            let cases = candidate.validation.cases();
            cases.iter().map(|case| case.score).collect()
        })
        .collect();
    pareto::pick(
        &scores.iter().map(Vec::as_slice).collect::<Vec<_>>(),
        random,
    )
}

/// All cases in a random order, then all in another one.
struct Minibatches {
    order: Vec<usize>,
    at: usize,
    size: usize,
}

impl Minibatches {
    fn new(cases: usize, size: usize) -> Self {
        Minibatches {
            order: (0..cases).collect(),
            at: cases,
            size: size.min(cases),
        }
    }

    fn next(&mut self, random: &mut Random) -> Vec<usize> {
        if self.at + self.size > self.order.len() {
            random.shuffle(&mut self.order);
            self.at = 0;
        }
        self.at += self.size;
        self.order[self.at - self.size..self.at].to_vec()
    }
}
