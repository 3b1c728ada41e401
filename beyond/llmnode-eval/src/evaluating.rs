//! Calls a node for each case of a dataset, and scores its answers.

use std::borrow::Cow;
use std::fmt;
use std::future::IntoFuture;
use std::time::Duration;

use llmnode_runtime::ext::RunRecorder;
use llmnode_runtime::internal::OnProgress;
use llmnode_runtime::{
    BatchProgress, BoxFuture, Category, Exec, Limits, Map, Node, NodeError, Run, Settings,
};
use serde::Serialize;

use super::case::{Case, Scored, is_fatal, is_outage};
use super::dataset::{Dataset, Mark};
use super::evaluated_case::EvaluatedCase;
use super::metric::Metric;
use super::report::{Evaluation, Measured};

/// Calls the node of each case, and scores its answer. Eight cases at a time by default.
///
/// If the call or the metric of a case fails, the case scores 0 and is counted as failed. An outage says nothing about the answer:
/// a case that fails by the transport, a key, a quota or a model that is not found is [left out](Evaluation::left_out). Other errors
/// end the evaluation: a limit, a wrong setting, a journal that cannot be written.
///
/// ```
/// use llmnode::evals::{Dataset, evaluate};
/// # use llmnode::{BoxError, Cx, Exec, Node, NodeError, Run, ScriptedModel};
/// # struct Double(u64);
/// # impl Node for Double { type Output = u64; const NAME: &'static str = "double"; }
/// # impl<S: ?Sized + Sync> Exec<S> for Double {
/// #     async fn exec(&self, _: &Cx<'_, S>) -> Result<u64, BoxError> { Ok(self.0 * 2) }
/// # }
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// # let run = Run::new(ScriptedModel::new());
/// let data = Dataset::new([(Double(1), 2), (Double(2), 4), (Double(3), 5)]);
/// let near = |_: &Double, expected: &u64, output: &u64| match expected.abs_diff(*output) {
///     0 => (1.0, String::new()),
///     far => (1.0 / (1.0 + far as f64), format!("too far by {far}")),
/// };
/// let report = evaluate(&run, &data, near).concurrency(2).await?;
/// assert_eq!(report.cases()[2].feedback, "too far by 1");
/// println!("{report}"); // double: 0.833 (95 %: 0.116 to 1.000), 3 cases ..
/// # Ok::<(), NodeError>(()) }).unwrap();
/// ```
pub fn evaluate<'r, S, N, E, M>(run: &'r Run<S>, data: &'r Dataset<N, E>, metric: M) -> Evaluate<'r>
where
    S: Send + Sync,
    N: Exec<S, Output: Serialize> + Send + Sync,
    E: Send + Sync,
    M: Metric<N, E, S> + 'r,
{
    Evaluate {
        node: N::NAME,
        start: Box::new(move |options| Box::pin(evaluated(run, data, metric, options))),
        options: EvaluateOptions::default(),
    }
}

type Start<'r> =
    dyn FnOnce(EvaluateOptions<'r>) -> BoxFuture<'r, Result<Evaluation, NodeError>> + Send + 'r;

/// An evaluation that starts when it is awaited. [`evaluate`] creates it.
///
/// # Errors
/// A [`NodeError`], if a limit is reached, a setting is wrong, there is no case, or an outage left out every case.
#[must_use = "an evaluation does nothing until it is awaited"]
pub struct Evaluate<'r> {
    node: &'static str,
    start: Box<Start<'r>>,
    options: EvaluateOptions<'r>,
}

#[derive(Default)]
struct EvaluateOptions<'r> {
    concurrency: Option<usize>,
    limits: Limits,
    settings: Settings,
    repeats: Option<u32>,
    give_up_after: Option<Duration>,
    metric: Option<Cow<'static, str>>,
    on_progress: Option<OnProgress<'r>>,
    recorder: Option<&'r dyn RunRecorder>,
    #[cfg(feature = "journal")]
    journal: Option<Box<dyn llmnode_flow::journal::Journal>>,
    #[cfg(feature = "journal")]
    batch_api: Option<llmnode_runtime::BatchApi>,
}

impl<'r> Evaluate<'r> {
    /// Sets how many cases run at once. Default 8; 0 counts as 1.
    pub fn concurrency(mut self, cases: usize) -> Self {
        self.options.concurrency = Some(cases);
        self
    }

