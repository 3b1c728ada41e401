//! The part of an LLM call that knows the node's types: render, read, check. It is generic, so it is small.

use std::sync::Arc;

use super::attempt::{Judge, Judgement};
use super::attempts;
use super::cx::Cx;
use super::failure::Failure;
use crate::BoxFuture;
use crate::category::Category;
use crate::error::NodeError;
use crate::model::{Message, Request, Role};
use crate::node::LlmNode;
use crate::output::{Answer, OutputSchema, OutputSpec};
use crate::panics::guarded;
use crate::prompt::Prompt;
use crate::settings::Resolved;
use crate::validate::{self, Attempt, Checks, Verdict};

/// Runs a node that asks a model: what `#[llm_node]` delegates to.
///
/// # Errors
/// Whatever kept the call from an output that was accepted.
pub async fn exec<N, S>(node: &N, cx: &Cx<'_, S>) -> Result<N::Output, NodeError>
where
    N: LlmNode<S>,
    S: ?Sized + Sync,
{
    let mut plan = Resolved::new(cx.settings, &cx.core.settings, &N::ATTRIBUTES)?;
    let spec = N::output();
    if spec.is_text() {
        if cx.settings.retries.or(N::ATTRIBUTES.retries).is_some_and(|retries| retries > 0) {
            let fault = "retries correct bad answers, but this node's answer is raw text that nothing checks; \
                         set an output type, or use transport_retries";
            return Err(NodeError::new(Category::ConfigError, fault));
        }
        // The run's word is for nodes of all kinds.
        plan.retries = 0;
    }
    let schema = spec.schema().map_err(|fault| NodeError::new(Category::ConfigError, fault))?;
    // A registered name picks the model behind it; any other is an id for the run's own model.
    let registered = plan.model.as_ref().and_then(|name| cx.core.models.get(name));
    let request = Request {
        messages: render(node, cx.state)?,
        model: if registered.is_some() { None } else { plan.model.clone() },
        output: schema.clone(),
        temperature: plan.temperature,
        max_tokens: plan.max_tokens,
        extra: plan.extra.clone(),
    };
    let model = registered.unwrap_or(&cx.core.model);
    let mut judge = TypedJudge { spec, schema, state: cx.state, value: None };
    attempts::run(cx.scope, &**model, &*cx.core.clock, &plan, request, &mut judge).await?;
    // The loop ends well only after the judge accepted, and it accepts only with a value.
    judge.value.ok_or_else(|| NodeError::new(Category::SchemaError, "no value was read"))
}

fn render<N: LlmNode<S>, S: ?Sized>(node: &N, state: &S) -> Result<Vec<Message>, NodeError> {
    let mut prompt = Prompt::new();
    guarded(|| node.render(state, &mut prompt))
        .map_err(|said| NodeError::new(Category::Panic, format!("a value of the prompt panicked: {said}")))?;
    let (system, user) = prompt.finish().map_err(|fault| NodeError::new(Category::PrepError, fault))?;
    // Room for a correction, so that the first one moves nothing.
    let mut messages = Vec::with_capacity(4);
    if !system.is_empty() {
        messages.push(Message::new(Role::System, system));
    }
    messages.push(Message::new(Role::User, user));
    Ok(messages)
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
