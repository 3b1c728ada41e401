//! A step whose node the flow makes, and whose name is known only at run time.

use llmnode_model::internal::catch_panic;
use llmnode_runtime::internal::ErrorInternals as _;
use llmnode_runtime::{BoxError, BoxFuture, Category, NodeError};
use tracing::Instrument;

use super::{ActionName, named_arm};
use crate::flow::action::Action;
use crate::flow::cursor::{FlowCursor, Progress, panicked};
use crate::flow::node_step::{executed, post};
use crate::flow::outline::{OuterFlows, Outline};
use crate::flow::step::PreparedStep;
use crate::flow::step_error::step_error;
use crate::flow::table::{ErasedStep, Table, TableStep};

pub(super) struct DynamicStep<Make> {
    pub(super) outline: Outline,
    pub(super) make: Make,
}

impl<Make> DynamicStep<Make> {
    fn name(&self) -> &str {
        match &self.outline {
            Outline::Node(name) | Outline::Batch(name) | Outline::Flow(name, _) => name,
            Outline::Parallel(_) => "parallel",
        }
    }
}

impl<S, N, Make> ErasedStep<S, ActionName> for DynamicStep<Make>
where
    S: Send + Sync + 'static,
    N: PreparedStep<S, Action: Action> + Send + 'static,
    Make: Fn(&S) -> Result<N, BoxError> + Send + Sync,
{
    fn advance<'f>(
        &'f self,
        mut flow: FlowCursor<'f, S>,
        (table, step): (&'f Table<S, ActionName>, &'f TableStep<S, ActionName>),
    ) -> BoxFuture<'f, Result<Progress<ActionName>, NodeError>> {
        let name = self.name();
        let span = flow.begin_step(name);
        let course = async move {
            let action = {
                let node = match catch_panic(|| (self.make)(flow.state)) {
                    Ok(node) => {
                        node.map_err(|error| step_error(Category::PrepError, "prep failed", error))
                    }
                    Err(message) => Err(panicked("the function that makes the step", message)),
                };
                let node = node.map_err(|error| error.of_node(name.to_owned()))?;
                let output = executed(&mut flow, &node).await?;
                post(node, output, flow.state)?
            };
            table.take_edge(step, &mut flow, || named_arm(action.name()))
        };
        Box::pin(course.instrument(span))
    }

    fn outline(&self, _: OuterFlows<'_>) -> Outline {
        self.outline.clone()
    }
}
