//! A tool of a type, from `#[tool]` or a node: its arguments are read and checked,
//! and its node is called.

use std::marker::PhantomData;
use std::sync::Arc;

use llmnode_model::internal::catch_panic;
use llmnode_model::{BoxFuture, CallId, Category, ToolSpec};
use llmnode_reader::ask::shortened;
use llmnode_reader::text::one_line;
use llmnode_reader::{OutputSchema, Reader, Violation};
use serde_json::{Map, Value};

use super::any_tool::{AnyTool, ReadCall};
use super::approval::Permit;
use super::invocation::Invocation;
use super::outcome::ToolOutcome;
use super::value::Replied;
use crate::error::NodeError;
use crate::ledger::NodeKey;
use crate::output::{OutputSpec, Untyped};
use crate::run::choices::{Choices, ChosenValues};
use crate::run::cx::Cx;
use crate::run::feedback::complaints;
use crate::run::node::Exec;
use crate::validate::{self, AttemptInfo, CheckOutcome, Checks};

/// So deep do calls of agents stand in each other. Deeper ones are mistakes of
/// models, and each level may cost as much as the one above it.
const DEPTH: usize = 8;

/// A node that a model may call, with a state of type `S`. The model writes its fields.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool of a node with the state `{S}`",
    label = "not a tool of this node",
    note = "`#[tool]` on a function makes a tool, and so does the word `tool` in `#[llm_node(tool, ..)]`",
    note = "a tool that takes a state fits nodes with the same `state = T`; a tool without a state fits every node"
)]
pub trait Tool<S: ?Sized>: Exec<S> + Sized + Send + 'static {
    /// No other tool runs at the same time.
    const ALONE: bool = false;

    /// No call of it runs before a person has approved it.
    const REQUIRE_APPROVAL: bool = false;

    /// How its arguments are read and checked.
    fn arguments() -> OutputSpec<Self, S>;

    /// Lists the values that its arguments may have.
    fn choices(state: &S, to: &mut Choices) {
        let _ = (state, to);
    }

    /// Visits the arguments that belong to the list with this index.
    fn chosen(&self, list: usize, to: &mut ChosenValues) {
        let _ = (list, to);
    }

    /// What the model reads of its output.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    fn reply(output: &Self::Output) -> Replied;
}

/// A tool that a node without a state may list.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool of a node without a state",
    label = "not a tool of this node",
    note = "if the tool takes a state, name it on the node, too: `state = World`",
    note = "`#[tool]` on a function makes a tool, and so does the word `tool` in `#[llm_node(tool, ..)]`"
)]
pub trait StatelessTool<S: ?Sized>: Tool<S> {}

#[diagnostic::do_not_recommend]
impl<S: ?Sized, N: Tool<S>> StatelessTool<S> for N {}

/// The node `N` as a tool. It is known by its type alone: no value of it is there
/// before a model has written one.
pub(super) struct TypedTool<N>(PhantomData<fn() -> N>);

impl<N> TypedTool<N> {
    pub(super) const fn new() -> Self {
        TypedTool(PhantomData)
    }
}

/// What a model reads of the tool, and what an agent must know before it calls it.
pub(super) fn spec<N: Tool<S>, S: ?Sized>(schema: Arc<OutputSchema>) -> ToolSpec {
    let mut spec = ToolSpec::new(N::NAME, N::FACTS.description, schema);
    spec.alone = N::ALONE;
    spec.at_most_once = !N::FACTS.idempotent;
    spec.needs_approval = N::REQUIRE_APPROVAL;
    spec
}

/// A call whose arguments made a node.
struct TypedCall<'c, N, S: ?Sized> {
    node: N,
    cx: Cx<'c, S>,
}

impl<N: Tool<S>, S: ?Sized> AnyTool<S> for TypedTool<N> {
    fn sent_schema(&self, state: &S, spec: &ToolSpec) -> Result<Arc<OutputSchema>, NodeError> {
        let mut choices = Choices::default();
        let listed = catch_panic(|| N::choices(state, &mut choices));
        if let Err(message) = listed {
            let name = &spec.name;
            let why = format!("a list of `choices` of the tool `{name}` panicked: {message}");
            return Err(NodeError::new(Category::Panic, why));
        }
        let narrowed = choices.sent(Some(&spec.schema))?;
        Ok(narrowed.unwrap_or_else(|| Arc::clone(&spec.schema)))
    }

