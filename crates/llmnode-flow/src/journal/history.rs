//! The content of a journal: where its flow is, what is left for the next process,
//! and what was spent.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, SystemTime};

use llmnode_model::internal::is_old_hash;
use llmnode_runtime::ext::{JournaledBatch, LedgerImport, NodeKey, PriorSpend, RunCore, cut_short};
use llmnode_runtime::{AttemptId, AttemptRecord, CallId, CallRecord, Category, Ledger, Usage};

use super::batch_history::BatchHistory;
use super::error::JournalError;
use super::journal::Journal;
use super::record::{
    Answered, AttemptBegan, CallBegan, CallEnded, Entry, Json, Record, Resumed, Started, Stepped,
    ToolEnded,
};
use super::replay::{ReplayEntry, ReplayStore};
use crate::flow::{Outline, Position};

/// The content of a journal: where its flow is, and what was spent on it. For the
/// journal of a map, only what was spent.
#[derive(Default)]
pub struct History {
    /// The id of the flow's run, or of the map's journal.
    run: String,
    /// `None`: it is the journal of a map.
    started: Option<Started>,
    at: Position,
    state: Option<Json>,
    action: Option<Json>,
    steps: u64,
    records: u64,
    /// Calls whose end is not recorded.
    open: BTreeMap<CallId, OpenCall>,
    /// Calls of nodes with `idempotent = false` since the last completed step. Each
    /// has a chain: the call, and the parent of every call of the chain that has
    /// ended.
    non_idempotent_calls: Vec<(Vec<CallId>, PendingStep)>,
    /// Calls that are open, and within which another one waits for a person.
    wait_within: HashSet<CallId>,
    /// Nodes that have asked a model in this step, and then waited.
    waiting_agents: Vec<NodeKey>,
    replay_entries: Vec<ReplayEntry>,
    /// Answers and results since then whose hashes are of an older version.
    old_hashes: (usize, usize),
    rejected: HashSet<CallId>,
    batches: BatchHistory,
    unknown: Vec<PendingStep>,
    dropped: Vec<DroppedAnswer>,
    ledger: Ledger,
    counting: Option<UsageImport>,
}

/// Something that began, and whose end the journal does not know.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PendingStep {
    /// The node's name.
    pub node: String,
    /// The step it belongs to.
    pub at: Position,
    /// The attempt; `None`: it is a call of a node that must not be executed again.
    pub attempt: Option<AttemptRecord>,
}

/// An answer that was paid for, and that a later map did not use, since it was resumed with
/// [`allow_changes`](llmnode_runtime::Map::allow_changes) and asked everything anew. With the old prompt it is found again. Its
/// `Debug` form shows no content.
#[derive(Clone)]
#[non_exhaustive]
pub struct DroppedAnswer {
    /// The call that got it. `None`: an older version did not keep it.
    pub call: Option<CallId>,
    /// Its text.
    pub answer: String,
    /// What it used, with the failed attempts before it. `None`: unknown.
    pub usage: Option<Usage>,
}

impl std::fmt::Debug for DroppedAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DroppedAnswer")
            .field("call", &self.call)
            .field("usage", &self.usage)
            .finish_non_exhaustive()
    }
}

struct UsageImport {
    run_ledger: Ledger,
    /// How many records of this journal the run's ledger has already.
    counted: u64,
    prior_spend: PriorSpend,
}

struct OpenCall {
    node: NodeKey,
    parent: Option<CallId>,
    attempts: BTreeMap<AttemptId, AttemptRecord>,
    under_way: BTreeMap<AttemptId, AttemptBegan>,
    /// When its first attempt began, in milliseconds since 1970.
    began: Option<u64>,
    /// An answer of the attempt under way was recorded.
    answered: bool,
    /// What its attempts used since the last recorded answer.
    used: Usage,
    counts: bool,
}

/// What an answer answers: answers to the same request of the same conversation replace each other.
fn question_of(answer: &Answered) -> (Option<String>, String) {
    (answer.conversation.clone(), answer.request.clone())
}

impl History {
    /// Reads a journal of any kind.
    ///
    /// # Errors
    /// Those of the journal.
    pub async fn of(journal: &mut dyn Journal) -> Result<Self, JournalError> {
        let mut history = History::default();
        journal.read(&mut |record| history.take(record)).await?;
        history.close();
        Ok(history)
    }

