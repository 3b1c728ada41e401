//! Tools that are known at run time only.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use serde_json::Value;

use super::called::Called;
use super::outcome::Outcome;
use super::permit::Permit;
use super::typed::{Execute, Tool, execute as typed_execute, is_object, no_object, refused, written};
use super::value::{ToolFailure, ToolReply, ToolValue};
use crate::error::NodeError;
use crate::ids::CallId;
use crate::model::ToolSpec;
use crate::node::Node;
use crate::output::{Argument, OutputSchema, OutputSpec, Reader, Untyped};
use crate::pause::{Decision, Stand};
use crate::run::cx::Cx;
use crate::run::node::Exec;
use crate::settings::Settings;
use crate::validate::Violation;
use crate::{BoxError, BoxFuture};

/// Tools that are known only at run time: functions, and tools that the program itself answers. Clones share them.
///
/// A node takes them in a field with `#[node(tools)]`, a primitive by [`tools`](crate::primitive::PrimitiveBuilder::tools).
/// If a tool is known when the program is compiled, `#[tool]` checks more of it.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::{BoxError, Primitive, Reply, Run, ScriptedModel, Toolset};
/// use serde_json::json;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let tools = Toolset::new().function("shout", "Shouts a text.", |text: String| async move {
///     Ok::<_, BoxError>(text.to_uppercase())
/// });
/// let agent = Primitive::builder("agent").output::<String>().tools(tools).build()?;
///
/// let model = ScriptedModel::new()
///     .reply(Reply::text("").call("shout", json!({"value": "hello"})))
///     .reply(r#"{"value": "HELLO"}"#);
/// assert_eq!(Run::new(model).call(&agent.ask("Shout hello.")).await?, "HELLO");
/// # Ok::<(), llmnode::NodeError>(()) }).unwrap();
/// ```
#[derive(Clone, Default)]
pub struct Toolset {
    tools: Vec<Arc<Dynamic>>,
}

/// A tool that is known at run time only.
#[derive(Clone)]
pub(super) struct Dynamic {
    pub(super) spec: ToolSpec,
    require_approval: bool,
    idempotent: bool,
    body: Body,
}

#[derive(Clone)]
enum Body {
    Runs(Arc<dyn Runs>),
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

type Executing = BoxFuture<'static, Result<ToolReply, BoxError>>;

/// A function of a tool.
trait Runs: Send + Sync {
    /// What is wrong with these arguments.
    fn check(&self, arguments: &str, schema: &OutputSchema) -> Result<(), Vec<Violation>>;

    fn run(&self, arguments: &str, schema: &OutputSchema) -> Executing;
}

impl Toolset {
    /// Creates an empty set.
    pub fn new() -> Self {
        Toolset::default()
    }

    /// Adds the tools of another set.
    #[must_use]
    pub fn with(mut self, other: Toolset) -> Self {
        self.tools.extend(other.tools);
        self
    }

    /// Adds a function. Its argument is a struct whose fields are the arguments of the tool; anything else is one argument named
    /// `value`. The model reads the value, or the text of the error.
    #[must_use]
    pub fn function<A, T, E, F>(
        self,
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        function: impl Fn(A) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: Argument,
        T: ToolValue,
        E: ToolFailure,
        F: Future<Output = Result<T, E>> + Send + 'static,
    {
        let run = Box::new(move |arguments| executing(function(arguments)));
        let spec = ToolSpec::new(name, description, OutputSchema::of::<A>());
        self.add(spec, Body::Runs(Arc::new(Function(run))))
    }

    /// Adds a function whose arguments are described by a JSON Schema that is known at run time only. They are checked against the
    /// keywords that [`output_schema`](crate::primitive::PrimitiveBuilder::output_schema) lists before the function is called; the
    /// function checks the others itself.
    ///
    /// ```
    /// # use llmnode_runtime as llmnode;
    /// use llmnode::{BoxError, Toolset};
    /// use serde_json::{Value, json};
    ///
    /// let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    /// let tools = Toolset::new().json_function("shout", "Shouts a text.", schema, |arguments: Value| async move {
    ///     let text = arguments["text"].as_str().unwrap_or_default();
    ///     Ok::<_, BoxError>(text.to_uppercase())
    /// });
    /// # let _ = tools;
    /// ```
    #[must_use]
    pub fn json_function<T, E, F>(
        self,
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        schema: impl Into<Value>,
        function: impl Fn(Value) -> F + Send + Sync + 'static,
    ) -> Self
    where
        T: ToolValue,
        E: ToolFailure,
        F: Future<Output = Result<T, E>> + Send + 'static,
    {
        let name = name.into();
        let reads = Untyped::by_schema(&name, schema.into());
        let spec = ToolSpec::new(name, description, Arc::clone(&reads.schema));
        let run = Box::new(move |arguments| executing(function(arguments)));
        self.add(spec, Body::Runs(Arc::new(JsonFunction { reads, run })))
    }

    /// Adds what `#[tool]` makes of a function without a state, or a node that says `tool`.
    #[must_use]
    pub fn tool<N>(mut self) -> Self
    where
        N: Tool<(), Output: ToolValue>,
    {
        // A schema that cannot be sent is told of when the tools are checked, before the first request.
        let schema = N::arguments().schema().ok().flatten();
        let schema =
            schema.unwrap_or_else(|| Arc::new(OutputSchema::from_value(N::NAME, Value::Bool(false))));
        let mut spec = ToolSpec::new(N::NAME, N::DESCRIPTION, schema);
        spec.alone = N::ALONE;
        let body = Body::Typed(typed_execute::<N, ()>);
        self.tools.push(Arc::new(Dynamic {
            spec,
            body,
            require_approval: N::REQUIRE_APPROVAL,
            idempotent: true,
        }));
        self
    }

    /// Adds a tool that calls nodes in the context of the agent's call. Its arguments are checked against the schema.
    #[doc(hidden)]
    #[must_use]
    pub fn calling(
        self,
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        schema: impl Into<Value>,
        body: Arc<Calls>,
    ) -> Self {
        let name = name.into();
        let reads = Untyped::by_schema(&name, schema.into());
        let spec = ToolSpec::new(name, description, Arc::clone(&reads.schema));
        self.add(spec, Body::Calls(reads, body))
    }

    /// Returns the names of the tools, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|tool| &*tool.spec.name)
    }

