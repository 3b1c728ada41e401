//! Passes the events of a flow's calls on to its journal.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use llmnode_runtime::ext::{
    AnswerEvent, Compaction, JournalForm as _, JournaledAnswer,
    JournaledConversation as Conversation, Recorder, RunEvent, RunRecorder,
};
use llmnode_runtime::{
    AttemptRecord, BoxError, BoxFuture, CallId, Message, Request, ToolCall, Usage,
};

use super::error::JournalError;
use super::journal::Journal;
use super::record::{
    Answered, AttemptBegan, BatchCancelled, BatchCreated, BatchEnded, BatchPlanned, BatchUploaded,
    CallBegan, CallEnded, Caller, Compacted, Entry, Record, Resumed, ToolEnded,
};
use super::replay::{self, ReplayStore, name_of_call};
use crate::flow::Position;

pub(super) struct JournalRecorder {
    notes: Mutex<Notes>,
    journal: tokio::sync::Mutex<Box<dyn Journal>>,
}

struct Notes {
    /// Not in the journal yet, by number.
    waiting: VecDeque<(u64, Record)>,
    next: u64,
    /// The number of the record that is being appended.
    under_way: Option<u64>,
    /// The newest record that may or may not be in the journal: appending it
    /// failed, or was dropped.
    lost: Option<u64>,
    at: Position,
    replay: ReplayStore,
    /// How many batches were planned so far, in all processes.
    batches: u64,
    /// Of attempts whose end comes next: both are one record.
    answers: Vec<Answered>,
}

impl JournalRecorder {
    pub(super) fn new(journal: Box<dyn Journal>, at: Position, replay: ReplayStore) -> Self {
        let waiting = VecDeque::new();
        let answers = Vec::new();
        let notes = Notes {
            waiting,
            next: 0,
            under_way: None,
            lost: None,
            at,
            replay,
            batches: 0,
            answers,
        };
        JournalRecorder {
            notes: Mutex::new(notes),
            journal: tokio::sync::Mutex::new(journal),
        }
    }

    pub(super) fn add(&self, record: Record, at: Position) {
        let mut notes = self.lock();
        notes.push(record);
        notes.at = at;
    }

    pub(super) fn record_step(&self, record: Record, at: Position, prefix: String) {
        self.add(record, at);
        self.lock().replay.next_step(prefix);
    }

    /// A record leaves the queue first, so that a dropped append is not repeated.
    /// Callers append each other's records, so each fails if any that waited when
    /// it came may be missing from the journal: it may be its own.
    pub(super) async fn append_all(&self) -> Result<(), JournalError> {
        let not_kept = self.lock().not_kept();
        let mut journal = self.journal.lock().await;
        loop {
            let Some((number, record)) = self.lock().take(not_kept.end) else {
                break;
            };
            let mut appending = Appending {
                recorder: self,
                number,
                is_lost: record.0.is_vital(),
            };
            if let Err(error) = journal.append(&record).await {
                appending.is_lost = true;
                return Err(error);
            }
            appending.ended();
        }
        // The lock is fair, so no record of a later caller can be lost yet:
        // `not_kept.end` need not be compared.
        if self.lock().lost.is_some_and(|lost| lost >= not_kept.start) {
            let fault = "a record may not be in the journal: appending it failed, or was dropped";
            return Err(JournalError::Other(fault.into()));
        }
        Ok(())
    }

    /// They stay in the journal: with the old prompt, they are found again.
    pub(super) fn drop_answers(&self) {
        let mut notes = self.lock();
        notes.push(
            Entry::Resumed(Resumed {
                rerun: false,
                drops_answers: true,
            })
            .into(),
        );
    }

    /// How many batches earlier processes have planned.
    pub(super) fn count_batches(&self, planned: u64) {
        self.lock().batches = planned;
    }

    /// A name that no other batch has.
    pub(super) fn next_batch(&self) -> String {
        let mut notes = self.lock();
        notes.batches += 1;
        format!("llmnode-{}{}", notes.replay.prefix(), notes.batches)
    }

    pub(super) fn warn_of_unused(&self) {
        self.lock().replay.warn_of_unused();
    }

