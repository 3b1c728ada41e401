//! A node as a step: how it is made from the state, and what it writes back.

use std::future::Future;

use llmnode_runtime::{BoxError, Cx, Exec};

use super::outline::Outline;

/// A node that is a step of flows: it prepares itself from the state, executes, and writes back.
///
/// `#[llm_node]` implements it for nodes with `store`, `post`, `route`, `action`, `prep` or a field with
/// `#[prep(..)]`. A node without a model implements it by hand, all in one impl below `#[llmnode::step]`. `prep` and
/// `post` are never retried.
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
    note = "a node with `state = T` and `store = field`, `post = path`, `route = path` or a field with `#[prep(..)]` is one; \
            others have an `impl Step<T>` below `#[llmnode::step]`",
    note = "a node with `batch = path` stands there as `Batch<Node> as Node`; a node or a flow over a part of the state is \
            written `Inner in state.part`"
)]
pub trait Step<S>: Exec<S, Output = <Self as Step<S>>::Output> + Sized {
    /// The output of the node: that of its [`Node`](llmnode_runtime::Node). `#[llmnode::step]` writes it to both traits.
    // Members, so that an `impl` without `#[llmnode::step]` is one error and not one for each of them.
    type Output: Send + 'static;

    /// What the step decides; `()` if it decides nothing.
    type Action: Send + 'static;

    /// Makes the node from the state.
    ///
    /// # Errors
    /// Any error ends the flow as a [`prep_error`](llmnode_runtime::Category::PrepError). A
    /// [`NodeError`](llmnode_runtime::NodeError) keeps its category.
    fn prep(state: &S) -> impl Future<Output = Result<Self, BoxError>> + Send;

    /// Calls [`Exec::exec`]. `#[llmnode::step]` moves the `exec` that you write to that trait; without it, write `exec` in an
    /// impl of that trait, since flows call no other.
    ///
    /// # Errors
    /// Any error, as in [`Exec::exec`].
    fn exec(
        &self,
        cx: &Cx<'_, S>,
    ) -> impl Future<Output = Result<<Self as Step<S>>::Output, BoxError>> + Send {
        Exec::exec(self, cx)
    }

    /// Writes the output back, and decides. It is not async, so that a dropped flow leaves no half step. What it
    /// wrote before it fails or panics stays: check first, then write.
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
