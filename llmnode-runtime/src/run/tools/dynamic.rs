//! Tools that are known at run time only: functions, functions that call nodes, and
//! those whose result comes from outside.

use std::borrow::Cow;
use std::future::ready;
use std::sync::Arc;

use llmnode_model::{BoxError, BoxFuture, CallId, ToolSpec};
use llmnode_reader::{OutputSchema, Violation};
use serde_json::Value;

use super::any_tool::{AnyTool, ReadCall};
use super::approval::Permit;
use super::invocation::Invocation;
use super::outcome::ToolOutcome;
use super::typed::{is_object, no_object, or_empty_object, parsed, refused};
use super::value::{ToolFuture, ToolReply};
use crate::error::NodeError;
use crate::node::{Node, NodeFacts};
use crate::output::Untyped;
use crate::pause::{Asked, AskedReplies, Asks, CallState, Decision};
use crate::run::cx::Cx;
use crate::run::node::Exec;
use crate::settings::Settings;

/// A tool of a set.
#[derive(Clone)]
pub(super) struct Dynamic {
    pub(super) spec: ToolSpec,
    pub(super) require_approval: bool,
    pub(super) idempotent: bool,
    pub(super) tool: Arc<dyn AnyTool<()>>,
}

impl Dynamic {
    /// As an agent has it: with what the set says of all its tools.
    pub(super) fn listed(&self) -> ToolSpec {
        let mut spec = self.spec.clone();
        spec.external = self.tool.is_external();
        spec.at_most_once |= !self.idempotent;
        spec.needs_approval = self.require_approval;
        spec
    }
}

/// Executes a tool with its arguments within the agent's call. Says which call of a
/// node it was, if it was one.
pub type ToolFn = dyn for<'c> Fn(
        &'c Cx<'c, ()>,
        Value,
    ) -> BoxFuture<'c, Result<(ToolReply, Option<CallId>), NodeError>>
    + Send
    + Sync;

/// Reads the arguments of a function, and makes the call of it that has not begun.
type ArgumentParser =
    dyn Fn(&str, &OutputSchema) -> Result<PreparedCall, Vec<Violation>> + Send + Sync;

/// Its argument: the replies to what the tool asked before.
type PreparedCall =
    Box<dyn FnOnce(Option<AskedReplies>) -> BoxFuture<'static, Result<ToolReply, BoxError>> + Send>;

/// A function on arguments. Each call of it is a call of a node, [`FunctionNode`].
pub(super) struct FunctionTool {
    parser: Box<ArgumentParser>,
}

impl FunctionTool {
    pub(super) fn new<A, F>(
        read: impl Fn(&str, &OutputSchema) -> Result<A, Vec<Violation>> + Send + Sync + 'static,
        function: impl Fn(A, Option<AskedReplies>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: Send + 'static,
        F: ToolFuture,
    {
        let function = Arc::new(function);
        let parser = move |arguments: &str, schema: &OutputSchema| {
            let arguments = read(arguments, schema)?;
            let function = Arc::clone(&function);
            let call: PreparedCall = Box::new(move |replies| {
                let result = function(arguments, replies);
                Box::pin(result.replied())
            });
            Ok(call)
        };
        FunctionTool {
            parser: Box::new(parser),
        }
    }
}

struct FunctionCall<'c> {
    tool: &'c FunctionTool,
    spec: &'c ToolSpec,
    cx: Cx<'c, ()>,
}

impl AnyTool<()> for FunctionTool {
    fn argument_fault(&self, spec: &ToolSpec, arguments: &str) -> Option<ToolOutcome> {
        let arguments_or_none = or_empty_object(arguments);
        if !is_object(arguments_or_none) {
            return Some(no_object(arguments));
        }
        let read = (self.parser)(arguments_or_none, &spec.schema);
        read.map_err(refused).err()
    }

    fn read<'c: 'a, 'a>(
        &'c self,
        cx: Cx<'c, ()>,
        spec: &'c ToolSpec,
        arguments: &'a str,
    ) -> BoxFuture<'a, Result<Box<dyn ReadCall + 'c>, ToolOutcome>> {
        // The node reads them once more, as often as it is executed.
        if let Some(fault) = self.argument_fault(spec, arguments) {
            return Box::pin(ready(Err(fault)));
        }
        let tool = self;
        let call: Box<dyn ReadCall + 'c> = Box::new(FunctionCall { tool, spec, cx });
        Box::pin(ready(Ok(call)))
    }
}

impl ReadCall for FunctionCall<'_> {
    fn run<'c>(
        self: Box<Self>,
        invocation: &'c Invocation<'c>,
        permit: &'c Permit,
    ) -> BoxFuture<'c, ToolOutcome>
    where
        Self: 'c,
    {
        Box::pin(async move {
            let arguments = permit.arguments(invocation);
            let function = FunctionArguments {
                spec: self.spec,
                arguments: or_empty_object(arguments),
                parser: &*self.tool.parser,
                replies: invocation.questions.and_then(Asked::replies),
            };
            let caller = invocation.caller(self.cx.caller(), true);
            let core = self.cx.context.core;
            // Two types, since whether a node may run again is a fact of its type.
            let ended = if self.spec.at_most_once {
                core.call(caller, &(), &FunctionNode::<false>(function))
                    .await
            } else {
                core.call(caller, &(), &FunctionNode::<true>(function))
                    .await
            };
            let error = match ended {
                Ok(ended) => return ToolOutcome::done(ended.value, Some(ended.record.id)),
                Err(error) => error,
            };
            match Asks::of(&error) {
                Some(asks) => {
                    let rounds = invocation.questions.map_or(0, |questions| questions.round);
                    ToolOutcome::asks(asks, arguments, rounds)
                }
                None => ToolOutcome::of_error(error, None),
            }
        })
    }
}

