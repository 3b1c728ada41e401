//! What the crates above may do with a context and a run, and a program may not.

use std::any::Any;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;

use llmnode_model::{BoxError, Category, Message};

use super::context::{CallContext, Caller};
use super::core::RunCore;
use super::cx::Cx;
use super::other_request::{OtherRequest, request};
use super::resume::Origin;
use super::run::Run;
use super::tools::ask_handler;
use crate::error::NodeError;
use crate::ledger::{CallRecord, ToolRecord};
use crate::limits::before_deadline;
use crate::node::{Node, path};
use crate::pause::Paused;
use crate::settings::Settings;

/// The inside of a context.
pub trait CxInternals<'r, S: ?Sized> {
    /// Returns the settings that a node made of others passes on to each of them.
    fn forwarded_settings(&self) -> Settings;

    /// What the run keeps for a node's type.
    fn node_data<N: Node>(&self) -> Option<&'r Arc<dyn Any + Send + Sync>>;

    /// What runs of different states share, but with this kept for a node's type.
    fn core_with_node_data<N: Node>(&self, value: Arc<dyn Any + Send + Sync>) -> RunCore;

    /// The same context on another core, which shares ledger and limits with its own.
    #[must_use]
    fn with_core<'c>(&'c self, core: &'c RunCore) -> Cx<'c, S>;

    /// The same context, for a call that continues another conversation.
    #[must_use]
    fn with_origin<'c>(&'c self, origin: Option<&'c Origin<'c>>) -> Cx<'c, S>;

    /// The calls that the node of this context made so far, with those that they
    /// made: the newest 64.
    fn child_calls(&self) -> Vec<Arc<CallRecord>>;

    /// What a flow within a node runs on.
    fn caller(&self) -> (&RunCore, Caller<'_>);

    /// The pause from which the call continues, if it does.
    fn paused(&self) -> Option<&'r Paused>;

    /// From now on, a map does not execute the node again after a rate limit or an outage.
    fn begin_what_happens_once(&self);

    /// The conversation of a node with tools, once it has ended, and what came of the tools.
    fn tool_conversation(&self) -> (Vec<Message>, Vec<ToolRecord>);

    /// Yields to other tasks, and checks the time limit of the run and the deadline of the call.
    ///
    /// # Errors
    /// `limit_exceeded` or `timeout`.
    fn yield_in_time(&self) -> impl Future<Output = Result<(), NodeError>> + Send;

    /// Lets the run's handler decide about the calls that wait. `None`: there is no
    /// handler, or it decides later.
    ///
    /// # Errors
    /// The handler panicked.
    fn ask_handler(
        &self,
        paused: Paused,
    ) -> impl Future<Output = Result<Option<Paused>, NodeError>> + Send;
}

impl<'r, S: ?Sized> CxInternals<'r, S> for Cx<'r, S> {
    fn forwarded_settings(&self) -> Settings {
        Cx::forwarded_settings(self)
    }

    fn node_data<N: Node>(&self) -> Option<&'r Arc<dyn Any + Send + Sync>> {
        self.context.core.node_data.get(path::<N>())
    }

    fn core_with_node_data<N: Node>(&self, value: Arc<dyn Any + Send + Sync>) -> RunCore {
        let mut core = self.context.core.clone();
        core.node_data.insert(path::<N>(), value);
        core
    }

    fn with_core<'c>(&'c self, core: &'c RunCore) -> Cx<'c, S> {
        let context = CallContext {
            core,
            ..self.context
        };
        Cx {
            context,
            state: self.state,
        }
    }

    fn with_origin<'c>(&'c self, origin: Option<&'c Origin<'c>>) -> Cx<'c, S> {
        let context = CallContext {
            origin,
            ..self.context
        };
        Cx {
            context,
            state: self.state,
        }
    }

    fn child_calls(&self) -> Vec<Arc<CallRecord>> {
        self.context.call.children().calls.into()
    }

    fn caller(&self) -> (&RunCore, Caller<'_>) {
        (self.context.core, Cx::caller(self))
    }

    fn paused(&self) -> Option<&'r Paused> {
        self.context.origin?.pause()
    }

    fn begin_what_happens_once(&self) {
        if let Some(item) = self.context.item {
            item.begin_what_happens_once();
        }
    }

    fn tool_conversation(&self) -> (Vec<Message>, Vec<ToolRecord>) {
        self.context.call.tool_conversation()
    }

    fn yield_in_time(&self) -> impl Future<Output = Result<(), NodeError>> + Send {
        yield_in_time(self.context)
    }

    fn ask_handler(
        &self,
        paused: Paused,
    ) -> impl Future<Output = Result<Option<Paused>, NodeError>> + Send {
        ask_handler(self.context.core, paused)
    }
}

/// Makes a request within the call of a node, and again after failures of the
/// transport, as the settings say.
///
/// For the `exec` of a node that asks a server which is no chat model. Each try is
/// an attempt of the node's record, under the limits of the run.
///
/// # Errors
/// The last failure. A node's `exec` returns it as it is: it is not retried again.
pub async fn send_request<S: ?Sized>(
    cx: &Cx<'_, S>,
    of: &dyn OtherRequest,
) -> Result<(), BoxError> {
    let context = cx.context;
    let outcome = request(&context, of).await;
    outcome.map_err(|error| NodeError::already_retried(error).into())
}

async fn yield_in_time(context: CallContext<'_>) -> Result<(), NodeError> {
    let CallContext {
        core,
        limits,
        deadline,
        ..
    } = context;
    limits.begin_time();
    let yielded = limits.in_time(pin!(tokio::task::yield_now())).await;
    yielded.map_err(|late| NodeError::new(Category::LimitExceeded, late))?;
    // Looks at the clock alone: there is nothing to wait for.
    let in_time = before_deadline(deadline, &*core.clock, std::future::ready(())).await;
    in_time.map_err(|late| NodeError::new(Category::Timeout, late))
}

/// The inside of a run.
pub trait RunInternals<S> {
    /// What runs of different states share.
    fn core(&self) -> &RunCore;

    /// What runs of different states share, and the state.
    fn parts(&mut self) -> (&RunCore, &mut S);

    /// Keeps something for all calls of a node's type, in place of what was kept before.
    #[must_use]
    fn with_node_data<N: Node>(self, value: Arc<dyn Any + Send + Sync>) -> Self;
}

impl<S> RunInternals<S> for Run<S> {
    fn core(&self) -> &RunCore {
        &self.core
    }

    fn parts(&mut self) -> (&RunCore, &mut S) {
        (&self.core, &mut self.state)
    }

    fn with_node_data<N: Node>(mut self, value: Arc<dyn Any + Send + Sync>) -> Self {
        let core = Arc::make_mut(&mut self.core);
        core.node_data.insert(path::<N>(), value);
        self
    }
}
