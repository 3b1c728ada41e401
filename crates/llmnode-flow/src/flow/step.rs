//! A node as a step. [`Step`] is the whole of it: how the node is made from the
//! state, and what it writes back. [`PreparedStep`] is what a flow runs: the node
//! is there, however it was made, so nobody who cannot make it from the state has
//! to say how.

use std::future::Future;

use llmnode_runtime::{BoxError, Cx, Exec};

use super::outline::Outline;

/// A node that is a step of flows: it prepares itself from the state, executes, and writes back.
///
/// `#[llm_node]` implements it for nodes with `store`, `post`, `route`, `action`,
/// `prep` or a field with `#[prep(..)]`. A node without a model implements it by
/// hand, all in one impl below `#[llmnode::step]`. `prep` and `post` are never
/// retried.
///
/// ```
/// # mod llmnode { pub use llmnode_runtime::*; pub mod flow { pub use llmnode_flow::flow::*; } }
/// use llmnode::flow::{RunExt, Step};
/// use llmnode::{BoxError, Cx, Run, ScriptedModel};
///
/// struct World { text: String }
/// struct Shout { text: String }
///
/// // #[llmnode::step]: it writes `Node` and `Exec`
/// # impl llmnode::Node for Shout { type Output = String; const NAME: &'static str = "shout"; }
/// # impl llmnode::Exec<World> for Shout {
/// #     async fn exec(&self, _: &Cx<'_, World>) -> Result<String, BoxError> { Ok(self.text.to_uppercase()) }
/// # }
/// impl Step<World> for Shout {
///     type Output = String;
///     type Action = ();
///
///     async fn prep(world: &World) -> Result<Self, BoxError> {
///         Ok(Shout { text: world.text.clone() })
///     }
///
///     async fn exec(&self, _: &Cx<'_, World>) -> Result<String, BoxError> {
///         Ok(self.text.to_uppercase())
///     }
///
///     fn post(self, output: String, world: &mut World) -> Result<(), BoxError> {
///         world.text = output;
///         Ok(())
///     }
/// }
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let mut run = Run::new(ScriptedModel::new()).with_state(World { text: "hello".into() });
/// run.step::<Shout>().await?;
/// assert_eq!(run.state().text, "HELLO");
/// # Ok::<(), llmnode_runtime::NodeError>(()) }).unwrap();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a step of flows over `{S}`",
    label = "not a step of this state's flows",
    note = "a node with `state = T` and `store = field`, `post = path`, `route = path` or a field \
            with `#[prep(..)]` is one; others have an `impl Step<T>` below `#[llmnode::step]`",
    note = "a node with `batch = path` stands there as `Batch<Node> as Node`; a node or a flow \
            over a part of the state is written `Inner in state.part`"
)]
pub trait Step<S>: Exec<S, Output = <Self as Step<S>>::Output> + Sized {
    /// The output of the node: that of its [`Node`](llmnode_runtime::Node).
    /// `#[llmnode::step]` writes it to both traits.
    // Members, so that an `impl` without `#[llmnode::step]` is one error and not
    // one for each of them.
    type Output: Send + 'static;

    /// What the step decides; `()` if it decides nothing.
    type Action: Send + 'static;

    /// Makes the node from the state.
    ///
    /// # Errors
    /// Any error ends the flow as a [`prep_error`](llmnode_runtime::Category::PrepError). A
    /// [`NodeError`](llmnode_runtime::NodeError) keeps its category.
    fn prep(state: &S) -> impl Future<Output = Result<Self, BoxError>> + Send;

    /// Calls [`Exec::exec`]. `#[llmnode::step]` moves the `exec` that you write to
    /// that trait; without it, write `exec` in an impl of that trait, since flows
    /// call no other.
    ///
    /// # Errors
    /// Any error, as in [`Exec::exec`].
    fn exec(
        &self,
        cx: &Cx<'_, S>,
    ) -> impl Future<Output = Result<<Self as Step<S>>::Output, BoxError>> + Send {
        Exec::exec(self, cx)
    }

    /// Writes the output back, and decides. It is not async, so that a dropped flow
    /// leaves no half step. What it wrote before it fails or panics stays: check
    /// first, then write.
    ///
    /// # Errors
    /// Any error ends the flow as [`aborted`](llmnode_runtime::Category::Aborted). A
    /// [`NodeError`](llmnode_runtime::NodeError) keeps its category.
    fn post(
        self,
        output: <Self as Step<S>>::Output,
        state: &mut S,
    ) -> Result<Self::Action, BoxError>;

    /// How pictures show it, if it is more than one node.
    #[doc(hidden)]
    fn step_outline() -> Outline {
        Outline::Node(Self::NAME.into())
    }
}

/// A node that runs as a step and writes back, however it was made: a [`Step`]
/// without its `prep`. Every `Step` is one.
///
/// Implement it in place of `Step` for a node that the state alone does not make,
/// such as one that was read from a file.
/// [`FlowBuilder::made`](super::FlowBuilder::made) takes the function that makes it.
///
/// ```
/// # mod llmnode { pub use llmnode_runtime::*; pub mod flow { pub use llmnode_flow::flow::*; } }
/// use llmnode::flow::{EdgeTarget, Flow, PreparedStep, RunExt};
/// use llmnode::{BoxError, Cx, Exec, Node, Run, ScriptedModel};
///
/// /// Adds a number that stands in a file.
/// struct Add(i64);
/// impl Node for Add {
///     type Output = i64;
///     const NAME: &'static str = "add";
/// }
/// impl Exec<i64> for Add {
///     async fn exec(&self, cx: &Cx<'_, i64>) -> Result<i64, BoxError> {
///         Ok(cx.state() + self.0)
///     }
/// }
/// impl PreparedStep<i64> for Add {
///     type Action = ();
///
///     fn post(self, output: i64, state: &mut i64) -> Result<(), BoxError> {
///         *state = output;
///         Ok(())
///     }
/// }
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let number = 5; // read from the file
/// let flow = Flow::builder("sums")
///     .made("five", "add", ["default"], move |_: &i64| Ok(Add(number)))
///     .then("five", EdgeTarget::End)
///     .build()?;
/// let mut run = Run::new(ScriptedModel::new()).with_state(1);
/// run.flow(&flow).await?;
/// assert_eq!(*run.state(), 6);
/// # Ok::<(), llmnode_runtime::NodeError>(()) }).unwrap();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be made into a step of flows over `{S}`",
    label = "neither a step of this state's flows nor a prepared one",
    note = "a node that the state makes is a `Step`; one that is made otherwise has an `impl \
            PreparedStep<{S}>`, with its `post`"
)]
pub trait PreparedStep<S>: Exec<S, Output: Send + 'static> + Sized {
    /// What the step decides; `()` if it decides nothing.
    type Action: Send + 'static;

    /// Writes the output back, and decides. As [`Step::post`] it is not async, so
    /// that a dropped flow leaves no half step.
    ///
    /// # Errors
    /// Any error, as in [`Step::post`].
    fn post(self, output: Self::Output, state: &mut S) -> Result<Self::Action, BoxError>;
}

#[diagnostic::do_not_recommend]
impl<S, N: Step<S>> PreparedStep<S> for N {
    type Action = <N as Step<S>>::Action;

    fn post(
        self,
        output: <N as Step<S>>::Output,
        state: &mut S,
    ) -> Result<<N as Step<S>>::Action, BoxError> {
        Step::post(self, output, state)
    }
}
