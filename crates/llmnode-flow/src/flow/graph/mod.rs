//! Flows that are known only at run time.

mod builder;
mod check;
mod faults;
mod places;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

pub use builder::{FlowBuilder, To};
pub use faults::{FlowFault, FlowFaults};

use super::action::DEFAULT;
use super::drive::{RunFlow, Runner};
use super::flowing::{Flowing, Progress};
use super::outline::{Outline, OutlineStep, OutlineTarget};
use llmnode_runtime::internal::{Label, Walk, one_line};
use llmnode_runtime::{BoxFuture, Category, NodeError};
use places::AnyPlace;

/// A flow that is known only at run time: its steps are added one by one, and it routes by the
/// [names](super::Action) of actions. It gives the action of its last step.
///
/// Nothing in it changes after [`build`](FlowBuilder::build), which reports every fault at once. Clones share it.
///
/// ```
/// # mod llmnode { pub use llmnode_runtime::*; pub use llmnode_flow::*; }
/// use llmnode::flow::{Flow, RunExt, Step, To};
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
///     .on("halve", "odd", To::End)
///     .build()?;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let mut run = Run::new(ScriptedModel::new()).with_state(40);
/// assert_eq!(run.flow(&flow).await?, "odd");
/// assert_eq!(run.state(), &5);
/// # Ok::<(), NodeError>(()) }).unwrap();
/// # Ok::<(), llmnode::flow::FlowFaults>(())
/// ```
///
/// An action that has no edge is a `config_error` which names the step, the action and the edges that there are. What can be
/// known before is a fault of `build`: so is an action that the step's type can give and no edge takes.
pub struct Flow<S>(Arc<Graph<S>>);

struct Graph<S> {
    name: Cow<'static, str>,
    /// The first is where it starts.
    steps: Vec<GraphStep<S>>,
    max_steps: Option<u64>,
}

struct GraphStep<S> {
    label: Label,
    place: Box<dyn AnyPlace<S>>,
    edges: Vec<Edge>,
}

struct Edge {
    action: Cow<'static, str>,
    /// The index of a step; `None`: out of the flow.
    to: Option<usize>,
}

impl<S> Flow<S> {
    /// Begins a flow of that name.
    pub fn builder(name: impl Into<Cow<'static, str>>) -> FlowBuilder<S> {
        FlowBuilder::new(name.into())
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What it looks like.
    pub fn outline(&self) -> Outline {
        let steps = self.0.steps.iter().map(|step| OutlineStep {
            label: step.label.to_cow(),
            place: step.place.outline(),
            edges: step
                .edges
                .iter()
                .map(|edge| (shown(&edge.action).to_owned().into(), self.target(edge)))
                .collect(),
        });
        Outline::Flow(self.0.name.clone(), steps.collect())
    }

    fn target(&self, edge: &Edge) -> OutlineTarget {
        match edge.to.and_then(|to| self.0.steps.get(to)) {
            Some(step) => OutlineTarget::Step(step.label.to_cow()),
            None => OutlineTarget::End,
        }
    }
}

impl<S: Send + Sync + 'static> Flow<S> {
    /// Executes the step at which it stands.
    fn advance<'f>(
        &self,
        mut flow: Flowing<'f, S>,
    ) -> BoxFuture<'f, Result<Progress<Cow<'static, str>>, NodeError>> {
        let graph = Arc::clone(&self.0);
        Box::pin(async move {
            flow.check_depth()?;
            if let (None, Some(first)) = (flow.at.at(flow.depth), graph.steps.first()) {
                flow.at.go(flow.depth, 0, first.label.clone());
            }
            let label = |step: usize| graph.steps.get(step).map(|step| step.label.as_str());
            let index = flow.at.step(flow.depth, graph.steps.len(), label);
            let Some(step) = index.and_then(|index| graph.steps.get(index)) else {
                return Err(flow.no_step(&graph.name));
            };
            match step.place.advance(flow.nested(|state| state)).await? {
                Progress::On => Ok(Progress::On),
                Progress::Done(action) => graph.take(step, action, &mut flow),
            }
        })
    }
}

impl<S> Graph<S> {
    /// Takes the edge of an action.
    fn take(
        &self,
        step: &GraphStep<S>,
        action: Cow<'static, str>,
        flow: &mut Flowing<'_, S>,
    ) -> Result<Progress<Cow<'static, str>>, NodeError> {
        let Some(edge) = step.edges.iter().find(|edge| edge.action == action) else {
            let known: Vec<_> = step.edges.iter().map(|edge| format!("`{}`", edge.action)).collect();
            let message = format!(
                "the step `{}` of the flow `{}` gave the action `{}`, for which it has no edge; it has {}",
                step.label.as_str(),
                self.name,
                one_line(&*action, 200),
                one_line(known.join(", "), 500),
            );
            return Err(NodeError::new(Category::ConfigError, message));
        };
        match edge.to.and_then(|to| Some((to, self.steps.get(to)?))) {
            Some((to, next)) => {
                flow.goes(shown(&action), to, next.label.clone());
                Ok(Progress::On)
            }
            None => {
                flow.ends(shown(&action));
                Ok(Progress::Done(action))
            }
        }
    }
}

/// In pictures and records the action of a plain arrow is empty.
fn shown(action: &str) -> &str {
    if action == DEFAULT { "" } else { action }
}

impl<'r, S: Send + Sync + 'static> RunFlow<'r, S> for &Flow<S> {
    type Action = String;

    fn runner(self) -> Runner<'r, S, String> {
        let (outlined, flow) = (self.clone(), self.clone());
        Runner {
            name: self.0.name.clone(),
            max_steps: self.0.max_steps,
            outline: Arc::new(move || outlined.outline()),
            advance: Box::new(move |flowing| {
                let advanced = flow.advance(flowing);
                Box::pin(async move {
                    Ok(match advanced.await? {
                        Progress::On => Progress::On,
                        Progress::Done(action) => Progress::Done(action.into_owned()),
                    })
                })
            }),
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