    /// A history that will count for a run, except for what the run's ledger has already.
    pub(super) fn counting(core: &RunCore) -> Self {
        let counting = UsageImport {
            run_ledger: core.ledger.clone(),
            counted: 0,
            prior_spend: core.limits.new_prior_spend(),
        };
        History {
            counting: Some(counting),
            ..History::default()
        }
    }

    pub(super) fn take(&mut self, record: Record) {
        match record.0 {
            Entry::Started(started) => self.start(started),
            Entry::MapStarted(map) => self.identify(map.id),
            Entry::Stepped(step) => self.step(step),
            Entry::Resumed(resumed) => self.resumed(&resumed),
            Entry::CallBegan(call) => self.call_began(call),
            Entry::BatchPlanned(batch) => self.batches.planned(batch),
            Entry::BatchUploaded(batch) => self.batches.uploaded(batch),
            Entry::BatchCreated(batch) => self.batches.created(batch),
            Entry::BatchCancelled(batch) => self.batches.cancelled(&batch),
            Entry::BatchEnded(batch) => {
                let lost = self.batches.ended(&batch);
                self.lose(lost);
            }
            Entry::AttemptBegan(began) => self.attempt_began(*began),
            Entry::AttemptEnded(attempt) => self.end_attempt(*attempt),
            Entry::AttemptForgotten(id) => {
                self.batches.line_ended(id);
                self.call(id.call(), None).under_way.remove(&id);
            }
            Entry::CallEnded(ended) => self.end(*ended),
            Entry::Answered(answered) => self.keep_answer(answered),
            Entry::Compacted(compacted) => {
                self.replay_entries.push(ReplayEntry::Compaction(compacted))
            }
            // The result is not used, so a call within that must not be executed
            // again stays in doubt.
            Entry::ToolEnded(ended) if is_old_hash(&ended.call) => {
                self.count_tool(&ended);
                self.old_hashes.1 += 1;
            }
            Entry::ToolEnded(ended) => {
                self.count_tool(&ended);
                // The result is replayed, so neither the tool nor what it called is executed again.
                self.non_idempotent_calls
                    .retain(|(calls, _)| !calls.iter().any(|call| Some(*call) == ended.by));
                self.replay_entries.push(ReplayEntry::Result(*ended));
            }
        }
        self.records += 1;
    }

    fn resumed(&mut self, resumed: &Resumed) {
        if resumed.rerun {
            self.non_idempotent_calls.clear();
        }
        if resumed.drops_answers {
            self.drop_answers();
        }
    }

    fn call_began(&mut self, call: CallBegan) {
        let step = PendingStep {
            node: call.node,
            at: call.at,
            attempt: None,
        };
        self.non_idempotent_calls.push((vec![call.id], step));
    }

    fn attempt_began(&mut self, began: AttemptBegan) {
        let id = began.attempt.id;
        let key = NodeKey::foreign(began.path.clone(), Cow::Owned(began.node.clone()));
        let call = self.call(id.call(), Some((key, began.parent)));
        call.began.get_or_insert(began.unix_ms);
        if began.attempt.batch.is_some() {
            // Its end may come from another process, by another call: it is counted
            // when it has one, or when its batch has.
            self.batches.line_began(began);
        } else {
            call.under_way.insert(id, began);
            // A request that waited for a batch may be sent alone in the end.
            self.batches.line_ended(id);
        }
    }

    fn drop_answers(&mut self) {
        // An agent's call has an answer for each turn.
        let dropped: HashSet<CallId> = self
            .dropped
            .iter()
            .filter_map(|dropped| dropped.call)
            .collect();
        for one in &self.replay_entries {
            if let ReplayEntry::Answer(
                Answered {
                    call,
                    answer,
                    rejected: false,
                    ..
                },
                usage,
            ) = one
                && call.is_none_or(|call| !dropped.contains(&call))
            {
                let usage = usage.as_deref().copied();
                self.dropped.push(DroppedAnswer {
                    call: *call,
                    answer: answer.clone(),
                    usage,
                });
            }
        }
    }