    /// By the schema alone: validators are code of the program, and may wait.
    fn argument_fault(&self, spec: &ToolSpec, arguments: &str) -> Option<ToolOutcome> {
        let schema = serde_json::from_str(spec.schema.plain().get()).unwrap_or(Value::Bool(true));
        let parser = Untyped::by_schema(&spec.name, schema);
        parsed(&parser, arguments).err().map(|outcome| *outcome)
    }

    fn read<'c: 'a, 'a>(
        &'c self,
        cx: Cx<'c, S>,
        spec: &'c ToolSpec,
        arguments: &'a str,
    ) -> BoxFuture<'a, Result<Box<dyn ReadCall + 'c>, ToolOutcome>> {
        Box::pin(async move {
            let node = read::<N, S>(&cx, &spec.name, arguments).await?;
            if let Some(refused) = too_deep::<N, S>(&cx, &node) {
                return Err(refused);
            }
            let call: Box<dyn ReadCall + 'c> = Box::new(TypedCall { node, cx });
            Ok(call)
        })
    }
}

impl<N: Tool<S>, S: ?Sized> ReadCall for TypedCall<'_, N, S> {
    fn run<'c>(
        self: Box<Self>,
        invocation: &'c Invocation<'c>,
        _: &'c Permit,
    ) -> BoxFuture<'c, ToolOutcome>
    where
        Self: 'c,
    {
        Box::pin(async move {
            let TypedCall { node, cx } = *self;
            let is_function = !N::FACTS.retries_itself;
            let caller = invocation.caller(cx.caller(), is_function);
            let error = match cx.context.core.call(caller, cx.state, &node).await {
                Ok(ended) => {
                    return replied(invocation, N::reply(&ended.value), ended.record.id);
                }
                Err(error) => error,
            };
            if is_function && !N::FACTS.idempotent && error.category() == Category::Paused {
                return ToolOutcome::stopped(would_run_again(&invocation.call.name));
            }
            ToolOutcome::of_error(error, N::SETTINGS.deadline)
        })
    }
}

/// What the model reads of an output.
fn replied(invocation: &Invocation<'_>, reply: Replied, call: CallId) -> ToolOutcome {
    match reply {
        Ok(reply) => ToolOutcome::done(reply, Some(call)),
        Err(error) => {
            let name = &invocation.call.name;
            let fault =
                format!("the result of the tool `{name}` cannot be written as JSON: {error}");
            ToolOutcome::stopped(NodeError::new(Category::ConfigError, fault).with_source(error))
        }
    }
}

/// To continue, the function that called the paused agent would start again. The
/// pause is not kept as source, because it cannot be resumed.
fn would_run_again(name: &str) -> NodeError {
    let why = format!(
        "an agent that the tool `{name}` calls has paused, and `{name}` must not run twice (`idempotent = false`); list the agent as \
         a tool instead: `#[llm_node(tool, ..)]`"
    );
    NodeError::new(Category::ConfigError, why)
}

/// A node that was made of arguments, and what their schema has against them.
struct Built<N> {
    node: N,
    violations: Vec<Violation>,
}

