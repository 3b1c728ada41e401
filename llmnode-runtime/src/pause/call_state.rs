//! The state of the calls of a round that has not ended.

use std::fmt;

use llmnode_model::ext::SentPrompt;
use llmnode_model::{Message, ProviderState, ToolCall};
use serde::{Deserialize, Serialize};

use super::decision::Decision;
use super::questions::Asked;
use super::shown::Shown;
use crate::ledger::Compaction;
use crate::position::Position;

/// The conversation of an agent that waits: for approvals of calls, or for results of tools without a body.
///
/// [`NodeError::paused`](crate::NodeError::paused) returns it. It is data: it can be stored as JSON, and another
/// process can continue it. Decide what waits, then pass it to the same call of the same node
/// ([`Call::approve`](crate::Call::approve)): no request and no tool is repeated.
///
/// It holds the conversation unencrypted, and anybody who can change it can forge results. Keep it on the server, and
/// show people [`waiting`](Paused::waiting) alone. Its `Debug` form shows no content.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::{Approval, BoxError, DynNode, NodeError, Reply, Run, ScriptedModel, Toolset};
/// use serde_json::json;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let delete = |name: String| async move { Ok::<_, BoxError>(format!("{name} is deleted")) };
/// let tools = Toolset::new().function("delete", "Deletes a file.", delete).require_approval();
/// let tidy = DynNode::builder("tidy").text().tools(tools).build()?.ask("Tidy up.");
///
/// let call = Reply::text("").call("delete", json!({"value": "draft.txt"}));
/// let run = Run::new(ScriptedModel::new().reply(call).reply("Done."));
/// let error = run.call(&tidy).await.unwrap_err();
/// let paused = error.paused().unwrap(); // can be stored as JSON
/// let id = paused.waiting()[0].id.clone();
/// let answer = run.call(&tidy).approve(paused.clone().decide(&id, Approval::yes())?).await?;
/// assert_eq!(answer, "Done.");
/// # Ok::<(), NodeError>(()) }).unwrap();
/// ```
#[derive(Clone)]
pub struct Paused(pub(crate) Box<Conversation>);

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Conversation {
    pub(crate) node: String,
    /// Of the prompt, the tools and the output.
    pub(crate) fingerprint: String,
    pub(crate) root: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) position: Option<Position>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// Written by a person for the tool call that contains this conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) edited: Option<String>,
    pub(crate) turns: u32,
    /// Rounds in a row that called only unknown tools.
    pub(crate) unknown: u32,
    /// What it stood on. `None`, in older pauses: the fingerprint has to be the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) shown: Option<Box<Shown>>,
    /// How many of the messages are the node's own prompt. `None`, in older pauses: as many as the same prompt has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) prompt: Option<usize>,
    pub(crate) messages: Vec<Message>,
    /// Ids of the calls whose results are failures: the JSON of a message does not say it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) failed: Vec<String>,
    /// Up to version 3 `said`.
    #[serde(alias = "said")]
    pub(crate) content: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) carried: Option<ProviderState>,
    pub(crate) calls: Vec<OpenCall>,
    /// The last request, by its hashes: the next one is compared with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sent: Option<SentPrompt>,
    /// What was compacted in the messages, which are here as they were. `None`: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) compacted: Option<Box<CompactedSoFar>>,
}

/// What is known of a conversation that is kept short.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct CompactedSoFar {
    /// How many messages stood before the first round. With another number, the places are not those of now.
    pub(crate) prompt: usize,
    /// How many of them are instructions and examples. `None`, in older ones: nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) opening: Option<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) done: Vec<Compaction>,
    /// The tokens of the newest answer and of all before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) counted: Option<u64>,
    /// The tokens, about, after the last compaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) after_last: Option<u64>,
}

impl CompactedSoFar {
    /// What was done, up to the first one that is about instructions or examples.
    /// `None`: nobody knows how many there are of these.
    pub(crate) fn without_opening(&self) -> Option<Vec<Compaction>> {
        let opening = self.opening?;
        let done = self.done.iter();
        Some(done.map_while(|one| one.without_opening(opening)).collect())
    }
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct OpenCall {
    pub(crate) call: ToolCall,
    /// Up to version 3 `stand`.
    #[serde(alias = "stand")]
    pub(crate) state: CallState,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CallState {
    Ended {
        message: Box<Message>,
        /// Kept here because the JSON of a message does not have it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        failed: bool,
    },
    Approval(Option<Decision>),
    /// For a tool without a body. `None`, or an edit of its arguments: it waits for the result.
    Answer(Option<Decision>),
    Within(Box<Paused>),
    /// The tool has begun, and asks before it goes on.
    Asked(Box<Asked>),
}

impl CallState {
    pub(crate) fn ended(message: Message) -> Self {
        let failed = message.is_failure();
        CallState::Ended {
            message: Box::new(message),
            failed,
        }
    }

    pub(crate) fn result(&self) -> Option<Message> {
        match self {
            CallState::Ended {
                message,
                failed: true,
            } => Some(Message::clone(message).failed()),
            CallState::Ended { message, .. } => Some(Message::clone(message)),
            _ => None,
        }
    }

    pub(crate) fn decision(&self) -> Option<&Decision> {
        match self {
            CallState::Approval(decision) | CallState::Answer(decision) => decision.as_ref(),
            CallState::Ended { .. } | CallState::Within(_) | CallState::Asked(_) => None,
        }
    }
}

impl fmt::Debug for CallState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CallState::Ended { .. } => "Ended",
            CallState::Approval(_) => "Approval",
            CallState::Answer(_) => "Answer",
            CallState::Within(_) => "Within",
            CallState::Asked(_) => "Asked",
        })
    }
}