    fn lock(&self) -> MutexGuard<'_, Notes> {
        // Nothing panics while it holds the lock.
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Notes {
    fn push(&mut self, record: Record) {
        self.waiting.push_back((self.next, record));
        self.next += 1;
    }

    fn attempt_ended(&mut self, attempt: AttemptRecord) -> Entry {
        let attempt = Box::new(attempt);
        match self
            .answers
            .iter()
            .position(|it| it.call == Some(attempt.id.call()))
        {
            Some(at) => Entry::Answered(Answered {
                attempt: Some(attempt),
                ..self.answers.swap_remove(at)
            }),
            None => Entry::AttemptEnded(attempt),
        }
    }

    fn not_kept(&self) -> Range<u64> {
        let first = self.waiting.front().map(|(number, _)| *number);
        self.under_way.or(first).unwrap_or(self.next)..self.next
    }

    fn take(&mut self, end: u64) -> Option<(u64, Record)> {
        self.waiting.front().filter(|(number, _)| *number < end)?;
        let (number, record) = self.waiting.pop_front()?;
        self.under_way = Some(number);
        Some((number, record))
    }
}

/// A record that is being appended, and is lost if this is dropped before. That is
/// often a call whose deadline has passed while others wait for records behind it,
/// so they fail only for what has to be in the journal.
struct Appending<'k> {
    recorder: &'k JournalRecorder,
    number: u64,
    is_lost: bool,
}

impl Appending<'_> {
    fn ended(self) {
        self.recorder.lock().under_way = None;
    }
}

impl Drop for Appending<'_> {
    fn drop(&mut self) {
        let mut notes = self.recorder.lock();
        if notes.under_way.take().is_some() && self.is_lost {
            notes.lost = Some(self.number);
        }
    }
}

impl RunRecorder for JournalRecorder {
    fn record(&self, event: &RunEvent<'_>) {
        let mut notes = self.lock();
        let entry = match *event {
            RunEvent::ExecBegins { call } => Some(Entry::CallBegan(CallBegan {
                id: call.id,
                node: call.node.to_owned(),
                path: call.path.to_owned(),
                at: notes.at.clone(),
            })),
            RunEvent::AttemptBegins { call, attempt, .. } => {
                Some(Entry::AttemptBegan(Box::new(AttemptBegan {
                    node: call.node.to_owned(),
                    path: call.path.to_owned(),
                    parent: call.parent,
                    at: notes.at.clone(),
                    unix_ms: now(),
                    attempt: attempt.for_journal(),
                })))
            }
            RunEvent::Answered { call, answer, .. } => {
                notes.answers.extend(answered(call, &answer));
                None
            }
            // One that goes on has no end here: a later process reads its answer.
            RunEvent::AttemptEnded {
                attempt,
                continues: false,
                ..
            } => Some(notes.attempt_ended(attempt.for_journal())),
            RunEvent::AttemptForgotten(id) => Some(Entry::AttemptForgotten(id)),
            RunEvent::CompactionPlanned {
                conversation,
                request,
                compaction,
            } => Some(Entry::Compacted(Compacted {
                conversation: conversation.to_owned(),
                request: request.to_owned(),
                compaction: compaction.clone(),
            })),
            RunEvent::ToolEnded { .. } => tool_ended(event),
            RunEvent::CallEnded { call, record, .. } => {
                Some(Entry::CallEnded(Box::new(CallEnded {
                    path: call.path.to_owned(),
                    call: record.for_journal(),
                })))
            }
            _ => of_batch(event),
        };
        if let Some(entry) = entry {
            notes.push(entry.into());
        }
    }
}

/// Kept until its attempt ends. `None`: it is not asked for by a conversation that
/// this journal keeps.
fn answered(call: CallId, answer: &AnswerEvent<'_>) -> Option<Answered> {
    let key = answer.key?;
    let carried = answer.carried.map(|carried| (**carried).clone());
    Some(Answered {
        request: key.request.to_string(),
        conversation: Some(key.conversation.to_string()),
        call: Some(call),
        answer: answer.text.to_owned(),
        calls: answer.calls.to_vec(),
        carried: carried.clone().filter(|_| answer.is_round),
        carried_by_answer: carried.filter(|_| !answer.is_round),
        model: key.model.clone(),
        rejected: !answer.accepted,
        found: key.found.clone(),
        of_chat: key.of_chat,
        attempt: None,
    })
}

/// `None`: the call has no result yet, or its conversation is not kept.
fn tool_ended(event: &RunEvent<'_>) -> Option<Entry> {
    let RunEvent::ToolEnded {
        call,
        tool,
        result: Some(result),
        by,
        executed,
        conversation: Some(conversation),
        ..
    } = *event
    else {
        return None;
    };
    let of = Caller {
        id: call.id,
        node: call.node.to_owned(),
        path: call.path.to_owned(),
    };
    Some(Entry::ToolEnded(Box::new(ToolEnded {
        conversation: conversation.to_owned(),
        call: name_of_call(tool),
        of: executed.then(|| Box::new(of)),
        by,
        result: result.clone(),
        failed: result.is_failure(),
    })))
}

