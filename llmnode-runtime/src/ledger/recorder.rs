//! The interface to a journal, which records what happens so that a crash does not lose it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use llmnode_model::batch::BatchTraces;
use llmnode_model::{
    AttemptId, BoxError, BoxFuture, CallId, Message, ProviderState, Request, ToolCall,
};

use super::compaction::Compaction;
use super::record::{AttemptRecord, CallRecord};
use super::usage::Usage;

/// The call that an attempt belongs to.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CallInfo<'c> {
    /// Its id.
    pub id: CallId,
    /// The call that made this one through its [`Cx`](crate::Cx).
    pub parent: Option<CallId>,
    /// The node's name.
    pub node: &'c str,
    /// Its labels, with those of the calls around it and of the run.
    pub labels: &'c BTreeMap<String, String>,
}

/// Records attempts and calls as they begin and end.
pub trait Recorder: Send + Sync {
    /// Records an event without waiting: guards call this when they are dropped.
    fn note(&self, event: RecorderEvent<'_>);

    /// Returns the id of a conversation that begins with this request. `names`: the model's names; `within`: the call of a
    /// tool that the conversation is part of. `None`: this recorder keeps no answers.
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

    /// Returns the next answer that an earlier process got to this request of a conversation, and its usage, with that of
    /// the failed attempts of its call before it. No usage: it is unknown.
    fn answer(
        &self,
        conversation: &str,
        request: &str,
    ) -> Option<(JournaledAnswer, Option<Box<Usage>>)> {
        let _ = (conversation, request);
        None
    }

    /// Returns the next compaction that an earlier process made before this request of a conversation.
    fn compaction(&self, conversation: &str, request: &str) -> Option<Compaction> {
        let _ = (conversation, request);
        None
    }

    /// Returns the result of a call of a tool in an answer from the journal.
    fn result(&self, conversation: &str, call: &ToolCall) -> Option<Message> {
        let _ = (conversation, call);
        None
    }

    /// The item of a map is asked again: its next call continues these conversations, of which none has an answer.
    fn put_back(&self, conversations: &[String]) {
        let _ = conversations;
    }

    /// Returns how many answers it has and what they used, while none of them was returned. `None`: one was, or it has none.
    fn unmatched(&self) -> Option<String> {
        None
    }

    /// The answers that it has match no request any more, and are asked for anew.
    fn drop_answers(&self) {}

    /// Returns the id of a request in a batch: the same in every process, and another one for each request of the map.
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

    /// Writes to storage what was recorded.
    fn write(&self) -> BoxFuture<'_, Result<(), BoxError>>;
}

/// A conversation whose answers are kept.
pub struct JournaledConversation {
    /// Its id.
    pub conversation: String,
    /// Prefix that makes the ids of its tools' calls unique, also across the processes that continue it.
    pub root: Option<String>,
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
    /// Whether the conversation goes on behind it: after its calls, or after a turn that the provider paused.
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
    /// How many lines it was planned with.
    pub planned_lines: usize,
    /// The ids of those that have no end in the journal.
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

/// How a batch ended.
#[derive(Clone, Copy, Debug)]
pub struct BatchEnd {
    /// Whether the provider took it. If not, none of its requests was made.
    pub was_created: bool,
}

/// What happens to a call. `path` identifies the node's type.
#[allow(missing_docs, reason = "the fields say what they are")]
pub enum RecorderEvent<'e> {
    /// It begins. Reported only for nodes that must not be executed again.
    CallBegan { call: CallInfo<'e>, path: &'e str },
    /// A request is about to go out.
    AttemptBegan {
        call: CallInfo<'e>,
        path: &'e str,
        attempt: &'e AttemptRecord,
    },
    /// The attempt has ended, in whatever way.
    AttemptEnded(&'e AttemptRecord),
    /// The request did not go out after all.
    AttemptForgotten(AttemptId),
    /// A batch is about to be sent, with these lines.
    BatchPlanned {
        name: &'e str,
        api: &'e str,
        model: &'e str,
        lines: &'e [String],
    },
    /// Its file is uploaded.
    BatchUploaded { name: &'e str, file: &'e str },
    /// It is created, under this id of the provider's.
    BatchCreated { name: &'e str, batch: &'e str },
    /// It was read to its end, or was never created.
    BatchEnded { name: &'e str, end: BatchEnd },
    /// A request of a conversation was answered. `in_batch`: by a batch, so that a rejected answer is kept, too.
    Answered {
        call: CallId,
        in_batch: bool,
        conversation: &'e str,
        request: &'e str,
        answer: JournaledAnswer,
    },
    /// The conversation of a request is compacted, and the request is about to go out.
    Compacted {
        conversation: &'e str,
        request: &'e str,
        compaction: &'e Compaction,
    },
    /// A call of a tool has its result. `by`: the call of the tool's node. `executed`: the tool gave it, and not a person.
    ToolEnded {
        of: CallInfo<'e>,
        path: &'e str,
        conversation: &'e str,
        call: &'e ToolCall,
        result: &'e Message,
        by: Option<CallId>,
        executed: bool,
    },
    /// The call has ended, in whatever way.
    CallEnded {
        path: &'e str,
        record: &'e CallRecord,
    },
}
