//! The part of an LLM call that knows the node's types: render, read, check. It is generic and compiled for every
//! node, so it is as small as possible. Everything between these steps is behind a `dyn`, and is compiled once.

use std::future::Future;
use std::sync::Arc;

use llmnode_model::internal::{catch_panic, catch_panic_async};
use llmnode_model::{BoxError, BoxFuture, Category, ChatModel, Message, Request, Role, ToolSpec};
use llmnode_reader::internal::{Answer, WRAPPER};
use llmnode_reader::{OutputSchema, Reader, Violation};

use super::attempt_loop::{self, Plan};
use super::choices::Choices;
use super::context::CallContext;
use super::cx::Cx;
use super::erased_node::ErasedNode;
use super::llm_node::LlmNode;
use super::model_attempts::{Asking, ModelAttempts};
use super::node::Exec;
use super::shown::OwnValues;
use super::tools::{Invocation, Outcome, Tools, unanswered_call};
use crate::error::NodeError;
use crate::ledger::{CallGuard, Degraded, RunEvent};
use crate::limits::Deadline;
use crate::output::OutputSpec;
use crate::prompt::generated::Prompt;
use crate::settings::{NodeKind, Resolved, Settings};
use crate::validate::{self, AttemptInfo, CheckRun, Checks};

/// Runs a node that asks a model: what `#[llm_node]` delegates to.
///
/// # Errors
/// The failure that kept the call from an accepted output.
#[expect(
    clippy::manual_async_fn,
    reason = "of an `async fn` the compiler asks again for every node whether it is `Send`"
)]
pub fn exec<N, S>(node: &N, cx: &Cx<'_, S>) -> impl Future<Output = Result<N::Output, BoxError>> + Send
where
    N: LlmNode<S> + Exec<S>,
    S: ?Sized,
{
    async move {
        let mut tools = Tools::default();
        node.tools(&mut tools);
        let spec = node.output();
        let mut asked = TypedNode { node, state: cx.state, tools, spec, schema: None, value: None };
        boxed(&mut asked, &cx.context).await.map_err(NodeError::already_retried)?;
        // The loop succeeds only with a value: an accepted one, or the fallback's.
        Ok(asked.value.ok_or_else(|| NodeError::new(Category::SchemaError, "no value was read"))?)
    }
}

/// Proves once that the future is `Send`, which would otherwise be most of a node's compile time. The box also keeps
/// the loop in this crate: without it, every crate that calls a node would compile the loop again.
fn boxed<'a>(
    asked: &'a mut dyn ErasedNode<'_>,
    context: &'a CallContext<'a>,
) -> BoxFuture<'a, Result<(), NodeError>> {
    Box::pin(ask(asked, context))
}

async fn ask(asked: &mut dyn ErasedNode<'_>, context: &CallContext<'_>) -> Result<(), NodeError> {
    let (of_agent, own, plan);
    let outcome = {
        // A block, since moved values would keep their room in the future.
        let mut asking = {
            let core = context.core;
            let levels = [context.settings, &core.settings, asked.settings(), &core.defaults];
            let mut settings = Resolved::new(levels, asked.node_kind())?;
            let held = context.core.held_model(asked.model());
            if held.is_some() {
                settings.ignore_run_model();
            }
            let (request, asking) = prepare(asked, context)?;
            of_agent =
                (!request.tools.is_empty()).then(|| context.limits.of_agent(context.call.node().clone()));
            let limits = of_agent.as_ref().unwrap_or(context.limits);
            own = settings.deadline().and_then(|given| Deadline::of_call(context.call, given));
            plan = Plan::new(CallContext { limits, ..*context }, settings, &own);
            ModelAttempts::new(&plan, held, request, asking, asked)?
        };
        asking.resume()?;
        match attempt_loop::run(&plan, &mut asking).await {
            Ok(()) => {
                asking.finish();
                Ok(())
            }
            Err(ended) => Err(ended.keeping(asking.unfinished())),
        }
    };
    let Err(ended) = outcome else { return Ok(()) };
    let error = ended.before_fallback(context.call)?;
    match fall_back(context.call, &error, asked).await {
        Some(outcome) => outcome,
        None => Err(error.without_record()),
    }
}

fn prepare(
    asked: &mut dyn ErasedNode<'_>,
    context: &CallContext<'_>,
) -> Result<(Request, Asking), NodeError> {
    let schema = asked.build_schema()?;
    if let Some(listener) = context.listener {
        listener.set_schema(asked.schema())?;
    }
    let (tools, turns) = asked.tools()?;
    let (messages, opening) = render(asked)?;
    let mut request = Request::new(messages);
    let question = request.messages.iter().rposition(|message| message.role == Role::User);
    request.question = question.and_then(|at| u16::try_from(at).ok());
    (request.output, request.tools) = (schema, tools);
    Ok((request, Asking { turns, opening }))
}

