//! Nodes side by side: a tuple of nodes is a node.
//!
//! Each node of the tuple is a call of its own, with a record and the settings that
//! the tuple passes on. All are polled by the one task that polls the tuple, so
//! they share the state by reference, and to drop the tuple drops them all. The
//! first error is the tuple's; what the other calls have spent by then is in their
//! records.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use llmnode_model::{BoxError, Category};

use super::call::Call;
use super::cx::Cx;
use super::name::ConstName;
use super::node::Exec;
use crate::error::NodeError;
use crate::node::{Node, NodeFacts};

/// One node of the tuple: its call, and the output once it has ended.
struct Branch<'c, T> {
    call: Call<'c, T>,
    output: Option<T>,
}

impl<'c, T> Branch<'c, T> {
    fn new<S, N>(cx: &'c Cx<'_, S>, node: &'c N) -> Self
    where
        S: ?Sized,
        N: Exec<S, Output = T>,
    {
        let settings = cx.forwarded_settings();
        let call = cx.call(node).settings(settings);
        Branch { call, output: None }
    }

    fn output(self) -> Result<T, NodeError> {
        match self.output {
            Some(output) => Ok(output),
            None => Err(NodeError::new(Category::ExecError, "no value was given")),
        }
    }
}

trait PollBranch: Send {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), NodeError>>;
}

impl<T: Send> PollBranch for Branch<'_, T> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), NodeError>> {
        if self.output.is_none() {
            let call = Pin::new(&mut self.call);
            let outcome = ready!(call.poll(cx));
            self.output = Some(outcome?);
        }
        Poll::Ready(Ok(()))
    }
}

/// Without the types of the nodes, so that it is compiled once: `try_join!` would
/// be compiled for each tuple.
async fn all(mut branches: Vec<&mut dyn PollBranch>) -> Result<(), NodeError> {
    poll_fn(|cx| {
        let mut outcome = Poll::Ready(Ok(()));
        for branch in &mut branches {
            match branch.poll(cx) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => outcome = Poll::Pending,
            }
        }
        // The same one first each time could take the task's whole budget.
        branches.rotate_left(1);
        outcome
    })
    .await
}

/// Executes the nodes of a tuple concurrently, as separate calls on one state. The
/// first error cancels the others.
macro_rules! side_by_side {
    ($($N:ident $n:tt),+) => {
        #[diagnostic::do_not_recommend]
        impl<$($N: Node),+> Node for ($($N,)+) {
            type Output = ($($N::Output,)+);
            const NAME: &'static str = const { &ConstName::list("(", &[$($N::NAME),+], ")") }.as_str();
            const FACTS: NodeFacts = NodeFacts::new()
                .idempotent(true $(&& $N::FACTS.idempotent)+)
                .retries_itself(true);
        }

        #[diagnostic::do_not_recommend]
        impl<S: ?Sized, $($N: Exec<S>),+> Exec<S> for ($($N,)+) {
            async fn exec(&self, cx: &Cx<'_, S>) -> Result<Self::Output, BoxError> {
                let mut branches = ($(Branch::new(cx, &self.$n),)+);
                cx.with_call_deadline(all(vec![$(&mut branches.$n),+])).await?;
                Ok(($(branches.$n.output()?,)+))
            }
        }
    };
}

side_by_side!(A 0, B 1);
side_by_side!(A 0, B 1, C 2);
side_by_side!(A 0, B 1, C 2, D 3);
side_by_side!(A 0, B 1, C 2, D 3, E 4);
side_by_side!(A 0, B 1, C 2, D 3, E 4, F 5);
side_by_side!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
side_by_side!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
