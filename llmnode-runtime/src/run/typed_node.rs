//! The part of an LLM call that knows the node's types: render, read, check. It is
//! generic and compiled for every node, so it is as small as possible. Everything
//! between these steps is behind a `dyn`, and is compiled once.
//!
//! `ask_loop` is the order: settings, schema, tools and prompt are prepared once,
//! then the loop runs, then the fallback value is taken. The prompt is not rendered
//! again between attempts, although the state might say something else by then:
//! providers cache the beginning of a request, the journal finds a turn's answer by
//! the first request of that turn, and the feedback to the model speaks of the
//! prompt above it. What follows the prompt (rounds of tools, feedback) is appended
//! and cut off by its length. It is rendered again only by a new call: of another
//! process, or one that resumes a pause, which compares it with what it was.

use std::future::Future;
use std::sync::Arc;

use llmnode_model::ext::{CachePlan, Repeats};
use llmnode_model::internal::{catch_panic, catch_panic_async, fnv};
use llmnode_model::{BoxError, BoxFuture, Category, ChatModel, Message, Request, Role, ToolSpec};
use llmnode_reader::ext::Parsed;
use llmnode_reader::internal::WRAPPER;
use llmnode_reader::{OutputSchema, Reader, Violation};

use super::attempt_loop::{self, CallPlan};
use super::begin_turn::{begin_turn, in_time};
use super::choices::{Choices, ChosenValues};
use super::compaction::{Compact, Sources, Summary, Transcript};
use super::context::{CallContext, CallExtensions};
use super::cx::Cx;
use super::erased_node::ErasedNode;
use super::fallback::FallbackFuture;
use super::handoff::{AgentOutcome, HandoffSlot};
use super::llm_node::LlmNode;
use super::map_item::MapItem;
use super::model_attempts::{ConversationBounds, ModelAttempts};
use super::node::{Asks, CalledNode, Exec};
use super::shown::FieldValues;
use super::tools::{Invocation, ToolOutcome, Tools, unanswered_call};
use super::turn::Turn;
use crate::error::NodeError;
use crate::ledger::{CallGuard, RunEvent, UsedFallback};
use crate::limits::Deadline;
use crate::output::{OutputSpec, Source};
use crate::prompt::EarlyValue;
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
pub fn exec<N, S>(
    node: &N,
    cx: &Cx<'_, S>,
) -> impl Future<Output = Result<N::Output, BoxError>> + Send
where
    N: LlmNode<S> + Exec<S>,
    S: ?Sized,
{
    async move {
        let mut called_node = CalledNode::new(node);
        let cx = Cx {
            context: cx.context,
            state: cx.state,
        };
        ask(&mut called_node, cx).await?;
        // The loop succeeds only with a value: an accepted one, or the fallback's.
        called_node.value.ok_or_else(without_value)
    }
}

/// Runs a node whose tools may hand off.
pub(crate) async fn exec_or_hand_off<N, S>(
    node: &N,
    cx: &Cx<'_, S>,
) -> Result<AgentOutcome<N::Output>, BoxError>
where
    N: LlmNode<S> + Exec<S>,
    S: ?Sized,
{
    let slot = HandoffSlot::default();
    let extensions = CallExtensions {
        listener: cx.context.listener(),
        turn: cx.context.turn(),
        handoff: Some(&slot),
        sources: None,
    };
    let context = CallContext {
        extensions: Some(&extensions),
        ..cx.context
    };
    let state = cx.state;
    let mut called_node = CalledNode::new(node);
    ask(&mut called_node, Cx { context, state }).await?;
    match slot.into_handoff() {
        Some(handoff) => Ok(AgentOutcome::HandedOff(handoff)),
        None => Ok(AgentOutcome::Answer(
            called_node.value.ok_or_else(without_value)?,
        )),
    }
}

/// The same into the place of the output, as calls do it.
pub const fn asks<N, S>() -> Asks<N, S>
where
    N: LlmNode<S> + Exec<S>,
    S: ?Sized,
{
    Some(ask::<N, S>)
}

fn ask<'a, N, S>(
    called_node: &'a mut CalledNode<'_, N, S>,
    cx: Cx<'a, S>,
) -> BoxFuture<'a, Result<(), BoxError>>
where
    N: LlmNode<S> + Exec<S>,
    S: ?Sized,
{
    ask_stated(called_node, cx)
}