async fn fall_back(
    call: &CallGuard<'_>,
    error: &NodeError,
    asked: &mut dyn ErasedNode<'_>,
) -> Option<Result<(), NodeError>> {
    let value = match catch_panic_async(|| asked.fall_back(error)).await {
        Ok(None) => return None,
        Ok(Some(value)) => value,
        Err(said) => {
            let message = format!("the fallback panicked: {said}; it was called after {error}");
            return Some(Err(NodeError::new(Category::Panic, message)));
        }
    };
    Some(match value {
        Ok(()) => {
            call.degrade(Degraded::FallbackValue);
            call.record_event(&RunEvent::FellBack { call: call.id, value: &|| asked.fallback_text() });
            Ok(())
        }
        Err(fault) => {
            let message = format!("{}; its fallback failed too: {fault}", error.message());
            let category = error.category();
            Err(NodeError::new(category, message).with_retry_after(error.retry_after()).with_source(fault))
        }
    })
}

/// Returns the messages, and how many of them stand before the conversation.
fn render(asked: &dyn ErasedNode<'_>) -> Result<(Vec<Message>, usize), NodeError> {
    let mut prompt = Prompt::new();
    catch_panic(|| asked.render(&mut prompt)).map_err(|said| {
        let place = prompt.section;
        NodeError::new(Category::Panic, format!("{place}a value of the prompt panicked: {said}"))
    })?;
    let opening = prompt.opening();
    let messages = prompt.finish().map_err(|fault| NodeError::new(Category::PrepError, fault))?;
    match unanswered_call(&messages) {
        None => Ok((messages, opening)),
        Some(id) => {
            let fault = format!(
                "the history has the call {id:?} of a tool, and not its result; add `Message::tool({id:?}, ..)`, or drop the call"
            );
            Err(NodeError::new(Category::PrepError, fault))
        }
    }
}

struct TypedNode<'r, N: LlmNode<S> + Exec<S>, S: ?Sized> {
    node: &'r N,
    state: &'r S,
    tools: Tools<S>,
    spec: OutputSpec<N::Output, S>,
    schema: Option<Arc<OutputSchema>>,
    value: Option<N::Output>,
}

impl<N: LlmNode<S> + Exec<S>, S: ?Sized> TypedNode<'_, N, S> {
    /// `Err`: the message of a panic in the program's expression.
    fn choices(&self) -> Result<Choices<N::Output>, String> {
        let mut choices = Choices::default();
        let listed = catch_panic(|| self.node.choices(self.state, &mut choices));
        listed.map_err(|said| format!("a list of `choices` panicked: {said}"))?;
        Ok(choices)
    }
}

impl<'r, N: LlmNode<S> + Exec<S>, S: ?Sized> ErasedNode<'r> for TypedNode<'r, N, S> {
    fn settings(&self) -> &'r Settings {
        self.node.settings()
    }

    fn node_kind(&self) -> NodeKind {
        NodeKind::of::<N>(Some(self.spec.answers()))
    }

    fn model(&self) -> Option<&'r dyn ChatModel> {
        self.node.model()
    }

    fn build_schema(&mut self) -> Result<Option<Arc<OutputSchema>>, NodeError> {
        let fault = |fault| NodeError::new(Category::ConfigError, fault);
        self.schema = self.spec.schema().map_err(fault)?;
        self.choices().map_err(|said| NodeError::new(Category::Panic, said))?.sent(self.schema.as_ref())
    }

    fn render(&self, to: &mut Prompt) {
        self.node.render(self.state, to);
    }

    fn tools(&self) -> Result<(Arc<[ToolSpec]>, u32), NodeError> {
        self.tools.check(self.schema.as_deref())?;
        Ok((self.tools.listed(self.state)?, self.tools.most_turns()))
    }

    fn fall_back<'a>(&'a mut self, error: &'a NodeError) -> BoxFuture<'a, Option<Result<(), BoxError>>> {
        Box::pin(async move {
            match self.node.fallback(self.state, error)?.await {
                Ok(value) => self.value = Some(value),
                Err(fault) => return Some(Err(fault)),
            }
            Some(Ok(()))
        })
    }

    fn fallback_text(&self) -> Option<String> {
        self.node.fallback_text(self.value.as_ref()?)
    }

    fn own_values(&self) -> Option<OwnValues> {
        let mut prompt = Prompt::new();
        let says = catch_panic(|| self.node.own_values(self.state, &mut prompt));
        says.unwrap_or(false).then(|| OwnValues::of(&prompt))
    }

    fn schema(&self) -> Option<&OutputSchema> {
        self.schema.as_deref()
    }

    fn read(&mut self, answer: &str, reader: Reader) -> Result<Answer<()>, Vec<Violation>> {
        self.spec.read(answer, self.schema.as_deref(), reader, &mut self.value)
    }

    fn execute<'a>(
        &'a self,
        tool: usize,
        invocation: &'a Invocation<'a>,
        context: &'a CallContext<'_>,
    ) -> Option<BoxFuture<'a, Outcome>> {
        self.tools.execute(tool, self.state, context, invocation)
    }

    fn not_chosen(&self, wrapped: bool) -> Result<Vec<Violation>, String> {
        let Some(value) = &self.value else { return Ok(Vec::new()) };
        Ok(self.choices()?.violations(value, self.schema.as_deref(), wrapped))
    }

    fn check<'a>(&'a mut self, wrapped: bool, attempt: &'a AttemptInfo) -> CheckRun<'a> {
        let mut checks = Checks::at(if wrapped { WRAPPER } else { "" });
        if let Some(value) = &self.value {
            self.spec.collect(value, &mut checks);
        }
        validate::run(checks, self.state, attempt)
    }
}