    fn identify(&mut self, run: String) {
        if let Some(counting) = &mut self.counting {
            counting.counted = counting.run_ledger.journal_records(&run);
        }
        self.run = run;
    }

    fn start(&mut self, started: Started) {
        self.identify(started.id.clone());
        self.at = started.at.clone();
        self.state = started.state.clone();
        self.started = Some(Started {
            state: None,
            ..started
        });
    }

    fn step(&mut self, step: Stepped) {
        self.steps += 1;
        self.at = step.at;
        self.state = step.state.or(self.state.take());
        self.action = step.action;
        self.non_idempotent_calls.clear();
        self.wait_within.clear();
        self.waiting_agents.clear();
        self.replay_entries.clear();
        self.old_hashes = (0, 0);
        self.rejected.clear();
    }

    fn has(&self, id: CallId) -> bool {
        self.counting
            .as_ref()
            .is_some_and(|of| self.records < of.counted || of.run_ledger.issued(id))
    }

    fn keep_answer(&mut self, mut answered: Answered) {
        // No request matches an old hash any more, but what the answer cost is reported.
        self.old_hashes.0 += usize::from(is_old_hash(&answered.request));
        let attempt = answered.attempt.take();
        if let Some((id, call)) = answered
            .call
            .and_then(|id| Some((id, self.open.get_mut(&id)?)))
        {
            call.answered = true;
            self.rejected.extend(answered.rejected.then_some(id));
        }
        self.replay_entries
            .push(ReplayEntry::Answer(answered, None));
        if let Some(attempt) = attempt {
            self.end_attempt(*attempt);
        }
    }

    fn end_attempt(&mut self, attempt: AttemptRecord) {
        self.batches.line_ended(attempt.id);
        let id = attempt.id.call();
        let call = self.call(id, None);
        call.under_way.remove(&attempt.id);
        call.used += Usage::from(&attempt);
        call.attempts.insert(attempt.id, attempt);
        if std::mem::take(&mut call.answered) {
            let used = std::mem::take(&mut call.used);
            if let Some(ReplayEntry::Answer(_, usage)) =
                self.replay_entries.iter_mut().rev().find(|one: &&mut ReplayEntry| matches!(one, ReplayEntry::Answer(it, _) if it.call == Some(id)))
            {
                *usage = Some(Box::new(used));
            }
        }
    }

    fn count_tool(&mut self, ended: &ToolEnded) {
        let Some(caller) = &ended.of else { return };
        let is_of_journal = self.has(caller.id);
        if let Some(counting) = &mut self.counting {
            let node = NodeKey::foreign(caller.path.clone(), Cow::Owned(caller.node.clone()));
            counting.prior_spend.add_tool(&node, is_of_journal);
        }
    }

    fn call(&mut self, id: CallId, node: Option<(NodeKey, Option<CallId>)>) -> &mut OpenCall {
        let counts = !self.has(id);
        let is_of_node = node.is_some();
        let (node, parent) =
            node.unwrap_or_else(|| (NodeKey::foreign(String::new(), Cow::Borrowed("")), None));
        let call = self.open.entry(id).or_insert_with(|| OpenCall {
            node: node.clone(),
            parent,
            attempts: BTreeMap::new(),
            under_way: BTreeMap::new(),
            began: None,
            answered: false,
            used: Usage::default(),
            counts,
        });
        if is_of_node {
            (call.node, call.parent) = (node, parent);
        }
        call
    }

    fn end(&mut self, ended: CallEnded) {
        let CallEnded {
            path,
            call: mut record,
        } = ended;
        // What a batch answered is paid for, and is not asked for again.
        let of_batch = self.batches.is_of_batch(record.id);
        if self.rejected.remove(&record.id) && record.category.is_some() && !of_batch {
            self.forget_rejected(record.id);
        }
        if record.category == Some(Category::Paused) {
            let node = NodeKey::foreign(path.clone(), record.node.clone());
            self.wait(record.id, record.parent, node);
        }
        for (calls, _) in &mut self.non_idempotent_calls {
            if calls.last() == Some(&record.id) {
                calls.extend(record.parent);
            }
        }
        self.call(record.id, None);
        if let Some(mut open) = self.open.remove(&record.id) {
            open.node = NodeKey::foreign(path, record.node.clone());
            self.unknown.extend(open.lost());
            record.attempts = open.all_attempts();
            self.enter(open.node, record, open.counts);
        }
    }

