//! A tool that is known at run time only, and a call of it.

use std::borrow::Cow;
use std::sync::Arc;

use llmnode_model::{BoxError, BoxFuture, CallId, ToolSpec};
use llmnode_reader::{OutputSchema, Violation};
use serde_json::Value;

use super::approval::Permit;
use super::invocation::Invocation;
use super::outcome::Outcome;
use super::typed::{Execute, is_object, no_object, or_empty_object, refused};
use super::value::{ToolFuture, ToolReply};
use crate::error::NodeError;
use crate::node::{Node, NodeFacts};
use crate::output::Untyped;
use crate::pause::{Asked, AskedReplies, Asks, CallState, Decision};
use crate::run::cx::Cx;
use crate::run::node::Exec;
use crate::settings::Settings;

#[derive(Clone)]
pub(super) struct Dynamic {
    pub(super) spec: ToolSpec,
    pub(super) require_approval: bool,
    pub(super) idempotent: bool,
    pub(super) body: Body,
}

#[derive(Clone)]
pub(super) enum Body {
    Function(Arc<ArgumentParser>),
    /// From `#[tool]` or a node, for any state.
    Typed(Execute<()>),
    ToolFn(Untyped, Arc<ToolFn>),
    External,
}

/// Executes a tool with its arguments within the agent's call. Says which call of a node it was, if it was one.
pub type ToolFn = dyn for<'c> Fn(
        &'c Cx<'c, ()>,
        Value,
    ) -> BoxFuture<'c, Result<(ToolReply, Option<CallId>), NodeError>>
    + Send
    + Sync;

pub(super) type ArgumentParser =
    dyn Fn(&str, &OutputSchema) -> Result<PreparedCall, Vec<Violation>> + Send + Sync;

/// Its argument: the replies to what the tool asked before.
type PreparedCall =
    Box<dyn FnOnce(Option<AskedReplies>) -> BoxFuture<'static, Result<ToolReply, BoxError>> + Send>;

pub(super) fn function<A, F>(
    read: impl Fn(&str, &OutputSchema) -> Result<A, Vec<Violation>> + Send + Sync + 'static,
    function: impl Fn(A, Option<AskedReplies>) -> F + Send + Sync + 'static,
) -> Body
where
    A: Send + 'static,
    F: ToolFuture,
{
    let function = Arc::new(function);
    Body::Function(Arc::new(move |arguments, schema| {
        let (arguments, function) = (read(arguments, schema)?, Arc::clone(&function));
        Ok(Box::new(move |replies| {
            let result = function(arguments, replies);
            Box::pin(result.replied())
        }))
    }))
}

pub(super) async fn execute<S: ?Sized + Sync>(
    tool: &Dynamic,
    cx: &Cx<'_, S>,
    invocation: &Invocation<'_>,
) -> Outcome {
    if let Body::Typed(execute) = tool.body {
        return execute(&cx.on(&()), invocation).await;
    }
    let mut permit = Permit::new(invocation, tool.require_approval);
    loop {
        if let Some(outcome) = tool.argument_fault(permit.arguments(invocation)) {
            return permit.applied_to(outcome);
        }
        match permit.is_granted(cx, invocation).await {
            Ok(true) => break,
            Ok(false) => {}
            Err(outcome) => return outcome,
        }
    }
    if let Err(refused) = invocation.claim() {
        return Outcome::stopped(refused);
    }
    let parser = match &tool.body {
        Body::Function(parser) => &**parser,
        Body::ToolFn(parser, calls) => {
            // Read before, so this cannot fail.
            let arguments = parser
                .value(or_empty_object(permit.arguments(invocation)))
                .unwrap_or_default();
            return permit.applied_to(match calls(&cx.on(&()), arguments).await {
                Ok((reply, call)) => Outcome::done(reply, call),
                Err(error) => Outcome::of_error(error, None),
            });
        }
        Body::Typed(_) | Body::External => {
            let edit = permit
                .edited()
                .and_then(|arguments| serde_json::from_str(arguments).ok());
            return permit.applied_to(Outcome::waits(CallState::Answer(edit.map(Decision::Edit))));
        }
    };
    let (spec, arguments) = (&tool.spec, or_empty_object(permit.arguments(invocation)));
    let (caller, core, state) = (
        invocation.caller(cx.caller(), true),
        cx.context.core,
        cx.state,
    );
    let replies = &invocation.asked.and_then(Asked::replies);
    let report = match tool.idempotent {
        true => {
            core.call(
                caller,
                state,
                &FunctionNode::<true> {
                    spec,
                    arguments,
                    parser,
                    replies,
                },
            )
            .await
        }
        false => {
            core.call(
                caller,
                state,
                &FunctionNode::<false> {
                    spec,
                    arguments,
                    parser,
                    replies,
                },
            )
            .await
        }
    };
    let outcome = match report {
        Ok(report) => Outcome::done(report.value, Some(report.record.id)),
        Err(error) => match Asks::of(&error) {
            Some(asks) => {
                let rounds = invocation.asked.map_or(0, |asked| asked.round);
                Outcome::asks(asks, permit.arguments(invocation), rounds)
            }
            None => Outcome::of_error(error, None),
        },
    };
    permit.applied_to(outcome)
}

impl Dynamic {
    pub(super) fn argument_fault(&self, arguments: &str) -> Option<Outcome> {
        if !is_object(or_empty_object(arguments)) {
            return Some(no_object(arguments));
        }
        match &self.body {
            Body::Function(parser) => parser(or_empty_object(arguments), &self.spec.schema)
                .map_err(refused)
                .err(),
            Body::ToolFn(parser, _) => parser
                .value(or_empty_object(arguments))
                .map_err(refused)
                .err(),
            Body::Typed(_) => {
                let schema = serde_json::from_str(self.spec.schema.plain().get())
                    .unwrap_or(Value::Bool(true));
                let parser = Untyped::by_schema(&self.spec.name, schema);
                parser
                    .value(or_empty_object(arguments))
                    .map_err(refused)
                    .err()
            }
            Body::External => None,
        }
    }
}

struct FunctionNode<'t, const AGAIN: bool> {
    spec: &'t ToolSpec,
    arguments: &'t str,
    parser: &'t ArgumentParser,
    replies: &'t Option<AskedReplies>,
}

#[diagnostic::do_not_recommend]
impl<const AGAIN: bool> Node for FunctionNode<'_, AGAIN> {
    type Output = ToolReply;
    const NAME: &'static str = "tool";
    const FACTS: NodeFacts = NodeFacts::new()
        .description("Executes a tool that is known at run time only.")
        .idempotent(AGAIN);

    fn name(&self) -> Cow<'static, str> {
        self.spec.name.clone()
    }

    fn settings(&self) -> &Settings {
        crate::settings::EMPTY_SETTINGS
    }
}

#[diagnostic::do_not_recommend]
impl<S: ?Sized + Sync, const AGAIN: bool> Exec<S> for FunctionNode<'_, AGAIN> {
    async fn exec(&self, _: &Cx<'_, S>) -> Result<ToolReply, BoxError> {
        match (self.parser)(self.arguments, &self.spec.schema) {
            Ok(function) => function(self.replies.clone()).await,
            Err(_) => Err("its arguments cannot be read".into()),
        }
    }
}
