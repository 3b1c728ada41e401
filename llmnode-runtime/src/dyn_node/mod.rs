//! Nodes that are set up at run time: text in, text or JSON of a schema out, failures as data.
//!
//! If the prompt is known at compile time, `#[llm_node]` checks more of it. A [`DynNode`] is for programs that get the
//! name, the instruction and the schema from somewhere else. It has the same attempt loop, recovery, limits and
//! ledger.

mod builder;
mod payload;
mod response;
mod supported;

pub use builder::DynNodeBuilder;
use payload::Payload;
pub use response::Response;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::error::NodeError;
use crate::node::{Node, NodeFacts};
use crate::output::{AnswerKind, OutputSpec, Untyped};
use crate::prompt::fenced;
use crate::prompt::generated::{Prompt, Segment};
use crate::run::{
    AgentOutcome, Choices, ChosenValues, Compact, Cx, Exec, LlmNode, Run, Sources, SumUp, Summary,
    Tools, Toolset, Transcript, exec_or_hand_off, walk_json,
};
use crate::settings::{EMPTY_SETTINGS, NodeKind, Recovery, Settings, Stacks};
use llmnode_model::BoxError;
use llmnode_model::BoxFuture;
use llmnode_model::Category;
use llmnode_model::Message;
use llmnode_reader::OutputSchema;

/// A node that asks a model, set up at run time: an instruction, a schema for the answer, settings. Clones share them.
/// [`ask`](DynNode::ask) and [`chat`](DynNode::chat) give it its input. Its output is the JSON of the answer, which conforms
/// to the schema, or a JSON text if the node answers [text](DynNodeBuilder::text).
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::{Category, DynNode, Run, ScriptedModel, Recovery};
/// use serde_json::json;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let extract = DynNode::builder("extract")
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
pub struct DynNode {
    setup: Arc<Setup>,
    input: Input,
    history: Vec<Message>,
    system: Option<String>,
    tools: Option<Toolset>,
    choices: Vec<(String, BTreeSet<String>)>,
}

#[derive(Clone)]
struct Setup {
    name: Cow<'static, str>,
    system_prompt: String,
    examples: Vec<(String, Value)>,
    output: Option<Untyped>,
    settings: Settings,
    tools: Toolset,
    turns: Option<u32>,
    compact: Option<Compact>,
    summariser: Option<DynNode>,
}

/// A node that sums up a part of a conversation.
struct Summariser(DynNode);

impl<S: ?Sized + Sync> SumUp<S> for Summariser {
    fn sum_up<'a>(
        &'a self,
        part: Transcript,
        sources: Sources,
        cx: Cx<'a, S>,
    ) -> BoxFuture<'a, Result<Summary, NodeError>> {
        let node = self.0.ask(fenced(&part.to_string()));
        Box::pin(async move {
            let value = cx.call(&node).quoting(sources).await?;
            serde_json::from_value(value).map_err(|error| {
                let why = format!("what sums up the conversation returned no `Summary`: {error}");
                NodeError::new(Category::SchemaError, why).with_source(error)
            })
        })
    }
}

#[derive(Clone, Debug)]
enum Input {
    Missing,
    Payload(Payload),
    /// The history ends with the message to answer.
    Chat,
}

impl DynNode {
    fn new(setup: Setup) -> Self {
        DynNode {
            setup: Arc::new(setup),
            input: Input::Missing,
            history: Vec::new(),
            system: None,
            tools: None,
            choices: Vec::new(),
        }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.setup.name
    }

    /// Returns the schema of the answers, as it is sent. `None`: they are text.
    pub fn schema(&self) -> Option<&OutputSchema> {
        self.setup.output.as_ref().map(|output| &*output.schema)
    }

    /// Returns the steps that follow a failure of this category, in order. A call may override them.
    pub fn policy_stack(&self, category: Category) -> Vec<Recovery> {
        let answers = if self.setup.output.is_some() {
            AnswerKind::Json
        } else {
            AnswerKind::RawText
        };
        let levels = [
            EMPTY_SETTINGS,
            EMPTY_SETTINGS,
            &self.setup.settings,
            EMPTY_SETTINGS,
        ];
        Stacks::new(levels, NodeKind::from_facts(&DynNode::FACTS, Some(answers)))
            .full_stack(category)
    }

    /// Returns the node with this input, for [`Run::call`] and [`Run::map`].
    ///
    /// The payload is a text, or JSON that contains one: a string, or an object with a string as its first property
    /// of `prompt`, `content` and `input`. Anything else is a `schema_error` of the call, with the reason
    /// `invalid_payload`. The text is the user message, byte for byte.
    #[must_use]
    pub fn ask(&self, payload: impl Into<Value>) -> DynNode {
        DynNode {
            input: Input::Payload(Payload::new(payload.into())),
            ..self.clone()
        }
    }

    /// Returns the node with a conversation as its input. The model answers its last message.
    #[must_use]
    pub fn chat(&self, messages: impl Into<Vec<Message>>) -> DynNode {
        DynNode {
            input: Input::Chat,
            history: messages.into(),
            ..self.clone()
        }
    }

    /// Calls the node with this input, and returns failures as data. The run's state is not used.
    pub async fn respond<S: Sync>(&self, run: &Run<S>, payload: impl Into<Value>) -> Response {
        Response::from(run.call(&self.ask(payload)).report().await)
    }