/// Compiled once for every type of state.
fn ask_stated<'a, S: ?Sized + Sync>(
    node: &'a mut dyn TypedSteps<'a, S>,
    cx: Cx<'a, S>,
) -> BoxFuture<'a, Result<(), BoxError>> {
    let node = StatedNode::new(node, cx.state);
    boxed(Box::new(node), cx.context)
}

/// Not generic, so that the loop is compiled in this crate, and it is proved once
/// that the future is `Send`: without it, both would be most of a node's compile
/// time.
fn boxed<'a>(
    mut node: Box<dyn ErasedNode<'a> + 'a>,
    context: CallContext<'a>,
) -> BoxFuture<'a, Result<(), BoxError>> {
    Box::pin(async move {
        let outcome = ask_loop(&mut *node, &context).await;
        Ok(outcome.map_err(NodeError::already_retried)?)
    })
}

fn without_value() -> BoxError {
    NodeError::new(Category::SchemaError, "no value was read").into()
}

/// A call of a node that asks a model, in the order in which it must happen:
///
/// 1. Settings come first: a setting that makes no sense fails the call before
///    anything of the program runs.
/// 2. The request is prepared, and its conversation claimed, if it has one.
/// 3. An agent gets limits of its own, which needs the request: only its tools make
///    a node an agent.
/// 4. The loop runs. In a conversation, the turn is written down before the first
///    request, and held while the loop runs.
/// 5. The conversation leaves the attempts, also after a failure, before the
///    fallback is asked: its value may answer the question.
///
/// `of_agent`, `own_deadline` and `plan` are declared ahead of the block since the
/// attempts borrow them.
async fn ask_loop(
    node: &mut dyn ErasedNode<'_>,
    context: &CallContext<'_>,
) -> Result<(), NodeError> {
    let (of_agent, own_deadline, plan);
    let outcome = {
        // A block, since moved values would keep their room in the future.
        let mut attempts = {
            let core = context.core;
            let mut settings = Resolved::new(levels(node, context), node.node_kind())?;
            let held = core.held_model(node.model());
            if held.is_some() {
                settings.ignore_run_model();
            }
            own_deadline = deadline_of_call(&settings, context);
            let (request, bounds) = match context.turn() {
                None => prepare(node, context)?,
                // Boxed, so that other calls reserve no room for a request that waits.
                Some(turn) => Box::pin(prepare_turn(node, context, turn, &own_deadline)).await?,
            };
            of_agent = match request.tools.is_empty() {
                true => None,
                false => {
                    let name = context.call.node().clone();
                    Some(context.limits.of_agent(name, bounds.max_turns))
                }
            };
            let limits = of_agent.as_ref().unwrap_or(context.limits);
            plan = CallPlan::new(CallContext { limits, ..*context }, settings, &own_deadline);
            ModelAttempts::new(&plan, held, request, bounds, node)
        };
        attempts.begin()?;
        let outcome = match context.turn() {
            None => attempt_loop::run(&plan, &mut attempts).await,
            Some(turn) => {
                Box::pin(async {
                    in_time(context, &own_deadline, attempts.keep_turn(None)).await?;
                    let clock = &*context.core.clock;
                    turn.held(clock, attempt_loop::run(&plan, &mut attempts))
                        .await
                })
                .await
            }
        };
        match outcome {
            Ok(()) => {
                // Whoever takes the handoff has its round, and goes on with the conversation.
                if !context.handoff().is_some_and(HandoffSlot::is_taken) {
                    attempts.finish();
                }
                Ok(())
            }
            Err(ended) => {
                attempts.leave_question();
                Err(ended.keeping(attempts.unfinished()))
            }
        }
    };
    let Err(ended) = outcome else { return Ok(()) };
    let error = ended.before_fallback(context.call)?;
    match fall_back(context.call, &error, node).await {
        Some(outcome) => outcome,
        None => Err(error.without_record()),
    }
}

/// Where settings are looked up, the nearest place first.
fn levels<'a, 'n: 'a>(node: &dyn ErasedNode<'n>, context: &CallContext<'a>) -> [&'a Settings; 4] {
    let core = context.core;
    [
        context.settings,
        &core.settings,
        node.settings(),
        &core.defaults,
    ]
}

/// In a map over a batch API, it stops while the call waits for its batch.
fn deadline_of_call(settings: &Resolved<'_>, context: &CallContext<'_>) -> Option<Deadline> {
    let duration = settings.deadline()?;
    let deadline = Deadline::of_call(context.call, duration)?;
    let stopped_time = context.batches().map(|_| Arc::default());
    Some(deadline.stopped_by(stopped_time))
}

