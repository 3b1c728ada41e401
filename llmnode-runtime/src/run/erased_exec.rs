//! A node without its types, as a call executes it: the rest of a call is compiled
//! once, not for every node.

use std::any::type_name;
use std::future::ready;

use llmnode_model::{BoxError, BoxFuture};

use super::call_options::{CallOptions, Handover};
use super::context::CallContext;
use super::cx::Cx;
use super::node::{CalledNode, Exec};
use crate::error::NodeError;
use crate::ledger::NodeKey;
use crate::limits::LimitedNode;
use crate::node::{NodeFacts, path_of};
use crate::settings::Settings;

/// A node with its state, without their types. Stores the output until the call ends.
pub(super) trait ErasedExec<'n, 'r>: Send {
    fn key(&self) -> NodeKey;

    /// Facts that the node's type states.
    fn facts(&self) -> &'static NodeFacts;

    /// By which the limits of all calls of the node are found.
    fn limited(&self) -> LimitedNode;

    fn settings(&self) -> &'n Settings;

    /// The settings of the call, which are there once.
    fn options(&mut self) -> CallOptions<'r>;

    /// Whether anybody reads what a report says beside the output and the record.
    fn wants_report(&self) -> bool;

    /// The output as the text of a message. `None`: there is none, or nobody wants it.
    fn answer(&self) -> Option<Result<String, serde_json::Error>>;

    fn execute<'a>(&'a mut self, context: CallContext<'a>) -> BoxFuture<'a, Result<(), BoxError>>;

    fn fall_back<'a>(
        &'a mut self,
        error: NodeError,
        context: CallContext<'a>,
    ) -> BoxFuture<'a, Result<(), BoxError>>;
}

pub(super) struct TypedExec<'n, 'r, N: Exec<S>, S: ?Sized> {
    pub(super) called_node: CalledNode<'n, N, S>,
    pub(super) state: &'n S,
    pub(super) handover: Handover<'r, N::Output>,
    pub(super) wants_report: bool,
}

impl<'n, 'r, N: Exec<S>, S: ?Sized> ErasedExec<'n, 'r> for TypedExec<'n, 'r, N, S> {
    fn key(&self) -> NodeKey {
        NodeKey::new(
            path_of(type_name::<N>()),
            N::NAME,
            self.called_node.node.name(),
        )
    }

    fn facts(&self) -> &'static NodeFacts {
        const { &N::FACTS }
    }

    fn limited(&self) -> LimitedNode {
        LimitedNode {
            path: path_of(type_name::<N>()),
            name: N::NAME,
            limits: const { &N::FACTS.limits },
        }
    }

    fn settings(&self) -> &'n Settings {
        self.called_node.node.settings()
    }

    fn options(&mut self) -> CallOptions<'r> {
        std::mem::take(&mut self.handover.options)
    }

    fn wants_report(&self) -> bool {
        self.wants_report
    }

    fn answer(&self) -> Option<Result<String, serde_json::Error>> {
        match (&self.called_node.value, self.handover.writer) {
            (Some(value), Some(writer)) => Some(writer(value)),
            _ => None,
        }
    }

    fn execute<'a>(&'a mut self, context: CallContext<'a>) -> BoxFuture<'a, Result<(), BoxError>> {
        let cx = Cx {
            context,
            state: self.state,
        };
        // `const` blocks of the node, here and below, so that no code is made for
        // the other case: of a field of a constant alone, the compiler makes both.
        if const { N::ASKS.is_some() } {
            return match N::ASKS {
                Some(ask) => ask(&mut self.called_node, cx),
                None => nothing_to_do(),
            };
        }
        Box::pin(async move {
            self.called_node.value = Some(self.called_node.node.exec(&cx).await?);
            Ok(())
        })
    }

    fn fall_back<'a>(
        &'a mut self,
        error: NodeError,
        context: CallContext<'a>,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        if const { N::FACTS.retries_itself } {
            return failed(error);
        }
        let cx = Cx {
            context,
            state: self.state,
        };
        Box::pin(async move {
            self.called_node.value = Some(self.called_node.node.exec_fallback(&cx, error).await?);
            Ok(())
        })
    }
}

fn failed<'a>(error: NodeError) -> BoxFuture<'a, Result<(), BoxError>> {
    Box::pin(ready(Err(error.into())))
}

fn nothing_to_do<'a>() -> BoxFuture<'a, Result<(), BoxError>> {
    Box::pin(ready(Ok(())))
}
