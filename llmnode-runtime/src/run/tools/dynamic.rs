//! A tool that is known at run time only, and a call of it.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::called::Called;
use super::outcome::Outcome;
use super::permit::Permit;
use super::typed::{Execute, is_object, no_object, refused, written};
use super::value::{ToolFailure, ToolReply, ToolValue};
use crate::error::NodeError;
use crate::ids::CallId;
use crate::model::ToolSpec;
use crate::node::Node;
use crate::output::{OutputSchema, Untyped};
use crate::pause::{Decision, Stand};
use crate::run::cx::Cx;
use crate::run::node::Exec;
use crate::settings::Settings;
use crate::validate::Violation;
use crate::{BoxError, BoxFuture};

/// A tool that is known at run time only.
#[derive(Clone)]
pub(super) struct Dynamic {
    pub(super) spec: ToolSpec,
    pub(super) require_approval: bool,
    pub(super) idempotent: bool,
    pub(super) body: Body,
}

#[derive(Clone)]
pub(super) enum Body {
    /// A function.
    Runs(Arc<Reads>),
    /// A tool that is known when the program is compiled, of any state.
    Typed(Execute<()>),
    /// It is given the context of the agent's call, and calls nodes itself.
    Calls(Untyped, Arc<Calls>),
    /// The program gives its results.
    External,
}

/// Executes a tool with its arguments within the agent's call. Says which call of a node it was, if it was one.
pub type Calls = dyn for<'c> Fn(&'c Cx<'c, ()>, Value) -> BoxFuture<'c, Result<(ToolReply, Option<CallId>), NodeError>>
    + Send
    + Sync;

/// Reads the arguments of a function, and gives what calls it, or says what is wrong with them.
pub(super) type Reads = dyn Fn(&str, &OutputSchema) -> Result<Ready, Vec<Violation>> + Send + Sync;

/// Calls a function with arguments that were read.
type Ready = Box<dyn FnOnce() -> BoxFuture<'static, Result<ToolReply, BoxError>> + Send>;

/// A function, and how its arguments are read.
pub(super) fn function<A, T, E, F>(
    read: impl Fn(&str, &OutputSchema) -> Result<A, Vec<Violation>> + Send + Sync + 'static,
    function: impl Fn(A) -> F + Send + Sync + 'static,
) -> Body
where
    A: Send + 'static,
    T: ToolValue,
    E: ToolFailure,
    F: Future<Output = Result<T, E>> + Send + 'static,
{
    let function = Arc::new(function);
    Body::Runs(Arc::new(move |arguments, schema| {
        let (arguments, function) = (read(arguments, schema)?, Arc::clone(&function));
        Ok(Box::new(move || {
            let result = function(arguments);
            Box::pin(async move { result.await.map_err(ToolFailure::failure)?.reply() })
        }))
    }))
}

/// Executes a call of it.
pub(super) async fn execute<S: ?Sized + Sync>(
    tool: &Dynamic,
    cx: &Cx<'_, S>,
    called: &Called<'_>,
) -> Outcome {
    if let Body::Typed(execute) = tool.body {
        return execute(&cx.on(&()), called).await;
    }
    let mut permit = Permit::new(called, tool.require_approval);
    loop {
        if let Some(outcome) = tool.refuses(permit.arguments(called)) {
            return outcome.edited(permit.edited());
        }
        match permit.is_given(cx, called).await {
            Ok(true) => break,
            Ok(false) => {}
            Err(outcome) => return outcome,
        }
    }
    let reads = match &tool.body {
        Body::Runs(reads) => &**reads,
        Body::Calls(_, calls) => {
            // They were read before.
            let arguments = serde_json::from_str(written(permit.arguments(called))).unwrap_or_default();
            return match calls(&cx.on(&()), arguments).await {
                Ok((reply, call)) => Outcome::done(reply, call),
                Err(error) => Outcome::of_error(error, None),
            }
            .edited(permit.edited());
        }
        Body::Typed(_) | Body::External => {
            let edit = permit.edited().and_then(|arguments| serde_json::from_str(arguments).ok());
            return Outcome::waits(Stand::Answer(edit.map(Decision::Edit))).edited(permit.edited());
        }
    };
    let (spec, arguments) = (&tool.spec, written(permit.arguments(called)));
    let report = match tool.idempotent {
        true => cx.call(&Bound::<true> { spec, arguments, reads }).report().await,
        false => cx.call(&Bound::<false> { spec, arguments, reads }).report().await,
    };
    let outcome = match report {
        Ok(report) => Outcome::done(report.value, Some(report.record.id)),
        Err(error) => Outcome::of_error(error, None),
    };
    outcome.edited(permit.edited())
}

impl Dynamic {
    /// What is wrong with these arguments.
    pub(super) fn refuses(&self, arguments: &str) -> Option<Outcome> {
        if !is_object(written(arguments)) {
            return Some(no_object(arguments));
        }
        match &self.body {
            Body::Runs(reads) => reads(written(arguments), &self.spec.schema).map_err(refused).err(),
            Body::Calls(reads, _) => reads.value(written(arguments)).map_err(refused).err(),
            // Its type is not known here, so only the schema is checked.
            Body::Typed(_) => {
                let schema =
                    serde_json::from_str(self.spec.schema.plain().get()).unwrap_or(Value::Bool(true));
                let reads = Untyped::by_schema(&self.spec.name, schema);
                reads.value(written(arguments)).map_err(refused).err()
            }
            Body::External => None,
        }
    }
}

/// A function with its arguments, as a node; `AGAIN`: it may be executed again.
struct Bound<'t, const AGAIN: bool> {
    spec: &'t ToolSpec,
    arguments: &'t str,
    reads: &'t Reads,
}

#[diagnostic::do_not_recommend]
impl<const AGAIN: bool> Node for Bound<'_, AGAIN> {
    type Output = ToolReply;
    const NAME: &'static str = "tool";
    const DESCRIPTION: &'static str = "Executes a tool that is known at run time only.";
    const IDEMPOTENT: bool = AGAIN;

    fn name(&self) -> Cow<'static, str> {
        self.spec.name.clone()
    }

    fn settings(&self) -> &Settings {
        crate::settings::SILENT
    }
}

#[diagnostic::do_not_recommend]
impl<S: ?Sized + Sync, const AGAIN: bool> Exec<S> for Bound<'_, AGAIN> {
    async fn exec(&self, _: &Cx<'_, S>) -> Result<ToolReply, BoxError> {
        match (self.reads)(self.arguments, &self.spec.schema) {
            Ok(function) => function().await,
            // They were read before, so this does not happen.
            Err(_) => Err("its arguments cannot be read".into()),
        }
    }
}
