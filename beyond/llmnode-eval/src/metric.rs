//! Metrics score answers.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;

use llmnode_runtime::{BoxError, Cx, Exec, Node};

use super::score::Score;

/// One answer, with its input and the expected output.
pub struct ScoredCase<'a, N: Node, E> {
    /// The node that was called.
    pub input: &'a N,
    /// The expected output.
    pub expected: &'a E,
    /// The node's output.
    pub output: &'a N::Output,
}

impl<N: Node, E> Clone for ScoredCase<'_, N, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<N: Node, E> Copy for ScoredCase<'_, N, E> {}

impl<N: Node, E> fmt::Debug for ScoredCase<'_, N, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScoredCase")
            .field("node", &N::NAME)
            .finish_non_exhaustive()
    }
}

/// Scores answers of the node `N`, where the data expect an `E`, in runs with the state `S`.
///
/// | metric | score |
/// |---|---|
/// | [`exact()`](super::exact) | 1 if the output is what is expected |
/// | [`contains()`](super::contains) | 1 if the output's text contains the expected text |
/// | [`f1()`](super::f1) | how far the words of both agree |
/// | [`judge::<J>()`](judge) | what another node returns |
/// | `\|input: &N, expected: &E, output: &Output\| ..` | a closure that returns a [`Score`], a `bool`, an `f64`, or one of these and the feedback |
///
/// A closure names the types of its arguments. A metric that has to wait implements this trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no metric for `{N}` where the data expect `{E}`",
    label = "not a metric for this node and data",
    note = "a metric is `exact()`, `contains()`, `f1()`, `judge::<Node>()`, or a closure \
            `|input: &{N}, expected: &{E}, output: &Output|` that returns a `Score`, a `bool`, an `f64`, or one of these and a text"
)]
pub trait Metric<N: Node, E, S: ?Sized>: Send + Sync {
    /// Scores one answer. Through the context it may call other nodes: their requests are part of the case.
    ///
    /// # Errors
    /// Any error. The case then counts as failed.
    fn score(
        &self,
        judged: ScoredCase<'_, N, E>,
        cx: &Cx<'_, S>,
    ) -> impl Future<Output = Result<Score, BoxError>> + Send;

    /// Returns the name that tells this metric from others in a baseline. A closure has none, and is called `closure`:
    /// [`named`](super::Evaluate::named) gives it one.
    fn name(&self) -> String {
        "closure".to_owned()
    }
}

#[diagnostic::do_not_recommend]
impl<N, E, S, F, R> Metric<N, E, S> for F
where
    N: Node,
    S: ?Sized,
    F: Fn(&N, &E, &N::Output) -> R + Send + Sync,
    R: Into<Score>,
{
    fn score(
        &self,
        judged: ScoredCase<'_, N, E>,
        _: &Cx<'_, S>,
    ) -> impl Future<Output = Result<Score, BoxError>> + Send {
        std::future::ready(Ok(self(judged.input, judged.expected, judged.output).into()))
    }
}

/// Lets another node score the answers. It is created from the answer to judge, and its output gives the score.
///
/// ```
/// use llmnode::evals::{Dataset, ScoredCase, Score, evaluate, judge};
/// # use llmnode::{BoxError, Cx, Exec, Node, NodeError, Run, ScriptedModel};
/// # struct Summarize { text: String }
/// # impl Node for Summarize { type Output = String; const NAME: &'static str = "summarize"; }
/// # impl<S: ?Sized + Sync> Exec<S> for Summarize {
/// #     async fn exec(&self, _: &Cx<'_, S>) -> Result<String, BoxError> { Ok(self.text[..3].to_owned()) }
/// # }
/// # struct Grade { summary: String, wanted: String }
/// # impl Node for Grade { type Output = Verdict; const NAME: &'static str = "grade"; }
/// # impl<S: ?Sized + Sync> Exec<S> for Grade {
/// #     async fn exec(&self, _: &Cx<'_, S>) -> Result<Verdict, BoxError> {
/// #         Ok(Verdict { good: self.summary == self.wanted, why: String::new() })
/// #     }
/// # }
///
/// // #[llm_node(prompt = "..", output = Verdict)] struct Grade { summary: String, wanted: String }
/// impl From<ScoredCase<'_, Summarize, String>> for Grade {
///     fn from(judged: ScoredCase<'_, Summarize, String>) -> Self {
///         Grade { summary: judged.output.clone(), wanted: judged.expected.clone() }
///     }
/// }
///
/// struct Verdict { good: bool, why: String }
/// impl From<Verdict> for Score {
///     fn from(verdict: Verdict) -> Self {
///         Score::from((verdict.good, verdict.why))
///     }
/// }
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// # let run = Run::new(ScriptedModel::new());
/// let data = Dataset::new([(Summarize { text: "sea and sky".into() }, "sea".to_owned())]);
/// let report = evaluate(&run, &data, judge::<Grade>()).await?;
/// assert_eq!(report.mean(), 1.0);
/// # Ok::<(), NodeError>(()) }).unwrap();
/// ```
pub fn judge<J>() -> ByNode<J> {
    ByNode(PhantomData)
}

/// A metric that asks a node. [`judge`] creates it.
pub struct ByNode<J>(PhantomData<fn() -> J>);

impl<J: Node> fmt::Debug for ByNode<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "judge::<{}>()", J::NAME)
    }
}

impl<N, E, S, J> Metric<N, E, S> for ByNode<J>
where
    N: Node + Sync,
    E: Sync,
    S: ?Sized + Sync,
    J: for<'a> From<ScoredCase<'a, N, E>> + Exec<S> + Send,
    J::Output: Into<Score>,
{
    async fn score(&self, judged: ScoredCase<'_, N, E>, cx: &Cx<'_, S>) -> Result<Score, BoxError> {
        let judge = J::from(judged);
        Ok(cx.call(&judge).await?.into())
    }

    fn name(&self) -> String {
        format!("judge::<{}>", J::NAME)
    }
}
