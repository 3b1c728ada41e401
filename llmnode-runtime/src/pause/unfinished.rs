//! What a failed conversation has paid for, as data: comes out of an error, and goes into the call that goes on after it.
//!
//! It is a [`Paused`] inside, in which nothing has to be decided: whole rounds, and at most one round that was broken off, whose
//! calls have the results that they got. The prompt is not in it: the call that goes on writes its own.

use std::error::Error;
use std::fmt;

use llmnode_model::Message;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::call_state::{Conversation, Paused};
use super::paused::Form;
use crate::error::NodeError;
use crate::format;

const FORMAT: &str = "llmnode/unfinished";
const VERSION: u64 = 2;

/// The conversation of an agent whose call failed: all turns that were paid for, the results of their tools, and
/// what was summed up of it, also before a first request that failed.
///
/// [`NodeError::unfinished`](crate::NodeError::unfinished) returns it, and [`Call::resume`](crate::Call::resume) goes on after
/// it: with the same model or another one, with a shorter history, at once or later. No turn is asked for again, and no tool that
/// has a result is executed again.
///
/// It is data: it can be stored as JSON, and another process can go on. It holds the conversation unencrypted, and anybody who
/// can change it can forge results: keep it on the server. Its `Debug` form shows no content.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::{BoxError, Category, DynNode, ModelError, NodeError, Reply, Run, ScriptedModel, Toolset};
/// use serde_json::json;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// let count = |_: serde_json::Value| async { Ok::<_, BoxError>("3 books") };
/// let tools = Toolset::new().json_function("count", "Counts the books.", json!({"type": "object"}), count);
/// let node = DynNode::builder("librarian").text().tools(tools).build()?.ask("How many books are there?");
///
/// let model = ScriptedModel::new()
///     .reply(Reply::text("").call("count", json!({})))
///     .reply(Reply::error(ModelError::new(Category::BadRequest, "the model is gone")));
/// let error = Run::new(model).call(&node).await.unwrap_err();
/// let unfinished = error.unfinished().unwrap(); // can be stored as JSON
///
/// let run = Run::new(ScriptedModel::new().reply("Three."));
/// assert_eq!(run.call(&node).resume(unfinished).await?, "Three.");
/// # Ok::<(), NodeError>(()) }).unwrap();
/// ```
#[derive(Clone)]
pub struct Unfinished(pub(crate) Paused);

impl Unfinished {
    pub(crate) fn new(conversation: Conversation) -> Self {
        Unfinished(Paused(Box::new(conversation)))
    }

    /// Without the first messages, which a conversation in a store has already.
    pub(crate) fn without_history(mut self, messages: usize) -> Self {
        let conversation = &mut *self.0.0;
        let gone = messages.min(conversation.messages.len());
        conversation.messages.drain(..gone);
        conversation.prompt = conversation
            .prompt
            .map(|length| length.saturating_sub(gone));
        self
    }

    /// Returns the name of the node whose call failed.
    pub fn node(&self) -> &str {
        self.0.node()
    }

    /// Returns the conversation, without instructions: the history, the prompt, and all whole rounds. A round that was broken off
    /// is not in it.
    pub fn messages(&self) -> &[Message] {
        self.0.messages()
    }
}

impl NodeError {
    /// Returns the conversation of a failed agent, as far as it came: [`Call::resume`](crate::Call::resume) goes on after it.
    ///
    /// `None` if nothing was paid for that a call could go on after: no turn was complete and nothing was
    /// [summed up](crate::Compact), or it has [paused](Self::paused).
    pub fn unfinished(&self) -> Option<Unfinished> {
        let chain = std::iter::successors(Some(self as &(dyn Error + 'static)), |&error| {
            error.source()
        });
        let errors = chain.filter_map(|error| error.downcast_ref::<NodeError>());
        errors
            .into_iter()
            .find_map(NodeError::own_unfinished::<Unfinished>)
            .cloned()
    }
}

impl Serialize for Unfinished {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Form {
            format: FORMAT,
            version: VERSION,
            conversation: &self.0.0,
        }
        .serialize(to)
    }
}

impl<'de> Deserialize<'de> for Unfinished {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let json = Value::deserialize(from)?.to_string();
        format::read(&json, FORMAT, VERSION)
            .map(Unfinished::new)
            .map_err(serde::de::Error::custom)
    }
}

impl fmt::Debug for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unfinished")
            .field("node", &self.node())
            .field("messages", &self.messages())
            .finish_non_exhaustive()
    }
}
