//! A visit of an agent: its request, and what becomes of the answer.
//!
//! The agent sees the conversation as its own (`view`), calls its tools in its loop, and writes its answer. A call that leads to
//! another node of the flow ends the visit, and becomes the action that the flow follows.

use std::collections::BTreeMap;
use std::time::Duration;

use llmnode_runtime::ext::{AgentOutcome, Handoff};
use llmnode_runtime::internal::CxInternals as _;
use llmnode_runtime::{
    BoxError, BoxFuture, Category, DynNode, Exec, Message, NodeError, Role, Toolset,
};
use serde_json::Value;

use super::calls::{query_of, with_links};
use super::json_template::{JsonTemplate, Members};
use super::tool::{ExecutedCall, arguments_of, trace};
use crate::facts::TOOL_CALL;
use crate::graph::loaded::{GraphNode, GraphStep, NodeContext};
use crate::graph::roles::{LinkKind, ToolLink};
use crate::graph::step::handoff_key;
use crate::state::{Update, text_of, view};
use crate::template::Template;

/// What of an answer is written as values.
pub(super) enum Answer {
    Text,
    /// An object with any members, of which only these declared values are written.
    Flexible(Vec<String>),
    Members(Vec<String>),
}

/// A loaded `agent`.
pub(super) struct Agent {
    pub(super) node: DynNode,
    pub(super) profile: Option<String>,
    pub(super) system: Option<Template>,
    pub(super) prompt: Option<Template>,
    pub(super) choices: Members,
    pub(super) tools: Toolset,
    pub(super) links: Vec<ToolLink>,
    pub(super) answer: Answer,
    pub(super) save_as: Option<String>,
}

/// Undeclared values are anybody's. A declared one needs the node to list it.
fn may_write(step: &GraphStep, listed: &[String], key: &str) -> bool {
    let is_free = !key.starts_with('_') && key != "messages" && !step.is_declared(key);
    is_free || listed.iter().any(|one| one == key)
}

impl Answer {
    /// Whether a member of the answer is written as a value of the state.
    fn writes(&self, step: &GraphStep, key: &str) -> bool {
        match self {
            Answer::Text => false,
            Answer::Members(keys) => keys.iter().any(|listed| listed == key),
            Answer::Flexible(listed) => may_write(step, listed, key),
        }
    }
}

/// The texts of a list of choices. `None`: it is no list, or has something else in it.
fn choices_of(list: &Value) -> Option<Vec<String>> {
    let mut choices = Vec::new();
    for choice in list.as_array()? {
        choices.push(match choice {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        });
    }
    Some(choices)
}

/// If the conversation does not end with a message to answer.
const CONTINUE_MESSAGE: &str = "Go on.";

impl GraphNode for Agent {
    fn exec<'a>(&'a self, visit: &'a NodeContext<'a>) -> BoxFuture<'a, Result<Update, BoxError>> {
        Box::pin(async move {
            self.check_profile(visit)?;
            let node = self.prepared(visit)?;
            // Who called it as a tool waits for its answer, so it hands nothing off.
            let outcome = if visit.step.is_called() {
                AgentOutcome::Answer(node.exec(visit.cx()).await?)
            } else {
                node.exec_or_hand_off(visit.cx()).await?
            };
            let update = match outcome {
                AgentOutcome::Answer(answer) => self.answered(visit, answer),
                AgentOutcome::HandedOff(handoff) => self.handed_off(&handoff),
            };
            Ok(self.traced(visit, update))
        })
    }
}

impl Agent {
    /// A run that was made without the registry may lack the model of a profile.
    fn check_profile(&self, visit: &NodeContext<'_>) -> Result<(), NodeError> {
        let Some(profile) = &self.profile else {
            return Ok(());
        };
        if visit.cx().has_model(profile) {
            return Ok(());
        }
        let id = visit.id();
        let message = format!(
            "the node `{id}` asks the model {profile:?}, which the run does not have: make the run by `registry.run(..)`, or add the model to it"
        );
        Err(NodeError::new(Category::ConfigError, message))
    }

    /// The node with all that this visit asks of it.
    fn prepared(&self, visit: &NodeContext<'_>) -> Result<DynNode, NodeError> {
        let node = self
            .node
            .chat(self.messages(visit)?)
            .system(self.system(visit)?);
        let node = node.tools(with_links(self.tools.clone(), &self.links, visit));
        let node = self.with_choices(node, visit)?;
        let Answer::Flexible(listed) = &self.answer else {
            return Ok(node);
        };
        let step = visit.step.clone();
        let listed = listed.clone();
        Ok(node.flagging(move |member| !may_write(&step, &listed, member)))
    }