/// Makes the node of its arguments, checks it, and lists all that is wrong with
/// them at once: what the schema refuses, what the validators find, and values that
/// are not among the choices. Arguments that break a bound of the schema make a
/// node all the same, if they have the right types, so that its validators can run.
/// An error of the program ends the agent.
async fn read<N, S>(cx: &Cx<'_, S>, name: &str, arguments: &str) -> Result<N, ToolOutcome>
where
    N: Tool<S>,
    S: ?Sized,
{
    let spec = N::arguments();
    let schema = spec.source.schema().ok().flatten();
    let built = build(&spec, schema.as_deref(), arguments);
    let Built {
        node,
        mut violations,
    } = built.map_err(|outcome| *outcome)?;
    let mut checks = Checks::at("");
    if let Some(collect) = spec.collect {
        collect(&node, &mut checks);
    }
    match validate::run(checks, cx.state, &AttemptInfo::new(0, 0)).await {
        CheckOutcome::Completed(found) => violations.extend(found),
        CheckOutcome::Aborted(error) => {
            let message = format!("a validator of the tool `{name}` ended the call: {error}");
            let aborted = NodeError::new(Category::Aborted, message).with_source(error);
            return Err(ToolOutcome::stopped(aborted));
        }
        CheckOutcome::Panicked(message) => {
            let panicked = NodeError::new(Category::Panic, message);
            return Err(ToolOutcome::stopped(panicked));
        }
    }
    let mut choices = Choices::default();
    N::choices(cx.state, &mut choices);
    let not_chosen = choices.violations(schema.as_deref(), false, &mut |list, to| {
        node.chosen(list, to);
    });
    violations.extend(not_chosen);
    if violations.iter().all(|one| one.warning) {
        Ok(node)
    } else {
        Err(refused(violations))
    }
}

/// The node, without its validators. `Err`: no node can be made of the arguments.
fn build<N, S: ?Sized>(
    spec: &OutputSpec<N, S>,
    schema: Option<&OutputSchema>,
    arguments: &str,
) -> Result<Built<N>, Box<ToolOutcome>> {
    let arguments_or_none = or_empty_object(arguments);
    let mut node = None;
    let read = spec.read(arguments_or_none, schema, Reader::new(), &mut node);
    let Err(violations) = read else {
        return match node {
            Some(node) => Ok(Built {
                node,
                violations: Vec::new(),
            }),
            None => {
                let outcome = ToolOutcome::invalid_arguments("\n- there are none");
                Err(Box::new(outcome))
            }
        };
    };
    if !is_object(arguments_or_none) {
        return Err(Box::new(no_object(arguments)));
    }
    spec.build(arguments_or_none, &mut node);
    match node {
        Some(node) => Ok(Built { node, violations }),
        None => Err(Box::new(refused(violations))),
    }
}

/// The arguments by a schema, or what the model reads about them.
pub(super) fn parsed(parser: &Untyped, arguments: &str) -> Result<Value, Box<ToolOutcome>> {
    let arguments_or_none = or_empty_object(arguments);
    if !is_object(arguments_or_none) {
        return Err(Box::new(no_object(arguments)));
    }
    parser
        .arguments(arguments_or_none)
        .map_err(|violations| Box::new(refused(violations)))
}

/// Many models write nothing, or `null`, for a tool without arguments.
pub(super) fn or_empty_object(arguments: &str) -> &str {
    match arguments.trim() {
        "" | "null" => "{}",
        _ => arguments,
    }
}

pub(super) fn no_object(arguments: &str) -> ToolOutcome {
    // Unlike a violation, the syntax error has line and column.
    if let Err(broken) = Reader::new().value(arguments)
        && arguments.trim_start().starts_with('{')
    {
        return refused(broken.violations().to_vec());
    }
    let shown = one_line(arguments, 200);
    ToolOutcome::invalid_arguments(&format!("\n- they are not a JSON object: `{shown}`"))
}

pub(super) fn is_object(arguments: &str) -> bool {
    serde_json::from_str::<Map<String, Value>>(arguments).is_ok()
}

pub(super) fn refused(violations: Vec<Violation>) -> ToolOutcome {
    let violations: Vec<_> = violations.into_iter().map(shortened).collect();
    ToolOutcome::invalid_arguments(&complaints(&violations))
}

/// Why an agent does not run: it would call itself without an end.
fn too_deep<N, S>(cx: &Cx<'_, S>, node: &N) -> Option<ToolOutcome>
where
    N: Tool<S>,
    S: ?Sized,
{
    let why = if cx.context.call.is_inside_node_type(&NodeKey::of(node).path) {
        "it is already working on this; try another way"
    } else if cx.context.call.depth >= DEPTH {
        "agents are nested too deeply; answer without it"
    } else {
        return None;
    };
    let message = format!("not executed: {why}");
    Some(ToolOutcome::refused("not_executed", message))
}
