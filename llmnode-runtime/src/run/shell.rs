//! The part of an LLM call that knows the node's types: render, read, check. It is generic, so it is small.

use std::future::Future;
use std::sync::Arc;

use super::attempt::{Judge, Judgement};
use super::attempts::{self, Plan};
use super::cx::Cx;
use super::failure::Failure;
use super::fallback::fall_back;
use crate::BoxFuture;
use crate::category::Category;
use crate::error::NodeError;
use crate::model::{Message, Request};
use crate::node::{Exec, LlmNode};
use crate::output::{Answer, OutputSchema, OutputSpec};
use crate::panics::guarded;
use crate::prompt::Prompt;
use crate::settings::{Resolved, SILENT};
use crate::validate::{self, Attempt, Checks, Verdict};

/// Runs a node that asks a model: what `#[llm_node]` delegates to.
///
/// The future is boxed: that it is `Send` is then proved here once, and not in the program for every node, which
/// costs the compiler more than all else in a node together.
///
/// # Errors
/// Whatever kept the call from an output that was accepted.
#[expect(
    clippy::manual_async_fn,
    reason = "of an `async fn` the compiler asks again for every node whether it is `Send`"
)]
pub fn exec<N, S>(node: &N, cx: &Cx<'_, S>) -> impl Future<Output = Result<N::Output, NodeError>> + Send
where
    N: LlmNode<S> + Exec<S>,
    S: ?Sized,
{
    async move { boxed(node, cx).await }
}

fn boxed<'a, N, S>(node: &'a N, cx: &'a Cx<'_, S>) -> BoxFuture<'a, Result<N::Output, NodeError>>
where
    N: LlmNode<S> + Exec<S>,
    S: ?Sized,
{
    Box::pin(ask(node, cx))
}

async fn ask<N, S>(node: &N, cx: &Cx<'_, S>) -> Result<N::Output, NodeError>
where
    N: LlmNode<S> + Exec<S>,
    S: ?Sized,
{
    let spec = node.output();
    let own = node.settings().unwrap_or(&SILENT);
    let settings = Resolved::new(cx.settings, &cx.core.settings, own, &N::ATTRIBUTES, spec.answers())?;
    let schema = spec.schema().map_err(|fault| NodeError::new(Category::ConfigError, fault))?;
    let request = Request { output: schema.clone(), ..Request::new(render(node, cx.state)?) };
    let mut judge = TypedJudge { spec, schema, state: cx.state, value: None };
    let plan = Plan { core: cx.core, call: cx.scope, limits: cx.limits, settings };
    let Err(ended) = attempts::run(&plan, request, &mut judge).await else {
        // The loop ends well only after the judge accepted, and it accepts only with a value.
        return judge.value.ok_or_else(|| NodeError::new(Category::SchemaError, "no value was read"));
    };
    if !ended.falls_back {
        return Err(ended.error);
    }
    let record = cx.scope.so_far(ended.error.category());
    let error = ended.error.of_call(record);
    match fall_back(cx.scope, &error, |error| node.fallback(cx.state, error)).await {
        Some(value) => value,
        None => Err(error.without_record()),
    }
}

fn render<N: LlmNode<S>, S: ?Sized>(node: &N, state: &S) -> Result<Vec<Message>, NodeError> {
    let mut prompt = Prompt::new();
    guarded(|| node.render(state, &mut prompt)).map_err(|said| {
        let place = prompt.place();
        NodeError::new(Category::Panic, format!("{place}a value of the prompt panicked: {said}"))
    })?;
    prompt.finish().map_err(|fault| NodeError::new(Category::PrepError, fault))
}

/// Reads answers as `T`, checks them against the state, and keeps the accepted one.
struct TypedJudge<'r, T, S: ?Sized> {
    spec: OutputSpec<T, S>,
    schema: Option<Arc<OutputSchema>>,
    state: &'r S,
    value: Option<T>,
}

impl<T: Send + Sync, S: ?Sized + Sync> Judge for TypedJudge<'_, T, S> {
    fn judge<'a>(
        &'a mut self,
        answer: &'a str,
        strictly: bool,
        attempt: &'a Attempt,
    ) -> BoxFuture<'a, Judgement> {
        Box::pin(async move {
            let Answer { value, flags, wrapped } =
                match self.spec.read(answer, self.schema.as_deref(), strictly) {
                    Ok(read) => read,
                    Err(violations) => {
                        return Judgement::Rejected { category: Category::SchemaError, violations };
                    }
                };
            let mut checks = Checks::default();
            if wrapped {
                checks.field("value", |checks| self.spec.collect(&value, checks));
            } else {
                self.spec.collect(&value, &mut checks);
            }
            match validate::run(checks, self.state, attempt).await {
                Verdict::Judged(violations) if violations.iter().all(|violation| violation.warning) => {
                    self.value = Some(value);
                    Judgement::Accepted { flags, warnings: violations }
                }
                Verdict::Judged(violations) => {
                    Judgement::Rejected { category: Category::ValidationError, violations }
                }
                Verdict::Aborted(error) => Judgement::Stopped(Failure {
                    message: format!("a validator ended the call: {error}"),
                    source: Some(error),
                    ..Failure::new(Category::Aborted, "")
                }),
                Verdict::Panicked(said) => Judgement::Stopped(Failure::new(Category::Panic, said)),
            }
        })
    }
}