/// The same with the history of a conversation, which is claimed.
async fn prepare_turn(
    node: &mut dyn ErasedNode<'_>,
    context: &CallContext<'_>,
    turn: &Turn<'_>,
    deadline: &Option<Deadline>,
) -> Result<(Request, ConversationBounds), NodeError> {
    let (mut request, bounds) = prepare(node, context)?;
    begin_turn(context, turn, &mut request, bounds.opening, deadline).await?;
    Ok((request, bounds))
}

/// Makes the request of a node. The schema comes first, since tools are checked
/// against it, and the prompt last: a node that cannot be asked renders none.
fn prepare(
    node: &mut dyn ErasedNode<'_>,
    context: &CallContext<'_>,
) -> Result<(Request, ConversationBounds), NodeError> {
    let schema = node.build_schema()?;
    if let Some(listener) = context.listener() {
        listener.set_schema(node.schema())?;
    }
    let (tools, max_turns) = node.tools()?;
    let Rendered {
        messages,
        opening,
        is_chat,
        shared_text,
        early,
    } = render(node, context.turn().is_some())?;
    if let (Some(item), Some(early)) = (context.item, early) {
        item.suggest_order(early);
    }
    let has_turns = is_chat || !tools.is_empty();
    let mut request = Request::new(messages);
    request.cache = Some(cache_plan(context, has_turns, shared_text));
    let question = request
        .messages
        .iter()
        .rposition(|message| message.role == Role::User);
    request.question = question.and_then(|at| u16::try_from(at).ok());
    request.output = schema;
    request.tools = tools;
    let bounds = ConversationBounds { max_turns, opening };
    Ok((request, bounds))
}

/// Takes the fallback value of the node. `None`: it has none for this error. A
/// fallback that fails itself says so in an error of the first failure's category:
/// that is what happened.
async fn fall_back(
    call: &CallGuard<'_>,
    error: &NodeError,
    node: &mut dyn ErasedNode<'_>,
) -> Option<Result<(), NodeError>> {
    let value = match catch_panic_async(|| fallback_value(node, error)).await {
        Ok(None) => return None,
        Ok(Some(value)) => value,
        Err(panic_message) => {
            let message =
                format!("the fallback panicked: {panic_message}; it was called after {error}");
            return Some(Err(NodeError::new(Category::Panic, message)));
        }
    };
    Some(match value {
        Ok(()) => {
            call.set_used_fallback(UsedFallback::Value);
            call.emit(&RunEvent::FellBack {
                call: call.id,
                value: &|| node.fallback_text(),
            });
            Ok(())
        }
        Err(fault) => {
            let message = format!("{}; its fallback failed too: {fault}", error.message());
            let category = error.category();
            Err(NodeError::new(category, message)
                .with_retry_after(error.retry_after())
                .with_source(fault))
        }
    })
}

async fn fallback_value(
    node: &mut dyn ErasedNode<'_>,
    error: &NodeError,
) -> Option<Result<(), BoxError>> {
    Some(node.fall_back(error)?.await)
}

/// What the requests of this call have in common with others. A model's handle
/// decides what is asked of the provider's cache.
fn cache_plan(context: &CallContext<'_>, has_turns: bool, shared_text: usize) -> CachePlan {
    let is_item = context.item.is_some_and(MapItem::is_of_many);
    let repeats = if has_turns || context.origin.is_some() {
        Repeats::Turns
    } else if is_item {
        Repeats::Items
    } else {
        Repeats::Unknown
    };
    CachePlan {
        setting: None,
        repeats,
        node: fnv(context.call.node().as_bytes()),
        shared_text,
    }
}

struct Rendered {
    messages: Vec<Message>,
    /// How many of them stand before the conversation.
    opening: usize,
    /// Whether the node has a place for earlier messages.
    is_chat: bool,
    /// How many bytes of the user's message stand before its first value.
    shared_text: usize,
    early: Option<EarlyValue>,
}