    /// Sets which values the answer may have at a path, such as `item` or `steps[].tool`. They are part of the
    /// schema that is sent, and the answer is checked.
    #[must_use]
    pub fn choices(
        mut self,
        path: impl Into<String>,
        values: impl IntoIterator<Item = impl fmt::Display>,
    ) -> Self {
        self.choices.push((
            path.into(),
            values.into_iter().map(|value| value.to_string()).collect(),
        ));
        self
    }

    /// Puts earlier messages of a conversation before the payload.
    #[must_use]
    pub fn history(mut self, messages: impl Into<Vec<Message>>) -> Self {
        self.history = messages.into();
        self
    }

    /// Replaces the system message.
    #[must_use]
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.system = Some(text.into());
        self
    }

    /// Flags the properties of the answer that this function selects: they are left out of what is done with it.
    #[must_use]
    pub fn flagging(mut self, is_left_out: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        let setup = Arc::make_mut(&mut self.setup);
        setup.output = setup
            .output
            .take()
            .map(|output| output.flagging(is_left_out));
        self
    }

    /// Replaces the tools.
    #[must_use]
    pub fn tools(mut self, tools: Toolset) -> Self {
        self.tools = Some(tools);
        self
    }
}

impl fmt::Debug for DynNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynNode")
            .field("name", &self.setup.name)
            .field("output", &self.schema().map_or("text", OutputSchema::name))
            .field("settings", &self.setup.settings)
            .field("input", &self.input)
            .finish_non_exhaustive()
    }
}

#[diagnostic::do_not_recommend]
impl Node for DynNode {
    type Output = Value;
    const NAME: &'static str = "dyn_node";
    const FACTS: NodeFacts = NodeFacts::new()
        .description("Asks a model with an instruction known at run time.")
        .retries_itself(true);

    fn name(&self) -> Cow<'static, str> {
        self.setup.name.clone()
    }

    fn settings(&self) -> &Settings {
        &self.setup.settings
    }
}

#[diagnostic::do_not_recommend]
impl<S: ?Sized + Sync> Exec<S> for DynNode {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<Value, BoxError> {
        self.check_input()?;
        crate::run::exec(self, cx).await
    }
}

impl DynNode {
    /// As [`Exec::exec`], for a caller that goes on elsewhere when a tool [hands off](crate::Toolset::handoff).
    pub async fn exec_or_hand_off<S: ?Sized + Sync>(
        &self,
        cx: &Cx<'_, S>,
    ) -> Result<AgentOutcome<Value>, BoxError> {
        self.check_input()?;
        exec_or_hand_off(self, cx).await
    }

    /// There is one, and it can be written as JSON.
    fn check_input(&self) -> Result<(), NodeError> {
        match &self.input {
            Input::Missing => {
                let message = format!(
                    "the node `{}` has no input: `ask` or `chat` gives it one",
                    self.setup.name
                );
                Err(NodeError::new(Category::PrepError, message))
            }
            Input::Payload(payload) => match payload.text() {
                Ok(_) => Ok(()),
                Err(fault) => {
                    let error = NodeError::new(Category::SchemaError, fault.to_string());
                    Err(error.with_source(fault))
                }
            },
            Input::Chat => Ok(()),
        }
    }

    /// Every node of this type has a place for earlier messages, so that an empty one says nothing of a chat.
    fn write_history(&self, to: &mut Prompt) {
        to.history(&self.history);
        if self.history.is_empty() {
            to.is_single();
        }
    }
}

impl<S: ?Sized + Sync> LlmNode<S> for DynNode {
    fn render(&self, state: &S, to: &mut Prompt) {
        to.system(&[Segment::value(
            self.system.as_ref().unwrap_or(&self.setup.system_prompt),
        )]);
        if !self.setup.examples.is_empty() {
            to.examples(self, state, || self.setup.examples.clone());
        }
        self.write_history(to);
        if let Input::Payload(payload) = &self.input
            && let Ok(text) = payload.text()
        {
            to.user(&[Segment::value(text)]);
        }
    }

    fn own_values(&self, _: &S, to: &mut Prompt) -> bool {
        if let Input::Payload(payload) = &self.input
            && let Ok(text) = payload.text()
        {
            to.user(&[Segment::value(text)]);
        }
        self.write_history(to);
        true
    }

    fn output(&self) -> OutputSpec<Value, S> {
        self.setup
            .output
            .clone()
            .map_or_else(OutputSpec::raw, OutputSpec::untyped)
    }

    fn choices(&self, _: &S, to: &mut Choices) {
        for (path, values) in &self.choices {
            to.add(path.clone(), "…", values.clone());
        }
    }

    fn chosen(&self, value: &Value, _: usize, to: &mut ChosenValues) {
        walk_json(value, to);
    }

    fn tools(&self, to: &mut Tools<S>) {
        let Setup {
            tools,
            turns,
            compact,
            summariser,
            ..
        } = &*self.setup;
        to.extend(self.tools.as_ref().unwrap_or(tools));
        turns.iter().for_each(|turns| to.turns(*turns));
        if let Some(rules) = compact {
            to.compact(*rules);
        }
        if let Some(node) = summariser {
            to.summed_up(Box::new(Summariser(node.clone())));
        }
    }
}