    /// Keeps the tools of these names, in the order of the set.
    #[must_use]
    pub fn only<N: AsRef<str>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        let names: Vec<N> = names.into_iter().collect();
        self.tools.retain(|tool| names.iter().any(|name| name.as_ref() == tool.spec.name));
        self
    }

    /// Returns whether some tool in the set waits: for an approval before it runs, or for a result from outside.
    pub fn may_pause(&self) -> bool {
        self.tools.iter().any(|tool| tool.require_approval || matches!(tool.body, Body::External))
    }

    /// The same names, descriptions and schemas, whose results the program gives.
    #[doc(hidden)]
    #[must_use]
    pub fn as_external(mut self) -> Self {
        self.tools = self.changed(|tool| tool.body = Body::External);
        self
    }

    /// Adds a tool without a body. A call of it pauses the agent, and the program gives its result:
    /// [`Paused::answer`](crate::Paused::answer).
    ///
    /// ```
    /// # use llmnode_runtime as llmnode;
    /// use std::sync::Arc;
    ///
    /// use llmnode::{OutputSchema, ToolSpec, Toolset};
    /// use serde_json::json;
    ///
    /// let schema = json!({"type": "object", "properties": {"question": {"type": "string"}}});
    /// let schema = Arc::new(OutputSchema::from_value("ask_user", schema));
    /// let tools = Toolset::new().external(ToolSpec::new("ask_user", "Asks the user.", schema));
    /// # let _ = tools;
    /// ```
    #[must_use]
    pub fn external(self, spec: ToolSpec) -> Self {
        self.add(spec, Body::External)
    }

    /// Lets every function in the set wait for an [approval](crate::Approval).
    #[must_use]
    pub fn require_approval(mut self) -> Self {
        self.tools = self.changed(|tool| tool.require_approval = true);
        self
    }

    /// Sets whether functions in the set may be executed again with the same arguments, such as after a crash. Default:
    /// `true`. With `false`, a function is never repeated: [resuming a flow](crate::Category::ConfigError) in the middle of
    /// it is refused, with its name.
    #[must_use]
    pub fn idempotent(mut self, idempotent: bool) -> Self {
        self.tools = self.changed(|tool| tool.idempotent = idempotent);
        self
    }

    fn changed(&self, change: impl Fn(&mut Dynamic)) -> Vec<Arc<Dynamic>> {
        let changed = |tool: &Arc<Dynamic>| {
            let mut tool = Dynamic::clone(tool);
            change(&mut tool);
            Arc::new(tool)
        };
        self.tools.iter().map(changed).collect()
    }

    fn add(mut self, spec: ToolSpec, body: Body) -> Self {
        self.tools.push(Arc::new(Dynamic { spec, body, require_approval: false, idempotent: true }));
        self
    }

    pub(super) fn tools(&self) -> impl Iterator<Item = &Arc<Dynamic>> {
        self.tools.iter()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }
}

