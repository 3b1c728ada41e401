//! An optimisation as one call, with one limit, one record and one journal for all of it.

use std::fmt;
use std::future::IntoFuture;
use std::sync::Mutex;

use llmnode_runtime::ext::RunRecorder;
use llmnode_runtime::internal::CxInternals as _;
use llmnode_runtime::private::LlmNode;
use llmnode_runtime::{BoxError, BoxFuture, Cx, Exec, Limits, Node, NodeError, NodeFacts, Run};
use serde::Serialize;

use super::bootstrap::Bootstrap;
use super::checks::check;
use super::optimiser::Optimiser;
use super::outcome::Optimised;
use super::progress::OptimiseProgress;
use super::reflect::Reflect;
use super::trial::{Account, ProgressFn, Trial};
use crate::program::Program;
use crate::signature::Smart;
use llmnode_eval::{Dataset, Metric};

macro_rules! common {
    ($optimiser:ident) => {
        /// Sets the seed of the random choices. Default 0.
        #[must_use]
        pub fn seed(mut self, seed: u64) -> Self {
            self.seed = seed;
            self
        }

        /// Sets what the whole optimisation may spend; `requests` is required. The limits of the run also apply.
        #[must_use]
        pub fn limits(mut self, limits: Limits) -> Self {
            self.limits = limits;
            self
        }

        /// Makes a program better on the training cases, and judges it on the validation cases. It starts when it is awaited.
        pub fn optimise<'r, S, N, E, M>(
            self,
            run: &'r Run<S>,
            start: &Program<N>,
            train: &'r Dataset<N, E>,
            validation: &'r Dataset<N, E>,
            metric: M,
        ) -> Optimise<'r, S, N, E, M>
        where
            N: Smart + LlmNode<S> + Exec<S, Output: Serialize>,
            M: Metric<N, E, S>,
        {
            Optimise::new(
                Optimiser::$optimiser(self),
                run,
                start.clone(),
                [train, validation],
                metric,
            )
        }
    };
}

impl Bootstrap {
    common!(Bootstrap);
}

impl Reflect {
    common!(Reflect);
}

/// An optimisation that starts when it is awaited. [`Bootstrap::optimise`] and [`Reflect::optimise`] create it.
///
/// # Errors
/// Before the first request, a `config_error`: no limit of requests, a limit too low for three proposals (the message has the
/// figure), an empty set, or training and validation cases with the same inputs. Later, the errors of [`Run::call`] for a run or a node
/// that is set up wrongly, and an outage: cases without a score would make candidates equal. Started again with the same journal, it
/// goes on where it stopped. A limit that is reached after the start was judged is not an error: what was found and judged until then
/// counts.
#[must_use = "an optimisation does nothing until it is awaited"]
pub struct Optimise<'r, S, N, E, M> {
    optimiser: Optimiser,
    run: &'r Run<S>,
    start: Program<N>,
    sets: [&'r Dataset<N, E>; 2],
    metric: M,
    concurrency: usize,
    report_progress: Option<ProgressFn<'r>>,
    recorder: Option<&'r dyn RunRecorder>,
    #[cfg(feature = "journal")]
    journal: Option<Box<dyn llmnode_flow::journal::Journal>>,
}

