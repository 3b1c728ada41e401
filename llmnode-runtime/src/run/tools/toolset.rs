//! Tools that are known at run time only.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use super::called::Called;
use super::outcome::Outcome;
use super::permit::Permit;
use super::typed::{is_object, no_object, refused, written};
use super::value::{ToolFailure, ToolReply, ToolValue};
use crate::model::ToolSpec;
use crate::node::Node;
use crate::output::{LlmOutput, OutputSchema, OutputSpec, Reader};
use crate::pause::Stand;
use crate::run::cx::Cx;
use crate::run::node::Exec;
use crate::settings::Settings;
use crate::validate::Violation;
use crate::{BoxError, BoxFuture};

/// Tools that are known at run time only: functions, and tools that the program itself answers. Clones share them.
///
/// A node takes them in a field with `#[node(tools)]`, a primitive by
/// [`tools`](crate::primitive::PrimitiveBuilder::tools). Where a tool is known when the program is compiled, `#[tool]` checks more
/// of it.
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
pub(super) struct Dynamic {
    pub(super) spec: ToolSpec,
    require_approval: bool,
    body: Body,
}

#[derive(Clone)]
enum Body {
    Runs(Arc<dyn Runs>),
    /// The program gives its results.
    External,
}

/// A function of a tool.
trait Runs: Send + Sync {
    /// What is wrong with these arguments.
    fn check(&self, arguments: &str, schema: &OutputSchema) -> Result<(), Vec<Violation>>;

    fn run(&self, arguments: &str, schema: &OutputSchema) -> BoxFuture<'static, Result<ToolReply, BoxError>>;
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
        A: LlmOutput,
        T: ToolValue,
        E: ToolFailure,
        F: Future<Output = Result<T, E>> + Send + 'static,
    {
        let run = Arc::new(move |arguments| -> BoxFuture<'static, _> {
            let result = function(arguments);
            Box::pin(async move { result.await.map_err(ToolFailure::failure)?.reply() })
        });
        let spec = ToolSpec::new(name, description, OutputSchema::of::<A>());
        self.add(spec, Body::Runs(Arc::new(Function(run))))
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
        for tool in &mut self.tools {
            let Dynamic { spec, body, .. } = &**tool;
            let (spec, body) = (spec.clone(), body.clone());
            *tool = Arc::new(Dynamic { spec, body, require_approval: true });
        }
        self
    }

    fn add(mut self, spec: ToolSpec, body: Body) -> Self {
        self.tools.push(Arc::new(Dynamic { spec, body, require_approval: false }));
        self
    }

    pub(super) fn tools(&self) -> impl Iterator<Item = &Arc<Dynamic>> {
        self.tools.iter()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }
}

type RunFunction<A> = dyn Fn(A) -> BoxFuture<'static, Result<ToolReply, BoxError>> + Send + Sync;

/// A function with typed arguments.
struct Function<A>(Arc<RunFunction<A>>);

impl<A: LlmOutput> Function<A> {
    fn read(arguments: &str, schema: &OutputSchema) -> Result<A, Vec<Violation>> {
        let spec: OutputSpec<A, ()> = OutputSpec::json(|_| {}, |_, _| {});
        let mut value = None;
        spec.read(arguments, Some(schema), Reader::new(), &mut value)?;
        value.ok_or_else(|| vec![Violation::new("", "there are none")])
    }
}

impl<A: LlmOutput> Runs for Function<A> {
    fn check(&self, arguments: &str, schema: &OutputSchema) -> Result<(), Vec<Violation>> {
        Self::read(arguments, schema).map(drop)
    }

    fn run(&self, arguments: &str, schema: &OutputSchema) -> BoxFuture<'static, Result<ToolReply, BoxError>> {
        let (read, run) = (Self::read(arguments, schema), Arc::clone(&self.0));
        Box::pin(async move {
            match read {
                Ok(arguments) => run(arguments).await,
                Err(_) => Err("its arguments cannot be read".into()),
            }
        })
    }
}

/// Executes a call of it.
pub(super) async fn execute<S: ?Sized + Sync>(
    tool: &Dynamic,
    cx: &Cx<'_, S>,
    called: &Called<'_>,
) -> Outcome {
    let mut permit = Permit::new(called, tool.require_approval);
    loop {
        if let Some(outcome) = tool.refuses(permit.arguments(called)) {
            return outcome.edited(permit.has_edited());
        }
        match permit.is_given(cx, called).await {
            Ok(true) => break,
            Ok(false) => {}
            Err(outcome) => return outcome,
        }
    }
    let Body::Runs(runs) = &tool.body else { return Outcome::waits(Stand::Answer(None)) };
    let node = Bound { spec: &tool.spec, arguments: written(permit.arguments(called)), runs: &**runs };
    let outcome = match cx.call(&node).report().await {
        Ok(report) => Outcome::done(report.value, Some(report.record.id)),
        Err(error) => Outcome::of_error(error, None),
    };
    outcome.edited(permit.has_edited())
}

impl Dynamic {
    /// What is wrong with these arguments.
    fn refuses(&self, arguments: &str) -> Option<Outcome> {
        if !is_object(written(arguments)) {
            return Some(no_object(arguments));
        }
        match &self.body {
            Body::Runs(runs) => runs.check(written(arguments), &self.spec.schema).map_err(refused).err(),
            Body::External => None,
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

impl fmt::Debug for Toolset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.tools.iter().map(|tool| &tool.spec.name)).finish()
    }
}
