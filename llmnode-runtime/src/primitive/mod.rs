//! Primitives: stateless calls of a model that are set up at run time. Text in, text or JSON of a schema out, failures
//! as data.
//!
//! If the prompt is known at compile time, `#[llm_node]` checks more of it. A primitive is for programs that get the
//! name, the instruction and the schema from somewhere else. It has the same attempt loop, recovery, limits and
//! ledger.

mod builder;
mod payload;
mod response;
mod supported;

pub use builder::PrimitiveBuilder;
use payload::Payload;
pub use response::Response;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::error::NodeError;
use crate::node::Node;
use crate::output::{AnswerKind, OutputSpec, Untyped};
use crate::prompt::generated::{Prompt, Segment};
use crate::run::{Choices, Cx, Exec, LlmNode, Run, Tools, Toolset, walk_json};
use crate::settings::{EMPTY_SETTINGS, NodeKind, Recovery, Settings, Stacks};
use llmnode_model::BoxError;
use llmnode_model::Category;
use llmnode_model::Message;
use llmnode_reader::OutputSchema;

/// A stateless call of a model, set up at run time: an instruction, a schema for the answer, settings. It is
/// immutable, and clones share it.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::{Category, Primitive, Run, ScriptedModel, Recovery};
/// use serde_json::json;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let extract = Primitive::builder("extract")
///     .system_prompt("Extract the city from the user's text.")
///     .output_schema(json!({
///         "type": "object",
///         "properties": {"city": {"type": "string"}},
///         "required": ["city"]
///     }))
///     .retries(1)
///     .build()?;
/// assert_eq!(extract.policy_stack(Category::SchemaError), [Recovery::repair(1), Recovery::Bubble]);
///
/// let run = Run::new(ScriptedModel::new().reply(r#"{"town": 1}"#).reply(r#"{"city": "Oslo"}"#));
/// assert_eq!(run.call(&extract.ask("Greetings from Oslo!")).await?, json!({"city": "Oslo"}));
///
/// let response = extract.respond(&run, "Greetings!").await; // the script has ended
/// assert_eq!((response.success, response.reason), (false, Some("config_error")));
/// # Ok::<(), llmnode::NodeError>(()) }).unwrap();
/// ```
#[derive(Clone)]
pub struct Primitive(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    name: Cow<'static, str>,
    system_prompt: String,
    /// `None`: the answer is text.
    output: Option<Untyped>,
    settings: Settings,
    tools: Toolset,
    turns: Option<u32>,
}

impl Primitive {
    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the schema of the answers, as it is sent. `None`: they are text.
    pub fn schema(&self) -> Option<&OutputSchema> {
        self.0.output.as_ref().map(|output| &*output.schema)
    }

    /// Returns the steps that follow a failure of this category, in order. A call may override them.
    pub fn policy_stack(&self, category: Category) -> Vec<Recovery> {
        let answers = if self.0.output.is_some() { AnswerKind::Json } else { AnswerKind::RawText };
        Stacks::new([EMPTY_SETTINGS, EMPTY_SETTINGS, &self.0.settings], NodeKind::of::<Ask>(Some(answers)))
            .full_stack(category)
    }

    /// Returns a call of the primitive as a node, for [`Run::call`] and [`Run::map`].
    ///
    /// The payload is a text, or JSON that contains one: a string, or an object with a string as its first property
    /// of `prompt`, `content` and `input`. Anything else is a `schema_error` of the call, with the reason
    /// `invalid_payload`. The text is the user message, byte for byte.
    pub fn ask(&self, payload: impl Into<Value>) -> Ask {
        let payload = Some(Payload::new(payload.into()));
        Ask {
            primitive: self.clone(),
            payload,
            history: Vec::new(),
            system: None,
            tools: None,
            choices: Vec::new(),
        }
    }

    /// Returns a call of the primitive that continues a conversation. The model answers its last message.
    pub fn chat(&self, messages: impl Into<Vec<Message>>) -> Ask {
        let history = messages.into();
        Ask {
            primitive: self.clone(),
            payload: None,
            history,
            system: None,
            tools: None,
            choices: Vec::new(),
        }
    }

