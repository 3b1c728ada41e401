//! What a graph works on: messages and values, and how nodes write to them.

mod reduce;
mod size;
mod update;
mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Index;

use llmnode_runtime::Message;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::template::path;
use size::Size;

pub(crate) use reduce::Rules;
pub(crate) use size::{MOST, size, take};
pub use update::Update;
pub(crate) use view::{fenced, view};

/// The state of a graph: the conversation so far, and values by name.
///
/// [`Graph::start`](crate::Graph::start) creates one. After the run, `run.state()["answer"]` is a value; a missing value
/// is `null`. Its `Debug` form shows no content.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct State {
    /// The conversation, oldest first.
    pub turns: Vec<Turn>,
    /// The values by name. Names that begin with `_` are reserved for the graph.
    pub values: Map<String, Value>,
    /// Text of a model, a tool or a search, whichever graph wrote it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) untrusted: BTreeSet<String>,
    #[serde(skip)]
    log: Option<Vec<Logged>>,
    #[serde(skip)]
    size: Size,
}

fn is_trace(value: &Value) -> bool {
    let members = ["tools", "last_tool_input", "output"];
    value.as_object().is_some_and(|trace| {
        trace.len() == 3 && members.iter().all(|name| trace.contains_key(*name))
    })
}

/// A message of the conversation, and who wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// The id of the node that wrote it. `None`: it was given to the graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The message.
    pub message: Message,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Logged {
    pub(crate) from: String,
    pub(crate) update: Update,
}

impl State {
    pub(crate) fn new(turns: Vec<Turn>, values: Map<String, Value>) -> Self {
        State {
            turns,
            values,
            ..State::default()
        }
    }

    /// Puts earlier messages of a conversation before those of the graph.
    #[must_use]
    pub fn with_messages(mut self, history: impl IntoIterator<Item = Message>) -> Self {
        let history = history.into_iter().map(|message| Turn {
            from: None,
            message,
        });
        self.turns.splice(0..0, history);
        self.size = Size::default();
        self
    }

    /// Returns the values as JSON, and if nodes wrote none but what their tools did, the text of the newest message.
    pub fn shown(&self) -> String {
        let visible = self
            .values
            .iter()
            .filter(|(name, _)| !name.starts_with('_'));
        let values: BTreeMap<&String, &Value> = visible.collect();
        match self.messages().next_back() {
            Some(message) if values.values().all(|value| is_trace(value)) => message.shown(),
            _ => serde_json::to_string_pretty(&values).unwrap_or_default(),
        }
    }

    /// Returns the messages, oldest first.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = &Message> + ExactSizeIterator {
        self.turns.iter().map(|turn| &turn.message)
    }

    /// Returns the text of the last message, or an empty text if there is none.
    pub fn last_text(&self) -> &str {
        self.turns.last().map_or("", |turn| &turn.message.content)
    }

    /// Returns a value by its name, or by a path to a member or an item of it: `a.b`, `a.0`. `null` counts as absent.
    pub fn value(&self, name: &str) -> Option<&Value> {
        let mut parts = path(name);
        let first = self.values.get(parts.next()?)?;
        let found = parts.try_fold(first, |value, part| match value {
            Value::Object(members) => members.get(part),
            Value::Array(items) => items.get(part.parse::<usize>().ok()?),
            _ => None,
        })?;
        (!found.is_null()).then_some(found)
    }

    pub(crate) fn with_turns(&self, turns: Vec<Turn>) -> Self {
        let values = self.values.clone();
        let untrusted = self.untrusted.clone();
        State {
            turns,
            values,
            untrusted,
            ..State::default()
        }
    }

    pub(crate) fn branch(&self) -> Self {
        State {
            log: Some(Vec::new()),
            ..self.clone()
        }
    }

    pub(crate) fn into_log(self) -> Vec<Logged> {
        self.log.unwrap_or_default()
    }
}

impl Index<&str> for State {
    type Output = Value;

    fn index(&self, name: &str) -> &Value {
        const NULL: &Value = &Value::Null;
        self.value(name).unwrap_or(NULL)
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.values.keys().collect();
        f.debug_struct("State")
            .field("turns", &self.turns.len())
            .field("values", &names)
            .finish_non_exhaustive()
    }
}

pub(crate) fn text_of(value: &Value) -> std::borrow::Cow<'_, str> {
    match value {
        Value::String(text) => text.into(),
        other => other.to_string().into(),
    }
}
