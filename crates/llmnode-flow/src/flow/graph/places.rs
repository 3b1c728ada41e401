//! What stands at a step of a flow that is known only at run time, without its type.

use std::borrow::Cow;
use std::marker::PhantomData;

use llmnode_runtime::{BoxFuture, NodeError};

use super::Flow;
use crate::flow::action::Action;
use crate::flow::flowing::{Flowing, Progress};
use crate::flow::outline::{Around, Outline};
use crate::flow::place::{Place, Starts};

/// A step, whatever its type; its action by name.
pub(super) trait AnyPlace<S>: Send + Sync {
    fn advance<'f>(
        &'f self,
        flow: Flowing<'f, S>,
    ) -> BoxFuture<'f, Result<Progress<Cow<'static, str>>, NodeError>>;

    fn outline(&self) -> Outline;

    /// The names of all its actions; `None`: any text may be one.
    fn actions(&self) -> Option<&'static [&'static str]>;
}

/// A step that begins by itself.
pub(super) struct Plain<N>(pub(super) PhantomData<fn() -> N>);

/// A step that a function prepares from the flow's state.
pub(super) struct Prepared<F, N>(pub(super) F, pub(super) PhantomData<fn() -> N>);

/// A step on a part of the state.
pub(super) struct OnPart<S, P, A>(pub(super) for<'s> fn(&'s mut S) -> &'s mut P, pub(super) A);

impl<S, N> AnyPlace<S> for Plain<N>
where
    S: Send + 'static,
    N: Starts<S, Action: Action>,
{
    fn advance<'f>(
        &'f self,
        flow: Flowing<'f, S>,
    ) -> BoxFuture<'f, Result<Progress<Cow<'static, str>>, NodeError>> {
        Box::pin(async move { N::advance(flow, None).await.map(named) })
    }

    fn outline(&self) -> Outline {
        N::outline_within(Around::default())
    }

    fn actions(&self) -> Option<&'static [&'static str]> {
        N::Action::NAMES
    }
}

impl<S, N, F> AnyPlace<S> for Prepared<F, N>
where
    S: Send + 'static,
    N: Place<S, Action: Action> + Send,
    F: Fn(&S) -> N + Send + Sync,
{
    fn advance<'f>(
        &'f self,
        flow: Flowing<'f, S>,
    ) -> BoxFuture<'f, Result<Progress<Cow<'static, str>>, NodeError>> {
        Box::pin(async move {
            // A flow that stands here has been prepared before.
            let prepared = if flow.begun() { None } else { Some(flow.prepared(&self.0)?) };
            N::advance(flow, prepared).await.map(named)
        })
    }

    fn outline(&self) -> Outline {
        N::outline_within(Around::default())
    }

    fn actions(&self) -> Option<&'static [&'static str]> {
        N::Action::NAMES
    }
}

impl<S, P, A> AnyPlace<S> for OnPart<S, P, A>
where
    S: Send + 'static,
    P: Send + 'static,
    A: AnyPlace<P>,
{
    fn advance<'f>(
        &'f self,
        flow: Flowing<'f, S>,
    ) -> BoxFuture<'f, Result<Progress<Cow<'static, str>>, NodeError>> {
        Box::pin(async move { self.1.advance(flow.on(self.0)?).await })
    }

    fn outline(&self) -> Outline {
        self.1.outline()
    }

    fn actions(&self) -> Option<&'static [&'static str]> {
        self.1.actions()
    }
}

impl<S: Send + Sync + 'static> AnyPlace<S> for Flow<S> {
    fn advance<'f>(
        &'f self,
        flow: Flowing<'f, S>,
    ) -> BoxFuture<'f, Result<Progress<Cow<'static, str>>, NodeError>> {
        Flow::advance(self, flow)
    }

    fn outline(&self) -> Outline {
        Flow::outline(self)
    }

    fn actions(&self) -> Option<&'static [&'static str]> {
        None
    }
}

fn named<A: Action>(progress: Progress<A>) -> Progress<Cow<'static, str>> {
    match progress {
        Progress::On => Progress::On,
        Progress::Done(action) => Progress::Done(action.name()),
    }
}