impl<'r, S, N, E, M> Optimise<'r, S, N, E, M> {
    fn new(
        optimiser: Optimiser,
        run: &'r Run<S>,
        start: Program<N>,
        sets: [&'r Dataset<N, E>; 2],
        metric: M,
    ) -> Self {
        Optimise {
            optimiser,
            run,
            start,
            sets,
            metric,
            concurrency: 8,
            report_progress: None,
            recorder: None,
            #[cfg(feature = "journal")]
            journal: None,
        }
    }

    /// Sets how many cases run at once. Default 8; 0 counts as 1. The result does not depend on it.
    pub fn concurrency(mut self, cases: usize) -> Self {
        self.concurrency = cases;
        self
    }

    /// Records all calls of the optimisation: `Recording` of the feature `page` shows them as a page.
    pub fn record(mut self, recording: &'r dyn RunRecorder) -> Self {
        self.recorder = Some(recording);
        self
    }

    /// Calls this function as the optimisation progresses, for a progress bar.
    pub fn on_progress(
        mut self,
        report_progress: impl FnMut(&OptimiseProgress) + Send + 'r,
    ) -> Self {
        self.report_progress = Some(Box::new(report_progress));
        self
    }

    /// Keeps each accepted answer in a journal. If it is started again with the same settings, seed and cases, it goes the same
    /// way, and asks only for missing answers. An answer from the journal counts as a request, so it ends where it would have ended.
    /// The journal holds the answers unencrypted.
    #[cfg(feature = "journal")]
    pub fn resume(mut self, journal: impl llmnode_flow::journal::Journal + 'static) -> Self {
        self.journal = Some(Box::new(journal));
        self
    }
}

impl<'r, S, N, E, M> IntoFuture for Optimise<'r, S, N, E, M>
where
    S: Send + Sync,
    N: Smart + LlmNode<S> + Exec<S, Output: Serialize>,
    E: Serialize + Send + Sync,
    M: Metric<N, E, S> + 'r,
{
    type Output = Result<Optimised<N>, NodeError>;
    type IntoFuture = BoxFuture<'r, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let limits = self.optimiser.limits();
            let limit = check(&self.optimiser, self.sets, limits)?;
            let [train, validation] = self.sets;
            let trial = Trial {
                start: &self.start,
                train,
                validation,
                metric: &self.metric,
                concurrency: self.concurrency,
                limit,
                account: Mutex::new(Account::default()),
                report_progress: Mutex::new(self.report_progress),
            };
            let node = OptimiseNode {
                optimiser: &self.optimiser,
                trial,
            };
            #[cfg(feature = "journal")]
            if let Some(journal) = self.journal {
                // A journal belongs to a map: here one with a single call.
                let mut map = self.run.map([&node]).limits(limits);
                if let Some(recorder) = self.recorder {
                    map = map.record(recorder);
                }
                let map = llmnode_flow::journal::MapExt::resume(map, journal);
                return map.await.pop().unwrap_or_else(|| {
                    Err(NodeError::new(
                        llmnode_runtime::Category::Aborted,
                        "the optimisation gave no result",
                    ))
                });
            }
            let mut call = self.run.call(&node).limits(limits);
            if let Some(recorder) = self.recorder {
                call = call.record(recorder);
            }
            call.await
        })
    }
}

struct OptimiseNode<'a, N, E, M> {
    optimiser: &'a Optimiser,
    trial: Trial<'a, N, E, M>,
}

impl<N: Smart, E, M> Node for OptimiseNode<'_, N, E, M> {
    type Output = Optimised<N>;
    const NAME: &'static str = "optimise";
    const FACTS: NodeFacts = NodeFacts::new().retries_itself(true);
}

#[diagnostic::do_not_recommend]
impl<S, N, E, M> Exec<S> for OptimiseNode<'_, N, E, M>
where
    S: ?Sized + Sync,
    N: Smart + LlmNode<S> + Exec<S, Output: Serialize>,
    E: Serialize + Send + Sync,
    M: Metric<N, E, S>,
{
    // The nodes that it calls retry by their own settings.
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<Optimised<N>, BoxError> {
        // A second search in this process would get no answer from the journal, and pay for each anew.
        cx.begin_what_happens_once();
        let optimised = match self.optimiser {
            Optimiser::Bootstrap(bootstrap) => bootstrap.run(&self.trial, cx).await,
            Optimiser::Reflect(reflect) => reflect.run(&self.trial, cx).await,
        };
        Ok(optimised?)
    }
}

impl<S, N: Smart, E, M> fmt::Debug for Optimise<'_, S, N, E, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sets = self.sets.map(Dataset::len);
        f.debug_struct("Optimise")
            .field("node", &N::NAME)
            .field("sets", &sets)
            .finish_non_exhaustive()
    }
}
