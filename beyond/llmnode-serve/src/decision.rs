//! What a person decides about what waits. Texts come as they were typed, and are
//! read here: a script would change long integers.

use std::collections::BTreeMap;

use llmnode_graph::CheckedRegistry;
use llmnode_graph::ext::{exact_json, refused_arguments};
use llmnode_model::Message;
use llmnode_model::internal::pretty;
use llmnode_reader::text::visible;
use llmnode_runtime::{Approval, Category, NodeError, Paused, WaitingCall};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use crate::form;

/// A run that waits for a person.
pub(crate) struct Waiting {
    /// Unique to this pause: in a loop, the same node waits again, and a page may
    /// show the old pause.
    pub(crate) number: String,
    pub(crate) paused: Paused,
    /// What was wrong with the last decision.
    pub(crate) problem: Option<String>,
    /// Edits that were not taken, by the call: the person mends them, and *Yes*
    /// never means what was there before.
    pub(crate) drafts: BTreeMap<String, String>,
    /// The messages before an agent that waits as a whole.
    pub(crate) before: Vec<Message>,
    decided: Option<oneshot::Sender<Decided>>,
}

/// All decisions about a pause. Without one, the run begins.
#[derive(Default)]
pub(crate) struct Decided {
    pub(crate) paused: Option<Paused>,
    pub(crate) drafts: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    Yes,
    No,
    /// *Yes*, from a program.
    Edit,
    Result,
}

/// What the page sends: all fields, as they stand.
#[derive(Debug, Deserialize)]
pub(crate) struct Decision {
    pub(crate) pause: String,
    pub(crate) id: String,
    pub(crate) answer: Answer,
    /// The text of the field.
    #[serde(default)]
    pub(crate) arguments: Option<String>,
    #[serde(default)]
    pub(crate) why: String,
    #[serde(default)]
    pub(crate) result: String,
    /// What was typed as the answer to a question, by its members.
    #[serde(default)]
    pub(crate) typed: Option<Map<String, Value>>,
    /// The arguments of a program.
    #[serde(default)]
    pub(crate) values: Option<Box<RawValue>>,
}

/// The arguments of a call, on lines, with what a person would not see written out:
/// in JSON it is the same text.
pub(crate) fn shown(arguments: &str) -> String {
    let lines = pretty(arguments).unwrap_or_else(|| arguments.to_owned());
    visible(&lines).into_owned()
}

fn refused(why: impl Into<String>) -> NodeError {
    NodeError::new(Category::ConfigError, why)
}

impl Waiting {
    pub(crate) fn new(number: String, paused: Paused) -> (Self, oneshot::Receiver<Decided>) {
        let (sender, receiver) = oneshot::channel();
        let waiting = Waiting {
            number,
            paused,
            problem: None,
            drafts: BTreeMap::new(),
            before: Vec::new(),
            decided: Some(sender),
        };
        (waiting, receiver)
    }

    /// What stands in the field of a call before a person changes it.
    pub(crate) fn field(&self, call: &WaitingCall) -> String {
        self.drafts
            .get(&call.id)
            .cloned()
            .unwrap_or_else(|| shown(&call.arguments))
    }

    /// The conversation that led to a call.
    pub(crate) fn messages(&self, call: &WaitingCall) -> &[Message] {
        match self.paused.messages_of(&call.id) {
            [] => &self.before,
            messages => messages,
        }
    }

    /// Returns whether nothing waits any more. `registry`: of the run's tools.
    pub(crate) fn decide(
        &mut self,
        decision: Decision,
        registry: &CheckedRegistry,
    ) -> Result<bool, NodeError> {
        let id = decision.id.clone();
        let call = self.paused.waiting().into_iter().find(|call| call.id == id);
        let call = call.ok_or_else(|| refused(format!("no call {id:?} is waiting")))?;
        let draft = decision.arguments.clone();
        let paused = self.paused.clone();
        self.paused = match decision.answer {
            Answer::No if decision.why.trim().is_empty() => {
                paused.decide(&id, Approval::no("the person who runs the graph said no"))
            }
            Answer::No => paused.decide(&id, Approval::no(decision.why)),
            Answer::Result => paused.answer(&id, result(&call, decision)?),
            Answer::Yes | Answer::Edit => paused.decide(&id, self.yes(&call, decision, registry)?),
        }?;
        if let Some(draft) = draft {
            self.drafts.insert(id, draft);
        }
        Ok(self.paused.waiting().is_empty())
    }

    /// When nothing waits any more.
    pub(crate) fn go_on(mut self) {
        if let Some(decided) = self.decided.take() {
            let _ = decided.send(Decided {
                paused: Some(self.paused),
                drafts: self.drafts,
            });
        }
    }

    /// To what stands in the field.
    fn yes(
        &self,
        call: &WaitingCall,
        decision: Decision,
        registry: &CheckedRegistry,
    ) -> Result<Approval, NodeError> {
        without_reason(&decision)?;
        let values = decision.values.map(|values| values.get().to_owned());
        let text = match (decision.arguments.or(values), decision.answer) {
            (Some(text), _) => text,
            (None, Answer::Edit) => return Err(refused("an edit is a JSON object of values")),
            (None, _) if self.drafts.contains_key(&call.id) => {
                return Err(refused(
                    "the last edit was not taken: send the arguments that you say yes to",
                ));
            }
            (None, _) => return Ok(Approval::yes()),
        };
        if text == shown(&call.arguments) {
            return Ok(Approval::yes());
        }
        match exact_json(&text) {
            Ok(values @ Value::Object(_)) => match self.untaken(call, &values, registry) {
                None => Ok(Approval::edit(values)),
                Some(why) => {
                    let name = &call.name;
                    Err(refused(format!(
                        "`{name}` does not take that, so nothing is decided. {why}"
                    )))
                }
            },
            Ok(_) => Err(refused(
                "the arguments are no JSON object, so nothing is decided: mend them",
            )),
            Err(why) => Err(refused(format!(
                "the arguments cannot be taken, so nothing is decided: {why}"
            ))),
        }
    }

    /// What a tool of an agent does not take. A node `tool` refuses it itself, and
    /// a node that waits as a whole has values.
    fn untaken(
        &self,
        call: &WaitingCall,
        values: &Value,
        registry: &CheckedRegistry,
    ) -> Option<String> {
        if self.paused.messages_of(&call.id).is_empty() {
            return None;
        }
        refused_arguments(registry, &call.name, &values.to_string())
    }
}

fn without_reason(decision: &Decision) -> Result<(), NodeError> {
    match decision.why.trim() {
        "" => Ok(()),
        _ => Err(refused(
            "you wrote a reason, which belongs to No: clear it, or press No",
        )),
    }
}

/// JSON if it is exactly that, else a text.
fn result(call: &WaitingCall, decision: Decision) -> Result<Value, NodeError> {
    without_reason(&decision)?;
    if let (Some(question), Some(typed)) = (&call.question, decision.typed) {
        return form::answer(question, typed).map_err(refused);
    }
    let text = &decision.result;
    if text.trim().is_empty() {
        return Err(refused(
            "the result is empty: write one; `\"\"` is an empty text",
        ));
    }
    Ok(exact_json(text).unwrap_or_else(|_| Value::String(text.to_owned())))
}
