//! Flows that are known only at run time.

mod build;
mod builder;
mod check;
mod dynamic_step;
mod faults;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

pub use builder::FlowBuilder;

use super::cursor::{FlowCursor, Progress};
use super::drive::{Bounds, RunFlow, Runner};
use super::outline::{OuterFlows, Outline};
use super::table::{Arm, EdgeSelector, ErasedStep, Table, TableStep};
use llmnode_runtime::{BoxFuture, NodeError};

/// A flow that is known only at run time: its steps are added one by one, and it
/// routes by the [names](super::Action) of actions. It returns the action of its
/// last step. It does not change after [`build`](FlowBuilder::build), which reports
/// all faults at once. Clones share it.
///
/// ```
/// # mod llmnode { pub use llmnode_runtime::*; pub use llmnode_flow::*; }
/// use llmnode::flow::{Flow, RunExt, Step, EdgeTarget};
/// use llmnode::{BoxError, Cx, Exec, Node, NodeError, Run, ScriptedModel};
///
/// struct Halve(u64);
/// impl Node for Halve {
///     type Output = u64;
///     const NAME: &'static str = "halve";
/// }
/// impl Exec<u64> for Halve {
///     async fn exec(&self, _: &Cx<'_, u64>) -> Result<u64, BoxError> {
///         Ok(self.0 / 2)
///     }
/// }
/// impl Step<u64> for Halve {
///     type Output = <Self as Node>::Output;
///     type Action = String;
///     async fn prep(state: &u64) -> Result<Self, BoxError> {
///         Ok(Halve(*state))
///     }
///     fn post(self, output: u64, state: &mut u64) -> Result<String, BoxError> {
///         *state = output;
///         Ok(if output.is_multiple_of(2) { "even" } else { "odd" }.to_owned())
///     }
/// }
///
/// let flow = Flow::builder("halving")
///     .step::<Halve>("halve")
///     .on("halve", "even", "halve")
///     .on("halve", "odd", EdgeTarget::End)
///     .build()?;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let mut run = Run::new(ScriptedModel::new()).with_state(40);
/// assert_eq!(run.flow(&flow).await?, "odd");
/// assert_eq!(run.state(), &5);
/// # Ok::<(), NodeError>(()) }).unwrap();
/// # Ok::<(), NodeError>(())
/// ```
/// An action without an edge is a `config_error` that names the step, the action
/// and the existing edges. `build` reports what can be known earlier, such as an
/// action of the step's type that has no edge.
pub struct Flow<S>(Arc<Table<S, ActionName>>);

type ActionName = Cow<'static, str>;

impl<S> Flow<S> {
    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the outline: the steps and edges.
    pub fn outline(&self) -> Outline {
        self.0.outline(OuterFlows::default())
    }
}

struct NestedFlow<S, P>(for<'s> fn(&'s mut S) -> &'s mut P, Flow<P>);

impl<S: Send + 'static, P: Send + 'static> ErasedStep<S, ActionName> for NestedFlow<S, P> {
    fn advance<'f>(
        &'f self,
        mut flow: FlowCursor<'f, S>,
        (table, step): (&'f Table<S, ActionName>, &'f TableStep<S, ActionName>),
    ) -> BoxFuture<'f, Result<Progress<ActionName>, NodeError>> {
        Box::pin(async move {
            let inner = flow.nested().on(self.0)?;
            match self.1.0.advance(inner, None::<fn(&mut P)>).await? {
                Progress::Continue => Ok(Progress::Continue),
                Progress::Done(action) => table.take_edge(step, &mut flow, || named_arm(action)),
            }
        })
    }

    fn outline(&self, _: OuterFlows<'_>) -> Outline {
        self.1.outline()
    }
}

fn named_arm(action: ActionName) -> Arm<ActionName> {
    Arm {
        edge: EdgeSelector::Action(action, |action| action),
        action: None,
    }
}

impl<'r, S: Send + Sync + 'static> RunFlow<'r, S> for &Flow<S> {
    type Action = String;

    fn runner(self) -> Runner<'r, S, String> {
        let outlined = self.clone();
        let flow = self.clone();
        Runner {
            name: self.0.name.clone(),
            max_steps: self.0.max_steps,
            outline: Arc::new(move || outlined.outline()),
            advance: Box::new(move |mut cursor| {
                let flow = flow.clone();
                Box::pin(async move {
                    Ok(
                        match flow
                            .0
                            .advance(cursor.reborrow(), None::<fn(&mut S)>)
                            .await?
                        {
                            Progress::Continue => Progress::Continue,
                            Progress::Done(action) => Progress::Done(action.into_owned()),
                        },
                    )
                })
            }),
            bounds: Bounds::default(),
            shown: None,
        }
    }
}

impl<S> Clone for Flow<S> {
    fn clone(&self) -> Self {
        Flow(Arc::clone(&self.0))
    }
}

impl<S> fmt::Debug for Flow<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Flow").field(&self.outline()).finish()
    }
}
