//! The interface to a journal, which keeps what happens so that a crash does not
//! lose it, and answers with it afterwards.

use std::sync::Arc;
use std::time::SystemTime;

use llmnode_model::batch::BatchTraces;
use llmnode_model::{BoxError, BoxFuture, Message, ProviderState, Request, ToolCall};

use super::compaction::Compaction;
use super::events::RunRecorder;
use super::usage::Usage;

/// A journal: it is told what happens, as all recorders are, and it alone is asked
/// for answers of earlier processes, and awaited before a request goes out.
pub trait Recorder: RunRecorder {
    /// Returns the id of a conversation that begins with this request. `names`: the
    /// model's names; `within`: the call of a tool that the conversation is part
    /// of. `None`: this recorder keeps no answers.
    fn conversation(
        &self,
        request: &Request,
        names: [Option<&str>; 3],
        within: Option<&str>,
    ) -> Option<JournaledConversation> {
        let _ = (request, names, within);
        None
    }

    /// Returns the fingerprint of a request.
    fn name(&self, request: &Request, names: [Option<&str>; 3]) -> String {
        let _ = (request, names);
        String::new()
    }

    /// Returns the next answer that an earlier process got to this request of a
    /// conversation, and its usage, with that of the failed attempts of its call
    /// before it. No usage: it is unknown.
    fn answer(
        &self,
        conversation: &str,
        request: &str,
    ) -> Option<(JournaledAnswer, Option<Box<Usage>>)> {
        let _ = (conversation, request);
        None
    }

    /// Returns the next compaction that an earlier process made before this request
    /// of a conversation.
    fn compaction(&self, conversation: &str, request: &str) -> Option<Compaction> {
        let _ = (conversation, request);
        None
    }

    /// Returns the result of a call of a tool in an answer from the journal.
    fn result(&self, conversation: &str, call: &ToolCall) -> Option<Message> {
        let _ = (conversation, call);
        None
    }

    /// The item of a map is asked again, or a turn of a chat has failed: the next call continues these
    /// conversations, of which none has an answer.
    fn put_back(&self, conversations: &[Arc<str>]) {
        let _ = conversations;
    }

    /// Returns how many answers it has and what they used, while none of them was
    /// returned. `None`: one was, or it has none.
    fn unmatched(&self) -> Option<String> {
        None
    }

    /// The answers that it has match no request any more, and are asked for anew.
    fn drop_answers(&self) {}

    /// Returns the id of a request in a batch: the same in every process, and
    /// another one for each request of the map.
    fn line(&self, conversation: &str, request: &Request, names: [Option<&str>; 3]) -> String {
        let _ = (conversation, request, names);
        String::new()
    }

    /// Returns a name for the next batch, by which a later process finds it.
    fn batch_name(&self) -> String {
        String::new()
    }

    /// Returns the batches that an earlier process left before they were read to their end.
    fn batches(&self) -> Vec<JournaledBatch> {
        Vec::new()
    }

    /// Returns whether a record may be missing from storage for good: writing it failed, or was dropped. A batch that it may belong to
    /// is then not held to be read to its end, and keeps its files.
    fn has_lost(&self) -> bool {
        false
    }

    /// Writes to storage what was recorded.
    fn write(&self) -> BoxFuture<'_, Result<(), BoxError>>;
}

/// A conversation whose answers are kept.
pub struct JournaledConversation {
    /// Its id. Shared, since 100,000 calls may wait for a batch.
    pub conversation: Arc<str>,
    /// Prefix that makes the ids of its tools' calls unique, also across the
    /// processes that continue it.
    pub root: Option<Arc<str>>,
}

/// An answer from the journal that was not replayed yet.
#[derive(Clone)]
pub struct JournaledAnswer {
    /// Its text.
    pub text: String,
    /// The tools that it calls.
    pub calls: Vec<ToolCall>,
    /// What the provider put beside them.
    pub carried: Option<Arc<ProviderState>>,
    /// Whether the conversation goes on behind it: after its calls, or after a turn
    /// that the provider paused.
    pub is_round: bool,
    /// Whether it was accepted, and not asked for again.
    pub accepted: bool,
    /// The model that gave it, if not the call's own.
    pub model: Option<String>,
    /// The names of the tools that were found for the question.
    pub found: Vec<String>,
}

/// A batch that an earlier process left.
#[derive(Clone, Debug)]
pub struct JournaledBatch {
    /// Our name of it.
    pub name: String,
    /// The API of its requests.
    pub api: String,
    /// The model that they ask.
    pub model: String,
    /// The uploaded file, if it came so far.
    pub file: Option<String>,
    /// The provider's id, if it was created as far as the journal knows.
    pub batch: Option<String>,
    /// When it was planned.
    pub planned: Option<SystemTime>,
    /// When it was created.
    pub created: Option<SystemTime>,
    /// When the map cancelled it, since its time was over.
    pub cancelled: Option<SystemTime>,
    /// How many lines it was planned with.
    pub planned_lines: usize,
    /// The ids of those that have no end in the journal. Of a batch that is not known to be created, all that stand in no other open
    /// batch.
    pub lines: Vec<String>,
}

impl JournaledBatch {
    /// By what it is found, if its process died as it created it.
    pub(crate) fn traces(&self) -> BatchTraces {
        BatchTraces {
            name: self.name.clone(),
            api: self.api.clone(),
            model: self.model.clone(),
            file: self.file.clone(),
            planned: self.planned.unwrap_or(SystemTime::UNIX_EPOCH),
            lines: self.planned_lines,
            line: self.lines.first().cloned(),
        }
    }
}
