//! A node that runs with a state.

use std::future::Future;
use std::sync::OnceLock;

use llmnode_model::{BoxError, BoxFuture};

use super::cx::Cx;
use crate::error::NodeError;
use crate::node::Node;
use crate::output::OutputSpec;

/// A node that runs with a state of type `S`. Calls on several threads may read one
/// node and one state, so both are `Sync`; of the state, `N: Exec<S>` says so
/// itself.
///
/// A node without a model implements it by hand, and may call other nodes through
/// the context:
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::{BoxError, Cx, Exec, Node, NodeError, Run, ScriptedModel};
///
/// struct Double(u64);
/// impl Node for Double {
///     type Output = u64;
///     const NAME: &'static str = "double";
/// }
/// impl<S: ?Sized + Sync> Exec<S> for Double {
///     async fn exec(&self, _: &Cx<'_, S>) -> Result<u64, BoxError> {
///         Ok(self.0 * 2)
///     }
/// }
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let run = Run::new(ScriptedModel::new());
/// assert_eq!(run.call(&Double(4)).await?, 8);
/// # Ok::<(), NodeError>(()) }).unwrap();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a node that runs with the state `{S}`",
    label = "not a node of this state",
    note = "`#[llm_node(prompt = \"...\")]` makes a struct a node, and `#[tool] fn search(..)` makes the node `Search {{ .. }}`; a flow is no \
            node: write `run.flow(..)`",
    note = "an `impl Step` or `impl BatchStep` of a node without a model stands below `#[llmnode::step]`",
    note = "the state of the run, `Run::new(model).with_state(state)`, must be of the type that the node names, `state = T`; a node \
            without `state` runs with any"
)]
pub trait Exec<S: ?Sized>:
    Node + Sized + Sync + Reads<S, State = S> + Reads<S, State: Sync>
{
    /// Runs the node once. [`Run::call`](crate::Run::call) calls it, and calls it
    /// again after an error as often as `attempts` says
    /// ([`Settings::attempts`](crate::Settings),
    /// [`Call::attempts`](crate::Call::attempts)); by default, never. A panic or
    /// another error of the group stop ends the call at once. A failed call within
    /// is not repeated: its own settings say how often it was tried.
    ///
    /// # Errors
    /// Any error. It becomes an [`exec_error`](crate::Category::ExecError). A
    /// [`NodeError`] keeps its category, and so does an error whose
    /// [`source`](std::error::Error::source)s lead to the [`NodeError`] of a failed
    /// call. thiserror's `#[error(transparent)]` and [`std::io::Error::other`] hide
    /// theirs.
    fn exec(&self, cx: &Cx<'_, S>) -> impl Future<Output = Result<Self::Output, BoxError>> + Send;

    /// How a node that asks a model runs into the place of its output, without a
    /// future of its own. `exec` is the same as a future, for programs that call
    /// it.
    #[doc(hidden)]
    const ASKS: Asks<Self, S> = None;

    /// Returns a value in place of the output when the last execution of a node
    /// without a model has failed. The ledger marks the call as
    /// [`used_fallback`](crate::CallRecord::used_fallback). The default returns the
    /// error.
    ///
    /// It runs once, after every error but those of the group stop (a panic, an
    /// abort, a limit, ..). A node that asks a model has `fallback = path` instead.
    ///
    /// # Errors
    /// The given error, or another one.
    fn exec_fallback(
        &self,
        cx: &Cx<'_, S>,
        error: NodeError,
    ) -> impl Future<Output = Result<Self::Output, BoxError>> + Send {
        let _ = cx;
        std::future::ready(Err(error.into()))
    }
}

/// Runs a node into the place of its output. `None`: `exec` does.
pub type Asks<N, S> = Option<
    for<'a, 'n> fn(&'a mut CalledNode<'n, N, S>, Cx<'a, S>) -> BoxFuture<'a, Result<(), BoxError>>,
>;

/// A called node with the place of its output. Whoever awaits the call has
/// it in its own future.
pub struct CalledNode<'n, N: Node, S: ?Sized> {
    pub(super) node: &'n N,
    /// Made when the loop first asks for it: a node that asks no model has none.
    pub(super) spec: OnceLock<OutputSpec<N::Output, S>>,
    pub(super) value: Option<N::Output>,
}

impl<'n, N: Node, S: ?Sized> CalledNode<'n, N, S> {
    pub(super) fn new(node: &'n N) -> Self {
        CalledNode {
            node,
            spec: OnceLock::new(),
            value: None,
        }
    }
}

/// A state that is `Sync`, as a fact that follows from `Exec`: the compiler asks
/// for it where a node names its state, and not again in each place that calls the
/// node. Every type implements it.
pub trait Reads<S: ?Sized> {
    /// The state.
    type State: ?Sized;
}

impl<N: ?Sized, S: ?Sized> Reads<S> for N {
    type State = S;
}

#[diagnostic::do_not_recommend]
#[expect(
    clippy::needless_maybe_sized,
    reason = "the impl is for what `Node` is implemented for"
)]
impl<S: ?Sized, N: Exec<S> + ?Sized> Exec<S> for &N {
    fn exec(&self, cx: &Cx<'_, S>) -> impl Future<Output = Result<N::Output, BoxError>> + Send {
        (**self).exec(cx)
    }

    fn exec_fallback(
        &self,
        cx: &Cx<'_, S>,
        error: NodeError,
    ) -> impl Future<Output = Result<N::Output, BoxError>> + Send {
        (**self).exec_fallback(cx, error)
    }
}