/// `is_turn`: a store has the history.
fn render(node: &dyn ErasedNode<'_>, is_turn: bool) -> Result<Rendered, NodeError> {
    let mut prompt = Prompt::new();
    let rendered = catch_panic(|| node.render(&mut prompt));
    if let Err(panic_message) = rendered {
        let place = prompt.section;
        let message = format!("{place}a value of the prompt panicked: {panic_message}");
        return Err(NodeError::new(Category::Panic, message));
    }
    if is_turn && prompt.is_chat() {
        return Err(NodeError::new(
            Category::ConfigError,
            "the node has a field `#[node(history)]`, and the call a `conversation`; leave out one of them",
        ));
    }
    let opening = prompt.opening();
    let is_chat = is_turn || prompt.is_chat();
    let shared_text = prompt.shared_text();
    let early = prompt.early();
    let messages = prompt
        .finish()
        .map_err(|fault| NodeError::new(Category::PrepError, fault))?;
    match unanswered_call(&messages) {
        None => Ok(Rendered {
            messages,
            opening,
            is_chat,
            shared_text,
            early,
        }),
        Some(id) => {
            let fault = format!(
                "the history has the call {id:?} of a tool, and not its result; add `Message::tool({id:?}, ..)`, or drop the call"
            );
            Err(NodeError::new(Category::PrepError, fault))
        }
    }
}

/// What is generic over the node. Each method is compiled for every node that is
/// called, also those of arguments that it does not have: none has a future or a
/// list of its own.
trait TypedSteps<'r, S: ?Sized>: Send + Sync {
    fn facts(&self) -> Facts<'r>;
    fn source(&self) -> &Source;
    fn tools(&self, to: &mut Tools<S>);
    fn render(&self, state: &S, to: &mut Prompt);
    fn choices(&self, state: &S, to: &mut Choices);
    fn chosen(&self, list: usize, to: &mut ChosenValues);
    fn read(
        &mut self,
        answer: &str,
        schema: Option<&OutputSchema>,
        reader: Reader,
    ) -> Result<Parsed<()>, Vec<Violation>>;
    fn collect<'a>(&'a self, to: &mut Checks<'a, S>);
    fn fall_back<'a>(
        &'a mut self,
        state: &'a S,
        error: &'a NodeError,
    ) -> Option<FallbackFuture<'a>>;
    fn fallback_text(&self) -> Option<String>;
    /// Whether the node says which values are its own.
    fn own_values(&self, state: &S, to: &mut Prompt) -> bool;
}

/// What the loop asks a node before it begins.
struct Facts<'r> {
    settings: &'r Settings,
    kind: NodeKind,
    model: Option<&'r dyn ChatModel>,
}

impl<N: LlmNode<S>, S: ?Sized> CalledNode<'_, N, S> {
    fn spec(&self) -> &OutputSpec<N::Output, S> {
        self.spec.get_or_init(|| self.node.output())
    }
}

impl<'r, 'n: 'r, N: LlmNode<S> + Exec<S>, S: ?Sized> TypedSteps<'r, S> for CalledNode<'n, N, S> {
    fn facts(&self) -> Facts<'r> {
        let answers = Some(self.spec().source.answers());
        Facts {
            settings: self.node.settings(),
            kind: NodeKind::from_facts(&N::FACTS, answers),
            model: self.node.model(),
        }
    }

    fn source(&self) -> &Source {
        &self.spec().source
    }

    fn tools(&self, to: &mut Tools<S>) {
        self.node.tools(to);
    }

    fn render(&self, state: &S, to: &mut Prompt) {
        self.node.render(state, to);
    }

    fn choices(&self, state: &S, to: &mut Choices) {
        self.node.choices(state, to);
    }

    fn chosen(&self, list: usize, to: &mut ChosenValues) {
        if let Some(value) = &self.value {
            self.node.chosen(value, list, to);
        }
    }

    fn read(
        &mut self,
        answer: &str,
        schema: Option<&OutputSchema>,
        reader: Reader,
    ) -> Result<Parsed<()>, Vec<Violation>> {
        let spec = self.spec.get_or_init(|| self.node.output());
        let place = (spec.place)(&mut self.value);
        spec.source.read(answer, schema, reader, place)
    }

    fn collect<'a>(&'a self, to: &mut Checks<'a, S>) {
        if let Some(value) = &self.value
            && let Some(collect) = self.spec().collect
        {
            collect(value, to);
        }
    }

    fn fall_back<'a>(
        &'a mut self,
        state: &'a S,
        error: &'a NodeError,
    ) -> Option<FallbackFuture<'a>> {
        // A `const` block, here and below, so that no code is made for a node
        // without one: of a field of a constant alone, the compiler makes both
        // branches.
        if const { N::FACTS.fallback } {
            self.node.fallback(state, error, &mut self.value)
        } else {
            None
        }
    }

    fn fallback_text(&self) -> Option<String> {
        if const { N::FACTS.fallback } {
            self.node.fallback_text(self.value.as_ref()?)
        } else {
            None
        }
    }

    fn own_values(&self, state: &S, to: &mut Prompt) -> bool {
        self.node.own_values(state, to)
    }
}

