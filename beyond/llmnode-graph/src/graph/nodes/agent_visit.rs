//! A visit of an agent: its request, and what becomes of the answer.

use std::collections::BTreeMap;
use std::time::Duration;

use llmnode_runtime::internal::{AgentOutcome, CxInternals as _, Handoff};
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

pub(super) enum Answer {
    Text,
    /// An object with any members, of which only these declared values are written.
    Flexible(Vec<String>),
    Members(Vec<String>),
}

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

fn may_write(step: &GraphStep, listed: &[String], key: &str) -> bool {
    let is_free = !key.starts_with('_') && key != "messages" && !step.is_declared(key);
    is_free || listed.iter().any(|one| one == key)
}

/// If the conversation does not end with a message to answer.
const CONTINUE_MESSAGE: &str = "Go on.";

impl GraphNode for Agent {
    fn exec<'a>(&'a self, visit: &'a NodeContext<'a>) -> BoxFuture<'a, Result<Update, BoxError>> {
        Box::pin(async move {
            if let Some(profile) = self
                .profile
                .as_ref()
                .filter(|profile| !visit.cx().has_model(profile))
            {
                let id = visit.id();
                let message = format!(
                    "the node `{id}` asks the model {profile:?}, which the run does not have: make the run by `registry.run(..)`, or add the model to it"
                );
                return Err(NodeError::new(Category::ConfigError, message).into());
            }
            let ask = self
                .node
                .chat(self.messages(visit)?)
                .system(self.system(visit)?);
            let ask = ask.tools(with_links(self.tools.clone(), &self.links, visit));
            let ask = self.with_choices(ask, visit)?;
            let ask = match &self.answer {
                Answer::Flexible(listed) => {
                    let (step, listed) = (visit.step.clone(), listed.clone());
                    ask.flagging(move |member| !may_write(&step, &listed, member))
                }
                _ => ask,
            };
            // Who called it as a tool waits for its answer, so it hands nothing off.
            let outcome = if visit.step.is_called() {
                AgentOutcome::Answer(ask.exec(visit.cx()).await?)
            } else {
                ask.exec_or_hand_off(visit.cx()).await?
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
    /// Untrusted text is fenced, since files of React Flow may use it here.
    fn system(&self, visit: &NodeContext<'_>) -> Result<String, NodeError> {
        let Some(template) = &self.system else {
            return Ok(String::new());
        };
        visit.render_fenced(template, |name| visit.is_untrusted(name))
    }

    fn with_choices(&self, ask: DynNode, visit: &NodeContext<'_>) -> Result<DynNode, NodeError> {
        let lists = JsonTemplate::object(&self.choices, visit)?;
        lists.into_iter().try_fold(ask, |ask, (path, list)| {
            let choice = |value: &Value| match value {
                Value::String(text) => Some(text.clone()),
                Value::Number(number) => Some(number.to_string()),
                _ => None,
            };
            let values = list
                .as_array()
                .and_then(|list| list.iter().map(choice).collect::<Option<Vec<_>>>());
            let values = values.ok_or_else(|| {
                let id = visit.id();
                let message = format!(
                    "the choices of `{path}` in the node `{id}` are no list of texts and numbers"
                );
                NodeError::new(Category::PrepError, message)
            })?;
            Ok(ask.choices(path, values))
        })
    }

    fn messages(&self, visit: &NodeContext<'_>) -> Result<Vec<Message>, NodeError> {
        let mut messages = view(visit.state(), visit.id(), |id| {
            visit.step.loaded.label_of(id).to_owned()
        });
        if let Some(prompt) = &self.prompt {
            let prompt = visit.render_fenced(prompt, |name| visit.step.is_retrieved(name))?;
            messages.push(Message::user(prompt));
        } else if !messages
            .last()
            .is_some_and(|last| matches!(last.role, Role::User | Role::Tool))
        {
            messages.push(Message::user(CONTINUE_MESSAGE));
        }
        Ok(messages)
    }

    fn answered(&self, visit: &NodeContext<'_>, answer: Value) -> Update {
        let update = Update::new().with_message(Message::assistant(text_of(&answer).into_owned()));
        let update = update.saving(self.save_as.as_ref(), || answer.clone());
        let (Value::Object(members), answers) = (answer, &self.answer) else {
            return update;
        };
        let is_written = |key: &str| match answers {
            Answer::Text => false,
            Answer::Members(keys) => keys.iter().any(|one| one == key),
            Answer::Flexible(listed) => may_write(visit.step, listed, key),
        };
        let written = members.into_iter().filter(|(key, _)| is_written(key));
        written.fold(update, |update, (key, value)| update.with_value(key, value))
    }

    fn traced(&self, visit: &NodeContext<'_>, update: Update) -> Update {
        let Some(executor) = self
            .links
            .iter()
            .find(|link| link.kind == LinkKind::Executor)
        else {
            return update;
        };
        let (messages, records) = visit.cx().tool_conversation();
        let times: BTreeMap<&str, Duration> = records
            .iter()
            .map(|record| (record.id.as_str(), record.elapsed))
            .collect();
        let own: Vec<&str> = self.tools.names().collect();
        let result = |id: &str| {
            messages
                .iter()
                .find(|message| message.answers() == Some(id))
        };
        let calls = messages
            .iter()
            .flat_map(Message::calls)
            .filter(|call| own.contains(&call.name.as_str()));
        let ran = calls.filter_map(|call| {
            let result = result(&call.id)?;
            Some(ExecutedCall {
                name: call.name.clone(),
                arguments: arguments_of(&call.arguments),
                result: result.content.clone(),
                failed: result.is_failure(),
                time: times.get(call.id.as_str()).copied().unwrap_or_default(),
            })
        });
        let ran: Vec<ExecutedCall> = ran.collect();
        if ran.is_empty() {
            update
        } else {
            update.with_value(&*executor.id, trace(ran))
        }
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
        let update = messages
            .into_iter()
            .fold(Update::new(), Update::with_message)
            .with_action(format!("{TOOL_CALL}:{}", link.id));
        if is_executed_there {
            update
        } else {
            update.with_value(handoff_key(&link.id), query_of(handoff.call()))
        }
    }
}