/// `None`: it happens to no batch.
fn of_batch(event: &RunEvent<'_>) -> Option<Entry> {
    Some(match *event {
        RunEvent::BatchPlanned {
            name,
            api,
            model,
            lines,
        } => Entry::BatchPlanned(BatchPlanned {
            name: name.to_owned(),
            model: model.to_owned(),
            api: api.to_owned(),
            unix_ms: now(),
            keys: lines.iter().map(|line| line.to_string()).collect(),
        }),
        RunEvent::BatchUploaded { name, file } => Entry::BatchUploaded(BatchUploaded {
            name: name.to_owned(),
            file: file.to_owned(),
        }),
        RunEvent::BatchCreated { name, batch } => Entry::BatchCreated(BatchCreated {
            name: name.to_owned(),
            batch: batch.to_owned(),
            unix_ms: now(),
        }),
        RunEvent::BatchCancelled { name } => Entry::BatchCancelled(BatchCancelled {
            name: name.to_owned(),
            unix_ms: now(),
        }),
        RunEvent::BatchEnded { name, was_created } => Entry::BatchEnded(BatchEnded {
            name: name.to_owned(),
            was_created,
        }),
        _ => return None,
    })
}

impl Recorder for JournalRecorder {
    fn conversation(
        &self,
        request: &Request,
        names: [Option<&str>; 3],
        within: Option<&str>,
    ) -> Option<Conversation> {
        let conversation: Arc<str> = self
            .lock()
            .replay
            .conversation(request, names, within)
            .into();
        Some(Conversation {
            root: Some(Arc::clone(&conversation)),
            conversation,
        })
    }

    fn name(&self, request: &Request, names: [Option<&str>; 3]) -> String {
        replay::name(request, names)
    }

    fn answer(
        &self,
        conversation: &str,
        request: &str,
    ) -> Option<(JournaledAnswer, Option<Box<Usage>>)> {
        self.lock().replay.answer(conversation, request)
    }

    fn compaction(&self, conversation: &str, request: &str) -> Option<Compaction> {
        self.lock().replay.compaction(conversation, request)
    }

    fn result(&self, conversation: &str, call: &ToolCall) -> Option<Message> {
        self.lock().replay.result(conversation, call)
    }

    fn put_back(&self, conversations: &[Arc<str>]) {
        self.lock().replay.put_back(conversations);
    }

    fn has_lost(&self) -> bool {
        self.lock().lost.is_some()
    }

    fn write(&self) -> BoxFuture<'_, Result<(), BoxError>> {
        Box::pin(async { Ok(self.append_all().await?) })
    }
}

/// Milliseconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Poll, Waker};

    use super::super::record::MapStarted;
    use super::*;

    /// Waits at its first append, or fails there.
    struct Slow {
        appends: AtomicUsize,
        fails: bool,
    }

    impl Journal for Slow {
        fn read<'j>(
            &'j mut self,
            _: &'j mut (dyn FnMut(Record) + Send),
        ) -> BoxFuture<'j, Result<(), JournalError>> {
            Box::pin(async { Ok(()) })
        }

        fn append<'j>(&'j mut self, _: &'j Record) -> BoxFuture<'j, Result<(), JournalError>> {
            let first = self.appends.fetch_add(1, Ordering::Relaxed) == 0;
            let fails = self.fails;
            Box::pin(async move {
                if first {
                    tokio::task::yield_now().await;
                    if fails {
                        return Err(JournalError::Other("the disk is full".into()));
                    }
                    std::future::pending::<()>().await;
                }
                Ok(())
            })
        }
    }

    fn record(is_vital: bool) -> Record {
        let id = serde_json::from_str("\"0123456789abcdef-1-0\"").unwrap();
        Record::from(match is_vital {
            true => Entry::MapStarted(MapStarted { id: "a".to_owned() }),
            false => Entry::AttemptForgotten(id),
        })
    }

    fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
        std::pin::Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
    }

    /// One caller writes the records of both, and is dropped, or fails, in the
    /// middle of the other's. Of a dropped one that has figures alone, the other is
    /// not told.
    #[test]
    fn a_caller_whose_record_another_one_lost_gets_an_error() {
        for (fails, is_vital) in [(false, true), (true, true), (true, false), (false, false)] {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .build()
                .unwrap();
            runtime.block_on(async {
                let slow = Slow {
                    appends: AtomicUsize::new(0),
                    fails,
                };
                let recorder = JournalRecorder::new(
                    Box::new(slow),
                    Position::default(),
                    ReplayStore::default(),
                );
                recorder.add(record(is_vital), Position::default());
                recorder.add(record(is_vital), Position::default());
                let mut first = Box::pin(recorder.append_all());
                assert!(poll(&mut first).is_pending());
                let mut second = Box::pin(recorder.append_all());
                assert!(poll(&mut second).is_pending());
                if fails {
                    assert!(first.await.is_err());
                } else {
                    drop(first);
                }
                assert_eq!(
                    second.await.is_err(),
                    fails || is_vital,
                    "its own may not be there"
                );
                recorder.add(record(is_vital), Position::default());
                recorder.append_all().await.unwrap();
            });
        }
    }
}