/// A function that calls nodes in the context of the agent's call, such as a graph.
pub(super) struct ContextTool {
    pub(super) parser: Untyped,
    pub(super) function: Arc<ToolFn>,
}

struct ContextCall<'c> {
    function: &'c ToolFn,
    arguments: Value,
    cx: Cx<'c, ()>,
}

impl AnyTool<()> for ContextTool {
    fn argument_fault(&self, _: &ToolSpec, arguments: &str) -> Option<ToolOutcome> {
        let fault = parsed(&self.parser, arguments).err()?;
        Some(*fault)
    }

    fn read<'c: 'a, 'a>(
        &'c self,
        cx: Cx<'c, ()>,
        _: &'c ToolSpec,
        arguments: &'a str,
    ) -> BoxFuture<'a, Result<Box<dyn ReadCall + 'c>, ToolOutcome>> {
        let arguments = match parsed(&self.parser, arguments) {
            Ok(arguments) => arguments,
            Err(outcome) => return Box::pin(ready(Err(*outcome))),
        };
        let call: Box<dyn ReadCall + 'c> = Box::new(ContextCall {
            function: &*self.function,
            arguments,
            cx,
        });
        Box::pin(ready(Ok(call)))
    }
}

impl ReadCall for ContextCall<'_> {
    fn run<'c>(self: Box<Self>, _: &'c Invocation<'c>, _: &'c Permit) -> BoxFuture<'c, ToolOutcome>
    where
        Self: 'c,
    {
        Box::pin(async move {
            let ContextCall {
                function,
                arguments,
                cx,
            } = *self;
            match function(&cx, arguments).await {
                Ok((reply, call)) => ToolOutcome::done(reply, call),
                Err(error) => ToolOutcome::of_error(error, None),
            }
        })
    }
}

/// A tool whose result the program gives. A call of it waits, or ends the turns of the agent.
pub(super) struct ExternalTool {
    pub(super) hands_off: Option<usize>,
}

struct ExternalCall;

impl AnyTool<()> for ExternalTool {
    /// Whoever answers looks at the rest.
    fn argument_fault(&self, _: &ToolSpec, arguments: &str) -> Option<ToolOutcome> {
        if is_object(or_empty_object(arguments)) {
            return None;
        }
        Some(no_object(arguments))
    }

    fn read<'c: 'a, 'a>(
        &'c self,
        _: Cx<'c, ()>,
        spec: &'c ToolSpec,
        arguments: &'a str,
    ) -> BoxFuture<'a, Result<Box<dyn ReadCall + 'c>, ToolOutcome>> {
        if let Some(fault) = self.argument_fault(spec, arguments) {
            return Box::pin(ready(Err(fault)));
        }
        let call: Box<dyn ReadCall + 'c> = Box::new(ExternalCall);
        Box::pin(ready(Ok(call)))
    }

    fn is_external(&self) -> bool {
        true
    }

    fn hands_off(&self) -> Option<usize> {
        self.hands_off
    }
}

impl ReadCall for ExternalCall {
    fn run<'c>(
        self: Box<Self>,
        _: &'c Invocation<'c>,
        permit: &'c Permit,
    ) -> BoxFuture<'c, ToolOutcome>
    where
        Self: 'c,
    {
        let edited = permit.edited();
        let edit = edited.and_then(|arguments| serde_json::from_str(arguments).ok());
        let waits = CallState::Answer(edit.map(Decision::Edit));
        Box::pin(ready(ToolOutcome::waits(waits)))
    }
}

/// One call of a function, as a node. `AGAIN`: it may be executed again.
struct FunctionNode<'t, const AGAIN: bool>(FunctionArguments<'t>);

/// A function with the arguments of one call, as the model wrote them.
struct FunctionArguments<'t> {
    spec: &'t ToolSpec,
    arguments: &'t str,
    parser: &'t ArgumentParser,
    replies: Option<AskedReplies>,
}

#[diagnostic::do_not_recommend]
impl<const AGAIN: bool> Node for FunctionNode<'_, AGAIN> {
    type Output = ToolReply;
    const NAME: &'static str = "tool";
    const FACTS: NodeFacts = NodeFacts::new()
        .description("Executes a tool that is known at run time only.")
        .idempotent(AGAIN);

    fn name(&self) -> Cow<'static, str> {
        self.0.spec.name.clone()
    }

    fn settings(&self) -> &Settings {
        crate::settings::EMPTY_SETTINGS
    }
}

#[diagnostic::do_not_recommend]
impl<S: ?Sized + Sync, const AGAIN: bool> Exec<S> for FunctionNode<'_, AGAIN> {
    async fn exec(&self, _: &Cx<'_, S>) -> Result<ToolReply, BoxError> {
        let call = &self.0;
        match (call.parser)(call.arguments, &call.spec.schema) {
            Ok(function) => function(call.replies.clone()).await,
            Err(_) => Err("its arguments cannot be read".into()),
        }
    }
}
