//! The methods for flows of a run.

use std::future::Future;

use llmnode_runtime::{NodeError, Run};

use super::call::{FlowCall, step};
use super::drive::RunFlow;
use super::flows::{Flows, Fork};
use super::step::Step;

/// The methods for flows of a [`Run`]. It is in the prelude.
pub trait RunExt<S>: Sized {
    /// Runs a flow on the state, from its first step to its end, and returns its action.
    ///
    /// # Errors
    /// The error of the step that ended it; [`NodeError::position`] says which.
    /// What the steps before did to the state stays.
    fn flow<'r, F: RunFlow<'r, S>>(&'r mut self, flow: F) -> FlowCall<'r, S, F::Action>;

    /// Runs one step on the state: prep, exec with its retries and fallback, post.
    /// Returns its action.
    ///
    /// # Errors
    /// The errors of prep and post, and those of the call.
    fn step<N>(&mut self) -> impl Future<Output = Result<N::Action, NodeError>> + Send
    where
        N: Step<S> + Send + 'static,
        S: Send + Sync;

    /// Runs flows one after the other on the state, such as one flow with different
    /// parameters. The next flow is taken from the iterator when the one before it
    /// has ended.
    ///
    /// ```text
    /// run.flows(files.into_iter().map(|file| Translate { file })).await?;
    /// ```
    fn flows<'r, F>(
        &'r mut self,
        flows: impl IntoIterator<Item = F, IntoIter: Send + 'r>,
    ) -> Flows<'r, S, F::Action>
    where
        F: RunFlow<'r, S> + 'r,
        S: 'r;

    /// Runs flows concurrently, each on a state of its own. `split` makes both from
    /// an item and the state of this run. Eight run at a time by default
    /// ([`concurrency`](Fork::concurrency)). They share the models, limits and
    /// ledger of this run.
    ///
    /// ```text
    /// run.fork(languages, |book, language| (Page { text: book.text.clone(), .. }, Translate { language }))
    ///     .join(|book, page, ()| book.pages.push(page))
    ///     .await?;
    /// ```
    fn fork<'r, I, P, F>(
        &'r mut self,
        items: impl IntoIterator<Item = I, IntoIter: Send + 'r>,
        split: impl FnMut(&S, I) -> (P, F) + Send + 'r,
    ) -> Fork<'r, S, P, F::Action>
    where
        F: RunFlow<'r, P>;
}

impl<S> RunExt<S> for Run<S> {
    fn flow<'r, F: RunFlow<'r, S>>(&'r mut self, flow: F) -> FlowCall<'r, S, F::Action> {
        FlowCall::new(self, flow.runner())
    }

    fn step<N>(&mut self) -> impl Future<Output = Result<N::Action, NodeError>> + Send
    where
        N: Step<S> + Send + 'static,
        S: Send + Sync,
    {
        step::<S, N>(self)
    }

    fn flows<'r, F>(
        &'r mut self,
        flows: impl IntoIterator<Item = F, IntoIter: Send + 'r>,
    ) -> Flows<'r, S, F::Action>
    where
        F: RunFlow<'r, S> + 'r,
        S: 'r,
    {
        Flows::new(self, flows.into_iter())
    }

    fn fork<'r, I, P, F>(
        &'r mut self,
        items: impl IntoIterator<Item = I, IntoIter: Send + 'r>,
        split: impl FnMut(&S, I) -> (P, F) + Send + 'r,
    ) -> Fork<'r, S, P, F::Action>
    where
        F: RunFlow<'r, P>,
    {
        Fork::new(self, items.into_iter(), split)
    }
}