    /// Sets what all cases together may spend, including the requests of the metric.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.options.limits = limits;
        self
    }

    /// Sets how often each case is asked. Default 1; 0 counts as 1. The score of a case is the mean of its repeats: a model that
    /// answers differently each time is measured more exactly.
    pub fn repeats(mut self, times: u32) -> Self {
        self.options.repeats = Some(times);
        self
    }

    /// Sets how long it waits for a first answer in an outage, as [`Map::give_up_after`] does. Default 15 minutes; a test that
    /// runs in CI mostly wants less. Cases without an answer are [left out](Evaluation::left_out), and if there are no others,
    /// the last error of the provider is that of the evaluation.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use llmnode::evals::{Dataset, Evaluation, evaluate, exact};
    /// use llmnode::prelude::*;
    ///
    /// #[llm_node(prompt = "Which team reads this letter? {letter}")]
    /// struct Sort {
    ///     letter: String,
    /// }
    ///
    /// async fn measured(run: &Run, data: &Dataset<Sort, String>) -> Result<Evaluation, NodeError> {
    ///     evaluate(run, data, exact()).give_up_after(Duration::from_secs(60)).await
    /// }
    /// # fn main() {}
    /// ```
    pub fn give_up_after(mut self, time: Duration) -> Self {
        self.options.give_up_after = Some(time);
        self
    }

    /// Names the metric, so that [`against`](Evaluation::against) refuses a baseline that another one scored: a closure has no name
    /// of its own.
    pub fn named(mut self, metric: impl Into<Cow<'static, str>>) -> Self {
        self.options.metric = Some(metric.into());
        self
    }

    /// Sets the model that the node asks: a name registered on the run, or else the provider's id.
    pub fn model(mut self, model: impl Into<Cow<'static, str>>) -> Self {
        self.options.settings = self.options.settings.model(model);
        self
    }

    /// Sets all settings of the node's calls. The metric's calls have their own.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.options.settings = settings;
        self
    }

    /// Records all calls of the evaluation: `Recording` of the feature `page` shows them as a page.
    pub fn record(mut self, recording: &'r dyn RunRecorder) -> Self {
        self.options.recorder = Some(recording);
        self
    }

    /// Calls this function as each case ends, for a progress bar.
    pub fn on_progress(mut self, tell: impl FnMut(&BatchProgress) + Send + 'r) -> Self {
        self.options.on_progress = Some(Box::new(tell));
        self
    }

    /// Keeps each accepted answer in a journal, including those of the metric's nodes. If it is started again with the same cases, the
    /// evaluation asks only for the missing answers: see [`MapExt::resume`](llmnode_flow::journal::MapExt::resume). The journal
    /// holds the answers unencrypted.
    #[cfg(feature = "journal")]
    pub fn resume(mut self, journal: impl llmnode_flow::journal::Journal + 'static) -> Self {
        self.options.journal = Some(Box::new(journal));
        self
    }

    /// Asks by the batch API of the model's provider, for about half the price and within a day: see
    /// [`Map::batch_api`](llmnode_runtime::Map::batch_api). Needs [`resume`](Self::resume).
    #[cfg(feature = "journal")]
    pub fn batch_api(mut self, api: llmnode_runtime::BatchApi) -> Self {
        self.options.batch_api = Some(api);
        self
    }
}

impl<'r> IntoFuture for Evaluate<'r> {
    type Output = Result<Evaluation, NodeError>;
    type IntoFuture = BoxFuture<'r, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        (self.start)(self.options)
    }
}