/// A node with the state of the call: compiled once for every type of state.
struct StatedNode<'r, S: ?Sized> {
    node: &'r mut dyn TypedSteps<'r, S>,
    state: &'r S,
    tools: Tools<S>,
    schema: Option<Arc<OutputSchema>>,
}

impl<'r, S: ?Sized> StatedNode<'r, S> {
    fn new(node: &'r mut dyn TypedSteps<'r, S>, state: &'r S) -> Self {
        let mut tools = Tools::default();
        node.tools(&mut tools);
        StatedNode {
            node,
            state,
            tools,
            schema: None,
        }
    }

    /// `Err`: the message of a panic in the program's expression.
    fn choices(&self) -> Result<Choices, String> {
        let mut choices = Choices::default();
        let listed = catch_panic(|| self.node.choices(self.state, &mut choices));
        match listed {
            Ok(()) => Ok(choices),
            Err(panic_message) => Err(format!("a list of `choices` panicked: {panic_message}")),
        }
    }
}

impl<'r, S: ?Sized + Sync> ErasedNode<'r> for StatedNode<'r, S> {
    fn settings(&self) -> &'r Settings {
        self.node.facts().settings
    }

    fn node_kind(&self) -> NodeKind {
        self.node.facts().kind
    }

    fn model(&self) -> Option<&'r dyn ChatModel> {
        self.node.facts().model
    }

    fn build_schema(&mut self) -> Result<Option<Arc<OutputSchema>>, NodeError> {
        let schema = self.node.source().schema();
        self.schema = schema.map_err(|fault| NodeError::new(Category::ConfigError, fault))?;
        let choices = self
            .choices()
            .map_err(|panic_message| NodeError::new(Category::Panic, panic_message))?;
        choices.sent(self.schema.as_ref())
    }

    fn render(&self, to: &mut Prompt) {
        self.node.render(self.state, to);
    }

    fn tools(&self) -> Result<(Arc<[ToolSpec]>, u32), NodeError> {
        self.tools.check(self.schema.as_deref())?;
        let listed = self.tools.listed(self.state)?;
        Ok((listed, self.tools.most_turns()))
    }

    fn compact_rules(&self) -> Option<Compact> {
        self.tools.compact_rules()
    }

    fn can_sum_up(&self) -> bool {
        self.tools.summariser().is_some()
    }

    fn sum_up<'a>(
        &'a self,
        part: Transcript,
        sources: Sources,
        context: &'a CallContext<'_>,
    ) -> Option<BoxFuture<'a, Result<Summary, NodeError>>> {
        let summariser = self.tools.summariser()?;
        let cx = Cx {
            context: *context,
            state: self.state,
        };
        Some(summariser.sum_up(part, sources, cx))
    }

    fn fall_back<'a>(&'a mut self, error: &'a NodeError) -> Option<FallbackFuture<'a>> {
        self.node.fall_back(self.state, error)
    }

    fn fallback_text(&self) -> Option<String> {
        self.node.fallback_text()
    }

    fn own_values(&self) -> Option<FieldValues> {
        let mut prompt = Prompt::new();
        let says = catch_panic(|| self.node.own_values(self.state, &mut prompt));
        says.unwrap_or(false).then(|| FieldValues::of(&prompt))
    }

    fn schema(&self) -> Option<&OutputSchema> {
        self.schema.as_deref()
    }

    fn read(&mut self, answer: &str, reader: Reader) -> Result<Parsed<()>, Vec<Violation>> {
        self.node.read(answer, self.schema.as_deref(), reader)
    }

    fn execute<'a>(
        &'a self,
        tool: usize,
        invocation: &'a Invocation<'a>,
        context: &'a CallContext<'_>,
    ) -> Option<BoxFuture<'a, ToolOutcome>> {
        self.tools.execute(tool, self.state, context, invocation)
    }

    fn hands_off(&self, tool: usize) -> Option<usize> {
        self.tools.hands_off(tool)
    }

    fn not_chosen(&self, wrapped: bool) -> Result<Vec<Violation>, String> {
        let schema = self.schema.as_deref();
        let choices = self.choices()?;
        Ok(choices.violations(schema, wrapped, &mut |list, to| {
            self.node.chosen(list, to);
        }))
    }

    fn check<'a>(&'a mut self, wrapped: bool, attempt: &'a AttemptInfo) -> CheckRun<'a> {
        let path = if wrapped { WRAPPER } else { "" };
        let mut checks = Checks::at(path);
        self.node.collect(&mut checks);
        validate::run(checks, self.state, attempt)
    }
}
