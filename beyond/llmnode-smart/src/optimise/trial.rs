//! The data that candidates are judged on, and what that has cost so far.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use llmnode_model::internal::catch_panic;
use llmnode_runtime::internal::CxInternals as _;
use llmnode_runtime::{Cx, Exec, NodeError, Settings, Usage};
use serde::Serialize;

use super::outcome::{OptimiseReport, Optimised};
use super::progress::OptimiseProgress;
use crate::program::{Program, Provenance, ProvenanceScores};
use crate::signature::Smart;
use llmnode_eval::ext::{ScoredCases, cases, scored};
use llmnode_eval::{Dataset, EvaluatedCase, Evaluation, Metric};

pub(super) type ProgressFn<'a> = Box<dyn FnMut(&OptimiseProgress) + Send + 'a>;

pub(super) struct Trial<'a, N, E, M> {
    pub(super) start: &'a Program<N>,
    pub(super) train: &'a Dataset<N, E>,
    pub(super) validation: &'a Dataset<N, E>,
    pub(super) metric: &'a M,
    pub(super) concurrency: usize,
    pub(super) limit: u64,
    pub(super) account: Mutex<Account>,
    pub(super) report_progress: Mutex<Option<ProgressFn<'a>>>,
}

#[derive(Default)]
pub(super) struct Account {
    /// Includes requests that answers from a journal replace.
    spent: u64,
    usage: Usage,
    replayed: Usage,
    /// Cases that were run, with their part of `spent`.
    cases: u64,
    spent_on_cases: u64,
    models: BTreeSet<String>,
    proposals: usize,
    best: Option<f64>,
}

pub(super) struct Candidate<N> {
    pub(super) program: Program<N>,
    pub(super) validation: Evaluation,
    pub(super) train: f64,
}

pub(super) struct OptimiserId {
    pub(super) name: &'static str,
    pub(super) seed: u64,
}

impl<N: Smart, E: Sync, M> Trial<'_, N, E, M> {
    fn account(&self) -> MutexGuard<'_, Account> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn left(&self) -> u64 {
        self.limit.saturating_sub(self.account().spent)
    }

    pub(super) fn charge(&self, usage: Usage, replayed: Usage, model: Option<&str>) {
        let mut account = self.account();
        account.usage += usage;
        account.replayed += replayed;
        // At least one, so that a node without requests ends the search, too.
        account.spent += (usage.requests + replayed.requests).max(1);
        account.models.extend(model.map(str::to_owned));
    }

    /// A judge and corrections take more than one.
    pub(super) fn per_case(&self) -> u64 {
        let account = self.account();
        account.spent_on_cases.div_ceil(account.cases.max(1)).max(1)
    }

    pub(super) fn proposed(&self) {
        self.account().proposals += 1;
    }

    /// An outage ends it, as what ends an evaluation does: cases without a score make candidates equal that are not.
    pub(super) async fn run<S>(
        &self,
        cx: &Cx<'_, S>,
        program: &Program<N>,
        on: Vec<&(N, E)>,
    ) -> Result<Vec<EvaluatedCase>, NodeError>
    where
        S: ?Sized + Sync,
        N: Exec<S, Output: Serialize>,
        M: Metric<N, E, S>,
    {
        let core = cx.core_with_node_data::<N>(Arc::new(program.clone()));
        let cx = cx.with_core(&core);
        let settings = Settings::new();
        let nodes: Vec<_> = cases(on.into_iter(), self.metric, &settings).collect();
        let ScoredCases {
            cases,
            ended,
            outage,
        } = scored(cx.map(nodes).concurrency(self.concurrency)).await;
        let before = self.account().spent;
        cases
            .iter()
            .for_each(|case| self.charge(case.usage, case.replayed_usage, case.model.as_deref()));
        {
            let mut account = self.account();
            account.cases += cases.len() as u64;
            account.spent_on_cases += account.spent - before;
        }
        self.report_progress();
        ended.or(outage).map_or(Ok(cases), Err)
    }

    pub(super) async fn validate<S>(
        &self,
        cx: &Cx<'_, S>,
        program: &Program<N>,
    ) -> Result<Evaluation, NodeError>
    where
        S: ?Sized + Sync,
        N: Exec<S, Output: Serialize>,
        M: Metric<N, E, S>,
    {
        let cases = self
            .run(cx, program, self.validation.rows().iter().collect())
            .await?;
        let evaluation = Evaluation::of_cases(
            N::NAME,
            self.validation.fingerprint().map(str::to_owned),
            cases,
        );
        let mean = evaluation.mean();
        {
            let mut account = self.account();
            account.best = Some(account.best.map_or(mean, |best| best.max(mean)));
        }
        self.report_progress();
        Ok(evaluation)
    }

    pub(super) fn outcome(
        &self,
        start: Evaluation,
        best: Option<Candidate<N>>,
        by: &OptimiserId,
    ) -> Optimised<N> {
        let account = self.account();
        let proposals = account.proposals;
        let usage = account.usage;
        let mut whole = usage;
        whole += account.replayed;
        let Some(Candidate {
            program,
            validation,
            train,
        }) = best
        else {
            return Optimised::Unchanged {
                report: OptimiseReport {
                    start,
                    best: None,
                    proposals,
                    usage,
                },
            };
        };
        let val = validation.mean();
        let improved = val > start.mean();
        let report = OptimiseReport {
            start,
            best: Some(validation),
            proposals,
            usage,
        };
        if !improved {
            return Optimised::Unchanged { report };
        }
        let provenance = Provenance {
            optimiser: by.name.to_owned(),
            seed: by.seed,
            models: account.models.iter().cloned().collect(),
            requests: account.spent,
            tokens: whole.total.total(),
            score: Some(ProvenanceScores {
                train,
                val,
                n: self.validation.len(),
            }),
        };
        Optimised::Improved {
            program: program.with_provenance(provenance),
            report,
        }
    }

    pub(super) fn report_progress(&self) {
        let mut report_progress = self
            .report_progress
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let Some(report_progress) = report_progress.as_mut() else {
            return;
        };
        let Account {
            spent: requests,
            proposals,
            best,
            ..
        } = *self.account();
        let so_far = OptimiseProgress {
            requests,
            limit: self.limit,
            proposals,
            best,
        };
        if let Err(panic) = catch_panic(|| report_progress(&so_far)) {
            tracing::error!(target: "llmnode::hook", "a function that is told of progress panicked: {panic}");
        }
    }
}

/// 0 without scores.
pub(super) fn mean(scores: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = scores.len().max(1);
    scores.sum::<f64>() / n as f64
}
