//! Sets of tools that are known at run time only.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use llmnode_model::ToolSpec;
use llmnode_reader::{OutputSchema, Reader, Violation};
use serde_json::Value;

use super::any_tool::AnyTool;
use super::dynamic::{ContextTool, Dynamic, ExternalTool, FunctionTool, ToolFn};
use super::typed::{Tool, TypedTool, spec};
use super::value::{ToolFuture, ToolValue};
use crate::output::{Argument, OutputSpec, Untyped};
use crate::pause::AskedReplies;

/// Tools that are known only at run time: functions, and tools whose results the
/// program gives. Clones share them.
///
/// A node takes them in a field with `#[node(tools)]`, a
/// [`DynNode`](crate::DynNode) by
/// [`tools`](crate::dyn_node::DynNodeBuilder::tools). If a tool is known when the
/// program is compiled, `#[tool]` checks more of it.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::{BoxError, DynNode, Reply, Run, ScriptedModel, Toolset};
/// use serde_json::json;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let tools = Toolset::new().function("shout", "Shouts a text.", |text: String| async move {
///     Ok::<_, BoxError>(text.to_uppercase())
/// });
/// let agent = DynNode::builder("agent").output::<String>().tools(tools).build()?;
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

    /// Adds a function. Its argument is a struct whose fields are the arguments of
    /// the tool; anything else is one argument named `value`. The model reads the
    /// value, or the text of the error.
    #[must_use]
    pub fn function<A, F>(
        self,
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        function: impl Fn(A) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: Argument,
        F: ToolFuture,
    {
        let spec = ToolSpec::new(name, description, OutputSchema::of::<A>());
        self.add(
            spec,
            FunctionTool::new(read::<A>, move |arguments, _| function(arguments)),
        )
    }

    /// Adds a function whose arguments are described by a JSON Schema that is known
    /// at run time only. They are checked against the keywords that
    /// [`output_schema`](crate::dyn_node::DynNodeBuilder::output_schema) lists
    /// before the function is called; the function checks the others itself.
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
    pub fn json_function<F>(
        self,
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        schema: impl Into<Value>,
        function: impl Fn(Value) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: ToolFuture,
    {
        self.asking_function(name, description, schema, move |arguments, _| {
            function(arguments)
        })
    }

    /// Adds a function that may ask a person before it goes on: it ends with
    /// [`Asks`](crate::ext::Asks), and is called again with the same arguments and
    /// the replies.
    #[must_use]
    pub fn asking_function<F>(
        self,
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        schema: impl Into<Value>,
        function: impl Fn(Value, Option<AskedReplies>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: ToolFuture,
    {
        let name = name.into();
        let parser = Untyped::by_schema(&name, schema.into());
        let spec = ToolSpec::new(name, description, Arc::clone(&parser.schema));
        self.add(
            spec,
            FunctionTool::new(move |arguments, _| parser.arguments(arguments), function),
        )
    }

    /// Adds a tool by its type, `.tool::<Search>()`: what `#[tool] fn search(..)`
    /// makes, or a node with the argument `tool`. It takes no state.
    #[must_use]
    pub fn tool<N>(mut self) -> Self
    where
        N: Tool<(), Output: ToolValue>,
    {
        // A schema that cannot be sent is reported by the check before the first request.
        let schema = N::arguments().source.schema().ok().flatten();
        let schema = schema
            .unwrap_or_else(|| Arc::new(OutputSchema::from_value(N::NAME, Value::Bool(false))));
        self.tools.push(Arc::new(Dynamic {
            spec: spec::<N, ()>(schema),
            tool: Arc::new(TypedTool::<N>::new()),
            require_approval: N::REQUIRE_APPROVAL,
            idempotent: true,
        }));
        self
    }

    /// Adds a tool that calls nodes in the context of the agent's call. Its
    /// arguments are checked against the schema.
    #[must_use]
    pub fn calling(
        self,
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        schema: impl Into<Value>,
        function: Arc<ToolFn>,
    ) -> Self {
        let name = name.into();
        let parser = Untyped::by_schema(&name, schema.into());
        let spec = ToolSpec::new(name, description, Arc::clone(&parser.schema));
        self.add(spec, ContextTool { parser, function })
    }

    /// Returns the names of the tools, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|tool| &*tool.spec.name)
    }

    /// Keeps the tools of these names, in the order of the set.
    #[must_use]
    pub fn only<N: AsRef<str>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        let names: Vec<N> = names.into_iter().collect();
        self.tools
            .retain(|tool| names.iter().any(|name| name.as_ref() == tool.spec.name));
        self
    }

    /// Returns whether some tool in the set waits: for an approval before it runs,
    /// or for a result from outside.
    pub fn may_pause(&self) -> bool {
        self.tools
            .iter()
            .any(|tool| tool.require_approval || tool.tool.is_external())
    }

    /// Returns the same names, descriptions and schemas as tools that [hand off](Toolset::handoff).
    #[must_use]
    pub fn as_handoffs(mut self, to: usize) -> Self {
        let hands_off = Some(to);
        self.tools = self.changed(|tool| tool.tool = Arc::new(ExternalTool { hands_off }));
        self
    }

    /// Adds a tool whose call ends the turns of the agent: who made the call goes
    /// on elsewhere. `to` is for the caller, who gets it back. In a call that takes
    /// no handoff it is a tool [without a body](Toolset::external).
    #[must_use]
    pub fn handoff(self, spec: ToolSpec, to: usize) -> Self {
        let hands_off = Some(to);
        self.add(spec, ExternalTool { hands_off })
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
        self.add(spec, ExternalTool { hands_off: None })
    }

    /// Lets every function in the set wait for an [approval](crate::Approval).
    #[must_use]
    pub fn require_approval(mut self) -> Self {
        self.tools = self.changed(|tool| tool.require_approval = true);
        self
    }

    /// Sets whether functions in the set may be executed again with the same
    /// arguments, such as after a crash. Default: `true`. With `false`, a function
    /// is never repeated: [resuming a flow](crate::Category::ConfigError) in the
    /// middle of it is refused, with its name.
    #[must_use]
    pub fn idempotent(mut self, idempotent: bool) -> Self {
        self.tools = self.changed(|tool| tool.idempotent = idempotent);
        self
    }

    /// Lists the tools of the set only when they are needed: for many tools, as of
    /// several MCP servers, whose descriptions would fill the model's window and
    /// make it choose badly. The model finds them by a tool `search_tools`, which
    /// is added.
    ///
    /// The first request lists the five tools whose words fit the question best,
    /// and each search adds up to five for the rest of the conversation. A search
    /// takes one of the agent's turns, and is no call of a tool in
    /// [`Limits`](crate::Limits). A tool that the model calls without a search runs
    /// at once. Approvals, journals and records are as ever those of the tool.
    /// Where a new tool would make the provider read a long prompt again, the model
    /// reads the tool's schema in the result of the search, and calls it by a tool
    /// `call_tool`. Anthropic, and OpenAI by the Responses API, search themselves
    /// at their own hosts.
    ///
    /// All are listed if there are fewer than 20 tools, since a search would cost
    /// more, or if at most 50 are deferred, whose descriptions and schemas take less
    /// than a tenth of the model's window: the one that
    /// [`Settings::window`](crate::Settings::window) or the prices state, else of
    /// 8,192 tokens. Default: all tools are listed.
    ///
    /// # Errors
    /// A call is a `config_error` if a tool or the output is itself called
    /// `search_tools` or `call_tool`.
    ///
    /// ```
    /// # use llmnode_runtime as llmnode;
    /// use llmnode::{BoxError, Toolset};
    /// use serde_json::{Value, json};
    ///
    /// let mut tools = Toolset::new();
    /// for thing in ["issue", "label", "release"] {
    ///     let delete = |_: Value| async { Ok::<_, BoxError>("deleted") };
    ///     let schema = json!({"type": "object", "properties": {"id": {"type": "integer"}}});
    ///     let description = format!("Deletes a {thing}.");
    ///     tools = tools.json_function(format!("delete_{thing}"), description, schema, delete);
    /// }
    /// let tools = tools.deferred().always(["delete_issue"]);
    /// # let _ = tools;
    /// ```
    #[must_use]
    pub fn deferred(mut self) -> Self {
        self.tools = self.changed(|tool| tool.spec.deferred = true);
        self
    }

    /// Lists the tools of these names in every request, in a set that is
    /// [`deferred`](Toolset::deferred): those that nearly every question needs.
    /// Names that no tool of the set has are ignored.
    #[must_use]
    pub fn always<N: AsRef<str>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        let names: Vec<N> = names.into_iter().collect();
        self.tools = self.changed(|tool| {
            let is_named = names.iter().any(|name| name.as_ref() == tool.spec.name);
            tool.spec.deferred &= !is_named;
        });
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

    fn add(mut self, spec: ToolSpec, tool: impl AnyTool<()> + 'static) -> Self {
        self.tools.push(Arc::new(Dynamic {
            spec,
            tool: Arc::new(tool),
            require_approval: false,
            idempotent: true,
        }));
        self
    }

    pub(super) fn tools(&self) -> impl Iterator<Item = &Arc<Dynamic>> {
        self.tools.iter()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }
}

fn read<A: Argument>(arguments: &str, schema: &OutputSchema) -> Result<A, Vec<Violation>> {
    let spec: OutputSpec<A, ()> = OutputSpec::json(|_| {}, |_, _| {});
    let mut value = None;
    spec.read(arguments, Some(schema), Reader::new(), &mut value)?;
    value.ok_or_else(|| vec![Violation::new("", "there are none")])
}

impl fmt::Debug for Toolset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.tools.iter().map(|tool| &tool.spec.name))
            .finish()
    }
}