    /// A call waits for a person, and is in doubt no more: a tool that asks is called
    /// again with the answer, and an agent goes on in its conversation. An `exec`
    /// that calls what waits is executed again from its beginning.
    fn wait(&mut self, call: CallId, parent: Option<CallId>, node: NodeKey) {
        let has_asked = match self.open.get(&call) {
            Some(open) => !open.attempts.is_empty(),
            None => false,
        };
        // Behind a pause, an agent may wait again before it asks its model.
        let is_agent = has_asked || self.waiting_agents.contains(&node);
        if is_agent {
            self.waiting_agents.push(node);
        }
        let repeats = self.wait_within.remove(&call) && !is_agent;
        if !repeats {
            self.non_idempotent_calls
                .retain(|(calls, _)| *calls != [call]);
        }
        self.wait_within.extend(parent);
    }

    /// A call has failed: rejected answers that no accepted one replaced are asked for again.
    fn forget_rejected(&mut self, call: CallId) {
        let answers = self.replay_entries.iter().filter_map(|one| match one {
            ReplayEntry::Answer(answer, _) if !answer.rejected => Some(question_of(answer)),
            _ => None,
        });
        let accepted: HashSet<_> = answers.collect();
        self.replay_entries.retain(|one| match one {
            ReplayEntry::Answer(it, _) => {
                !it.rejected || it.call != Some(call) || accepted.contains(&question_of(it))
            }
            ReplayEntry::Result(_) | ReplayEntry::Compaction(_) => true,
        });
    }

    fn enter(&mut self, node: NodeKey, record: CallRecord, counts: bool) {
        if let Some(counting) = &mut self.counting {
            record
                .attempts
                .iter()
                .for_each(|attempt| counting.prior_spend.add(&node, attempt, !counts));
        }
        if counts {
            self.ledger.import_call(node, record);
        }
    }

    /// Lines of a batch that ended without them: nobody asked for them any more.
    fn lose(&mut self, lost: Vec<AttemptBegan>) {
        for began in lost {
            let id = began.attempt.id;
            let key = NodeKey::foreign(began.path.clone(), Cow::Owned(began.node.clone()));
            let call = self.call(id.call(), Some((key, began.parent)));
            call.began.get_or_insert(began.unix_ms);
            call.under_way.insert(id, began);
        }
    }

    /// How many batches there are, ended or not.
    pub(super) fn batches_planned(&self) -> u64 {
        self.batches.count()
    }

    /// Those that are not read to their end.
    pub(super) fn open_batches(&self) -> Vec<JournaledBatch> {
        self.batches.open()
    }

    /// Ends what was under way when the process died.
    pub(super) fn close(&mut self) {
        // The next process reads what a batch answers, and counts it. Who only
        // looks sees it as under way.
        if self.counting.is_none() {
            let lines = self.batches.take_lines();
            self.lose(lines);
        }
        for (id, open) in std::mem::take(&mut self.open) {
            self.unknown.extend(open.lost());
            let node = open.node.clone();
            let counts = open.counts;
            let record = open.cut_short(id);
            // A call whose requests were never sent does not count.
            if !record.attempts.is_empty() {
                self.enter(node, record, counts);
            }
        }
    }

    /// Counts what was spent for the run. Returns all of it, including what the run itself spent.
    pub(super) fn count(self, core: &RunCore) -> PriorSpend {
        let Some(UsageImport { prior_spend, .. }) = self.counting else {
            return PriorSpend::default();
        };
        core.ledger.import_all(&self.ledger);
        core.ledger.set_journal_records(&self.run, self.records);
        core.limits.add_prior_spend(&prior_spend);
        prior_spend
    }

    pub(super) fn prefix(&self) -> String {
        prefix(self.run(), self.steps)
    }

    pub(super) fn replay(&mut self) -> ReplayStore {
        if self.old_hashes != (0, 0) {
            tracing::warn!(
                target: "llmnode::journal", run = %self.run,
                "answers: {}, results of tools: {}; they have hashes of an older version, which \
                 can be forged, so their requests are made again",
                self.old_hashes.0, self.old_hashes.1
            );
        }
        ReplayStore::new(self.prefix(), std::mem::take(&mut self.replay_entries))
    }

