//! A step whose node the flow makes, and whose name is known only at run time.

use std::borrow::Cow;

use llmnode_runtime::internal::{error_of_node, guarded};
use llmnode_runtime::{BoxError, BoxFuture, Category, NodeError};
use tracing::Instrument;

use super::{Named, taken};
use crate::flow::action::Action;
use crate::flow::flowing::{Flowing, Progress, panicked};
use crate::flow::node_step::{executed, post};
use crate::flow::outline::{Around, Outline};
use crate::flow::stand::Stand;
use crate::flow::step::Step;
use crate::flow::table::{Table, TableStep};
use crate::flow::wrong::wrong;

/// A step that is made by this function, and looks like that.
pub(super) struct Made<Make> {
    pub(super) outline: Outline,
    pub(super) make: Make,
}

impl<Make> Made<Make> {
    /// What records call it.
    fn name(&self) -> &str {
        match &self.outline {
            Outline::Node(name) | Outline::Batch(name) | Outline::Flow(name, _) => name,
            Outline::Parallel(_) => "parallel",
        }
    }
}

impl<S, N, Make> Stand<S, Named> for Made<Make>
where
    S: Send + Sync + 'static,
    N: Step<S, Action: Action> + Send + 'static,
    Make: Fn(&S) -> Result<N, BoxError> + Send + Sync,
{
    fn advance<'f>(
        &'f self,
        mut flow: Flowing<'f, S>,
        (table, step): (&'f Table<S, Named>, &'f TableStep<S, Named>),
    ) -> BoxFuture<'f, Result<Progress<Named>, NodeError>> {
        let name = self.name();
        let span = flow.begins(name);
        let course = async move {
            let action = {
                let made = match guarded(|| (self.make)(flow.state)) {
                    Ok(made) => made.map_err(|error| wrong(Category::PrepError, "prep failed", error)),
                    Err(said) => Err(panicked("the function that makes the step", said)),
                };
                let node = made.map_err(|error| error_of_node(error, Cow::Owned(name.to_owned())))?;
                let output = executed(&mut flow, &node).await?;
                post(node, output, flow.state)?
            };
            table.take(step, &mut flow, || taken(action.name()))
        };
        Box::pin(course.instrument(span))
    }

    fn outline(&self, _: Around<'_>) -> Outline {
        self.outline.clone()
    }
}