    /// Untrusted text is fenced, since files of React Flow may use it here.
    fn system(&self, visit: &NodeContext<'_>) -> Result<String, NodeError> {
        let Some(template) = &self.system else {
            return Ok(String::new());
        };
        visit.render_fenced(template, |name| visit.is_untrusted(name))
    }

    /// Limits members of the answer to values that the state has by now.
    fn with_choices(&self, node: DynNode, visit: &NodeContext<'_>) -> Result<DynNode, NodeError> {
        let mut node = node;
        for (path, list) in JsonTemplate::object(&self.choices, visit)? {
            let Some(values) = choices_of(&list) else {
                let id = visit.id();
                let message = format!(
                    "the choices of `{path}` in the node `{id}` are no list of texts and numbers"
                );
                return Err(NodeError::new(Category::PrepError, message));
            };
            node = node.choices(path, values);
        }
        Ok(node)
    }

    /// The conversation as the agent sees it, with something to answer at its end.
    fn messages(&self, visit: &NodeContext<'_>) -> Result<Vec<Message>, NodeError> {
        let mut messages = view(visit.state(), visit.id(), |id| {
            visit.step.loaded.label_of(id).to_owned()
        });
        if let Some(prompt) = &self.prompt {
            let prompt = visit.render_fenced(prompt, |name| visit.step.is_retrieved(name))?;
            messages.push(Message::user(prompt));
            return Ok(messages);
        }
        let has_question = match messages.last() {
            Some(last) => matches!(last.role, Role::User | Role::Tool),
            None => false,
        };
        if !has_question {
            messages.push(Message::user(CONTINUE_MESSAGE));
        }
        Ok(messages)
    }

    /// What the answer writes: its text, and those of its members that the node may write.
    fn answered(&self, visit: &NodeContext<'_>, answer: Value) -> Update {
        let update = Update::new().with_message(Message::assistant(text_of(&answer).into_owned()));
        let mut update = update.saving(self.save_as.as_ref(), || answer.clone());
        let Value::Object(members) = answer else {
            return update;
        };
        for (key, value) in members {
            if self.answer.writes(visit.step, &key) {
                update = update.with_value(key, value);
            }
        }
        update
    }

    /// Writes the trace of the agent's own tools, if an executor of the file shows it.
    fn traced(&self, visit: &NodeContext<'_>, update: Update) -> Update {
        let executor = self
            .links
            .iter()
            .find(|link| link.kind == LinkKind::Executor);
        let Some(executor) = executor else {
            return update;
        };
        let (messages, records) = visit.cx().tool_conversation();
        let mut times: BTreeMap<&str, Duration> = BTreeMap::new();
        for record in &records {
            times.insert(&record.id, record.elapsed);
        }
        let mut executed = Vec::new();
        for call in messages.iter().flat_map(Message::calls) {
            if !self.tools.names().any(|name| name == call.name) {
                continue;
            }
            let result = messages
                .iter()
                .find(|message| message.answers() == Some(call.id.as_str()));
            let Some(result) = result else {
                continue;
            };
            executed.push(ExecutedCall {
                name: call.name.clone(),
                arguments: arguments_of(&call.arguments),
                result: result.content.clone(),
                failed: result.is_failure(),
                time: times.get(call.id.as_str()).copied().unwrap_or_default(),
            });
        }
        if executed.is_empty() {
            return update;
        }
        update.with_value(&*executor.id, trace(executed))
    }

    /// The visit ends with a call, and the flow continues where its link leads.
    fn handed_off(&self, handoff: &Handoff) -> Update {
        let link = &self.links[handoff.to()];
        let is_executed_there = link.kind == LinkKind::ExecutorStep;
        let messages = handoff.round(|call| {
            if is_executed_there && call.to == handoff.to() {
                // Its result comes from there.
                None
            } else if call.is_first {
                Some(format!("handed to {}", link.label))
            } else {
                Some(format!(
                    "not executed: the conversation was handed to {}",
                    link.label
                ))
            }
        });
        let mut update = Update::new();
        for message in messages {
            update = update.with_message(message);
        }
        let update = update.with_action(format!("{TOOL_CALL}:{}", link.id));
        if is_executed_there {
            return update;
        }
        update.with_value(handoff_key(&link.id), query_of(handoff.call()))
    }
}