    /// Empty before the first record.
    pub(super) fn run(&self) -> &str {
        &self.run
    }

    pub(super) fn outline(&self) -> Option<&Outline> {
        self.started.as_ref().map(|started| &started.outline)
    }

    pub(super) fn started_at(&self) -> Option<&Position> {
        self.started.as_ref().map(|started| &started.at)
    }

    pub(super) fn action(&self) -> Option<&Json> {
        self.action.as_ref()
    }

    /// Returns whether there is no record yet.
    pub fn is_empty(&self) -> bool {
        self.records == 0
    }

    /// Returns the flow's name; empty if none has started.
    pub fn flow(&self) -> &str {
        match self.started.as_ref().map(|started| &started.outline) {
            Some(Outline::Flow(name, _) | Outline::Node(name)) => name,
            _ => "",
        }
    }

    /// Returns where the flow is: the step that is next.
    pub fn position(&self) -> &Position {
        &self.at
    }

    /// Returns how many steps are completed.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    pub(super) fn kept_state(&self) -> Option<&Json> {
        self.state.as_ref()
    }

    /// Returns whether the flow has ended.
    pub fn has_ended(&self) -> bool {
        self.action.is_some()
    }

    /// Returns the state after the last completed step, as JSON.
    pub fn state(&self) -> Option<&str> {
        self.state.as_ref().map(Json::get)
    }

    /// Returns the requests whose end and usage are unknown, because they were
    /// under way when a process ended. While a process runs the flow, the requests
    /// under way now are among them.
    pub fn unknown(&self) -> &[PendingStep] {
        &self.unknown
    }

    /// Returns the call of a node with `idempotent = false` in a step that was not
    /// completed. It may have taken effect or not, so `resume` needs
    /// [`happened`](super::Resume::happened) or [`rerun`](super::Resume::rerun).
    /// A tool that has asked a person something, and waits, is not in doubt.
    /// While a process runs the flow, the call that is under way now.
    pub fn in_doubt(&self) -> Option<&PendingStep> {
        self.non_idempotent_calls.first().map(|(_, call)| call)
    }

    /// Returns the answers that maps did not use, since they asked everything anew,
    /// in the order in which they came: see
    /// [`DroppedAnswer`].
    pub fn dropped(&self) -> &[DroppedAnswer] {
        &self.dropped
    }

    /// Returns what was spent on the flow or the map, in all processes. A request
    /// that is [unknown](History::unknown) counts as one that did not report its
    /// usage.
    pub fn ledger(&self) -> Ledger {
        self.ledger.clone()
    }
}

pub(super) fn prefix(run: &str, steps: u64) -> String {
    format!("{run}-{steps}-")
}

impl OpenCall {
    /// Attempts whose end is not recorded.
    fn lost(&self) -> impl Iterator<Item = PendingStep> {
        self.under_way.values().map(|began| PendingStep {
            node: began.node.clone(),
            at: began.at.clone(),
            attempt: Some(cancelled(began.attempt.clone())),
        })
    }

    fn all_attempts(&mut self) -> Vec<AttemptRecord> {
        let lost = std::mem::take(&mut self.under_way).into_iter();
        self.attempts
            .extend(lost.map(|(id, began)| (id, cancelled(began.attempt))));
        std::mem::take(&mut self.attempts).into_values().collect()
    }

    fn cut_short(mut self, id: CallId) -> CallRecord {
        let began = self.began.map(Duration::from_millis);
        let started = began.and_then(|ms| SystemTime::UNIX_EPOCH.checked_add(ms));
        let attempts = self.all_attempts();
        let started = started.unwrap_or(SystemTime::UNIX_EPOCH);
        cut_short((id, self.parent), self.node.name, started, attempts)
    }
}

fn cancelled(mut attempt: AttemptRecord) -> AttemptRecord {
    attempt.category = Some(Category::Cancelled);
    attempt
}

impl std::fmt::Debug for History {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("History")
            .field("flow", &self.flow())
            .field("steps", &self.steps)
            .field("at", &self.at)
            .field("ended", &self.has_ended())
            .field("unknown", &self.unknown)
            .finish_non_exhaustive()
    }
}