    /// Calls the primitive, and returns failures as data. The run's state is not used.
    pub async fn respond<S: Sync>(&self, run: &Run<S>, payload: impl Into<Value>) -> Response {
        let ask = self.ask(payload);
        Response::from(run.call(&ask).report().await)
    }
}

impl fmt::Debug for Primitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Primitive")
            .field("name", &self.0.name)
            .field("output", &self.schema().map_or("text", OutputSchema::name))
            .field("settings", &self.0.settings)
            .finish_non_exhaustive()
    }
}

/// A call of a [`Primitive`]: a node with the primitive's name. Its output is the JSON of the answer, which conforms
/// to the schema, or a JSON text if the primitive answers [text](PrimitiveBuilder::text).
#[derive(Clone, Debug)]
pub struct Ask {
    primitive: Primitive,
    /// `None`: the history ends with the message to answer.
    payload: Option<Payload>,
    history: Vec<Message>,
    system: Option<String>,
    tools: Option<Toolset>,
    choices: Vec<(String, BTreeSet<String>)>,
}

impl Ask {
    /// Sets which values the answer may have at a path, such as `item` or `steps[].tool`. They stand in the schema that
    /// is sent, and the answer is checked.
    #[must_use]
    pub fn choices(
        mut self,
        path: impl Into<String>,
        values: impl IntoIterator<Item = impl fmt::Display>,
    ) -> Self {
        self.choices.push((path.into(), values.into_iter().map(|value| value.to_string()).collect()));
        self
    }

    /// Puts earlier messages of a conversation before the payload.
    #[must_use]
    pub fn history(mut self, messages: impl Into<Vec<Message>>) -> Self {
        self.history = messages.into();
        self
    }

    /// Replaces the primitive's system message.
    #[must_use]
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.system = Some(text.into());
        self
    }

    /// Flags the properties of the answer that this function selects: they are left out of what is done with it.
    #[doc(hidden)]
    #[must_use]
    pub fn flagging(mut self, is_left_out: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        let mut inner = Inner::clone(&self.primitive.0);
        inner.output = inner.output.map(|output| output.flagging(is_left_out));
        self.primitive = Primitive(Arc::new(inner));
        self
    }

    /// Replaces the primitive's tools.
    #[must_use]
    pub fn tools(mut self, tools: Toolset) -> Self {
        self.tools = Some(tools);
        self
    }
}

#[diagnostic::do_not_recommend]
impl Node for Ask {
    type Output = Value;
    const NAME: &'static str = "primitive";
    const DESCRIPTION: &'static str = "Asks a model with an instruction known at run time.";

    fn name(&self) -> Cow<'static, str> {
        self.primitive.0.name.clone()
    }

    fn settings(&self) -> &Settings {
        &self.primitive.0.settings
    }
}

#[diagnostic::do_not_recommend]
impl<S: ?Sized + Sync> Exec<S> for Ask {
    const TRIES_ITSELF: bool = true;

    async fn exec(&self, cx: &Cx<'_, S>) -> Result<Value, BoxError> {
        if let Some(Err(fault)) = self.payload.as_ref().map(Payload::text) {
            return Err(NodeError::new(Category::SchemaError, fault.to_string()).with_source(fault).into());
        }
        crate::run::exec(self, cx).await
    }
}

impl<S: ?Sized + Sync> LlmNode<S> for Ask {
    fn render(&self, _: &S, to: &mut Prompt) {
        to.system(&[Segment::value(self.system.as_ref().unwrap_or(&self.primitive.0.system_prompt))]);
        to.history(&self.history);
        if let Some(Ok(text)) = self.payload.as_ref().map(Payload::text) {
            to.user(&[Segment::value(text)]);
        }
    }

    fn output(&self) -> OutputSpec<Value, S> {
        self.primitive.0.output.clone().map_or_else(OutputSpec::raw, OutputSpec::untyped)
    }

    fn choices(&self, _: &S, to: &mut Choices<Value>) {
        for (path, values) in &self.choices {
            to.add(path.clone(), "…", values.clone(), walk_json);
        }
    }

    fn tools(&self, to: &mut Tools<S>) {
        let Inner { tools, turns, .. } = &*self.primitive.0;
        to.extend(self.tools.as_ref().unwrap_or(tools));
        turns.iter().for_each(|turns| to.turns(*turns));
    }
}