fn executing<T: ToolValue, E: ToolFailure>(
    result: impl Future<Output = Result<T, E>> + Send + 'static,
) -> Executing {
    Box::pin(async move { result.await.map_err(ToolFailure::failure)?.reply() })
}

type RunFunction<A> = dyn Fn(A) -> Executing + Send + Sync;

/// A function with typed arguments.
struct Function<A>(Box<RunFunction<A>>);

impl<A: Argument> Function<A> {
    fn read(arguments: &str, schema: &OutputSchema) -> Result<A, Vec<Violation>> {
        let spec: OutputSpec<A, ()> = OutputSpec::json(|_| {}, |_, _| {});
        let mut value = None;
        spec.read(arguments, Some(schema), Reader::new(), &mut value)?;
        value.ok_or_else(|| vec![Violation::new("", "there are none")])
    }
}

impl<A: Argument> Runs for Function<A> {
    fn check(&self, arguments: &str, schema: &OutputSchema) -> Result<(), Vec<Violation>> {
        Self::read(arguments, schema).map(drop)
    }

    fn run(&self, arguments: &str, schema: &OutputSchema) -> Executing {
        Self::read(arguments, schema).map_or_else(unread, |arguments| (self.0)(arguments))
    }
}

/// They were read before, so this does not happen.
fn unread(_: Vec<Violation>) -> Executing {
    Box::pin(async { Err("its arguments cannot be read".into()) })
}

/// A function whose arguments are JSON.
struct JsonFunction {
    reads: Untyped,
    run: Box<RunFunction<Value>>,
}

impl Runs for JsonFunction {
    fn check(&self, arguments: &str, _: &OutputSchema) -> Result<(), Vec<Violation>> {
        self.reads.value(arguments).map(drop)
    }

    fn run(&self, arguments: &str, _: &OutputSchema) -> Executing {
        self.reads.value(arguments).map_or_else(unread, |arguments| (self.run)(arguments))
    }
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
    let runs = match &tool.body {
        Body::Runs(runs) => runs,
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
    let node = Bound { spec: &tool.spec, arguments: written(permit.arguments(called)), runs: &**runs };
    let report = match tool.idempotent {
        true => cx.call(&node).report().await,
        false => cx.call(&Once(node)).report().await,
    };
    let outcome = match report {
        Ok(report) => Outcome::done(report.value, Some(report.record.id)),
        Err(error) => Outcome::of_error(error, None),
    };
    outcome.edited(permit.edited())
}

impl Dynamic {
    /// What is wrong with these arguments.
    fn refuses(&self, arguments: &str) -> Option<Outcome> {
        if !is_object(written(arguments)) {
            return Some(no_object(arguments));
        }
        match &self.body {
            Body::Runs(runs) => runs.check(written(arguments), &self.spec.schema).map_err(refused).err(),
            Body::Calls(reads, _) => reads.value(written(arguments)).map_err(refused).err(),
            Body::Typed(_) | Body::External => None,
        }
    }
}

/// A function with its arguments, as a node.
struct Bound<'t> {
    spec: &'t ToolSpec,
    arguments: &'t str,
    runs: &'t dyn Runs,
}

#[diagnostic::do_not_recommend]
impl Node for Bound<'_> {
    type Output = ToolReply;
    const NAME: &'static str = "tool";
    const DESCRIPTION: &'static str = "Executes a tool that is known at run time only.";

    fn name(&self) -> Cow<'static, str> {
        self.spec.name.clone()
    }

    fn settings(&self) -> &Settings {
        crate::settings::SILENT
    }
}

#[diagnostic::do_not_recommend]
impl<S: ?Sized + Sync> Exec<S> for Bound<'_> {
    async fn exec(&self, _: &Cx<'_, S>) -> Result<ToolReply, BoxError> {
        self.runs.run(self.arguments, &self.spec.schema).await
    }
}

/// One that must not be executed again.
struct Once<'t>(Bound<'t>);

#[diagnostic::do_not_recommend]
impl Node for Once<'_> {
    type Output = ToolReply;
    const NAME: &'static str = Bound::NAME;
    const DESCRIPTION: &'static str = Bound::DESCRIPTION;
    const IDEMPOTENT: bool = false;

    fn name(&self) -> Cow<'static, str> {
        self.0.name()
    }

    fn settings(&self) -> &Settings {
        self.0.settings()
    }
}

#[diagnostic::do_not_recommend]
impl<S: ?Sized + Sync> Exec<S> for Once<'_> {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<ToolReply, BoxError> {
        self.0.exec(cx).await
    }
}

impl fmt::Debug for Toolset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.tools.iter().map(|tool| &tool.spec.name)).finish()
    }
}