async fn evaluated<S, N, E, M>(
    run: &Run<S>,
    data: &Dataset<N, E>,
    metric: M,
    options: EvaluateOptions<'_>,
) -> Result<Evaluation, NodeError>
where
    S: Send + Sync,
    N: Exec<S, Output: Serialize> + Send + Sync,
    E: Send + Sync,
    M: Metric<N, E, S>,
{
    if data.is_empty() {
        let message = "there is no case to evaluate; add one to the dataset";
        return Err(NodeError::new(Category::ConfigError, message));
    }
    let settings = &options.settings;
    let measured = Measured::on_this_thread(options.repeats.unwrap_or(1).max(1));
    // Round by round: with more repeats, a journal still has the answers of the rounds before.
    let executions = data.len().saturating_mul(measured.repeats as usize);
    let rounds = (0..executions).map(|at| &data.cases[at % data.len()]);
    let mut map = run
        .map(cases(rounds, &metric, settings))
        .limits(options.limits);
    if let Some(concurrency) = options.concurrency {
        map = map.concurrency(concurrency);
    }
    if let Some(time) = options.give_up_after {
        map = map.give_up_after(time);
    }
    if let Some(recorder) = options.recorder {
        map = map.record(recorder);
    }
    if let Some(tell) = options.on_progress {
        map = map.on_progress(tell);
    }
    #[cfg(feature = "journal")]
    if let Some(journal) = options.journal {
        map = llmnode_flow::journal::MapExt::resume(map, journal);
    }
    #[cfg(feature = "journal")]
    if let Some(api) = options.batch_api {
        map = map.batch_api(api);
    }
    let ScoredCases {
        cases,
        ended,
        outage,
    } = scored(map).await;
    if let Some(error) = ended {
        return Err(error);
    }
    if let Some(error) = outage.filter(|_| cases.iter().all(EvaluatedCase::is_left_out)) {
        return Err(error);
    }
    let metric = options
        .metric
        .map_or_else(|| metric.name(), Cow::into_owned);
    let cases = by_case(cases, &data.marks);
    Ok(Evaluation::new(N::NAME, data.fingerprint.clone(), cases).measured(metric, measured))
}

/// The repeats of each case as one.
fn by_case(repeats: Vec<EvaluatedCase>, marks: &[Mark]) -> Vec<EvaluatedCase> {
    let mut of_cases: Vec<Vec<EvaluatedCase>> = marks.iter().map(|_| Vec::new()).collect();
    for (at, repeat) in repeats.into_iter().enumerate() {
        of_cases[at % marks.len()].push(repeat);
    }
    let merged = of_cases.into_iter().zip(marks);
    merged
        .filter_map(|(repeats, mark)| EvaluatedCase::of_repeats(repeats, mark))
        .collect()
}

/// Makes a node of each case: it asks the case's node by these settings, and has the metric score the answer.
///
/// They are for `run.map(..)`, so that an optimiser decides how many run at once, and under which limits. [`scored`] awaits the map.
pub fn cases<'a, N, E, M>(
    cases: impl Iterator<Item = &'a (N, E)> + Send,
    metric: &'a M,
    settings: &'a Settings,
) -> impl Iterator<Item = Case<'a, N, E, M>> + Send
where
    N: Node + Sync + 'a,
    E: Sync + 'a,
    M: Sync,
{
    cases.map(move |(input, expected)| Case {
        input,
        expected,
        metric,
        settings,
    })
}

/// What the cases of a map came to, see [`scored`].
pub struct ScoredCases {
    /// In the order of the data.
    pub cases: Vec<EvaluatedCase>,
    /// The first error that is not about a single case.
    pub ended: Option<NodeError>,
    /// The first error that left out a case.
    pub outage: Option<NodeError>,
}

/// Awaits a map of [`cases`]. An error that is not about a single case cancels the others, but a limit lets running calls end.
///
/// It returns no error: what was scored until then is not lost, and `ended` says why it is not all.
pub async fn scored(map: Map<'_, Scored>) -> ScoredCases {
    let mut results = map.report().as_completed();
    let mut cases = Vec::new();
    let mut ended = None;
    let mut outage = None;
    while let Some((index, result)) = results.next().await {
        let error = match result {
            Ok(report) => {
                cases.push((index, EvaluatedCase::scored(report)));
                continue;
            }
            Err(error) => error,
        };
        let category = error.category();
        if !is_fatal(category) {
            cases.push((index, EvaluatedCase::failed(&error)));
            if is_outage(category) {
                outage.get_or_insert(error);
            }
            continue;
        }
        ended.get_or_insert(error);
        if category != Category::LimitExceeded {
            break;
        }
    }
    cases.sort_unstable_by_key(|(index, _)| *index);
    ScoredCases {
        cases: cases.into_iter().map(|(_, case)| case).collect(),
        ended,
        outage,
    }
}

impl fmt::Debug for Evaluate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Evaluate")
            .field("node", &self.node)
            .finish_non_exhaustive()
    }
}
