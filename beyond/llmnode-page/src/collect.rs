//! From the events of a run to what a recording holds.
//!
//! Events of flows, steps, calls and attempts come in, in the order in which they happen; a [`Document`] goes out, at any time.
//! What is open (a step or call that has begun) stands apart from what has ended, since only what has ended has a place in the
//! order in which things make room. After each event, `make_room` keeps the recording within its count of entries and within
//! [`MEMORY`]: a long run loses its oldest entries, and `totals` counts what was lost, so that a page never looks complete when
//! it is not. Texts are kept only by [`Texts`], which redacts secrets and counts bytes; nothing here may store a text otherwise.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::mem::size_of;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use llmnode_flow::flow::{Outline, Position};
use llmnode_runtime::ext::{JournalForm, PositionExt, RunEvent, RunSetup};
use llmnode_runtime::{
    AttemptId, AttemptRecord, CallId, CallInfo, CallRecord, Category, FailedTry, Flag, Request,
    ToolRecord, Usage,
};

use crate::conversation::Conversation;
use crate::document::{
    CallEntry, Document, Ended, FlowEntry, Offered, Setup, StepEntry, StepStats, Totals, unix_ms,
};
use crate::texts::{MEMORY, Texts};

/// Flows that are kept beside their steps and calls.
const FLOWS: usize = 256;

/// Nodes whose schema and tools are kept.
const NODES: usize = 256;

pub(crate) struct Collected {
    pub(crate) texts: Texts,
    pub(crate) with_content: bool,
    pub(crate) limit: usize,
    setup: Option<Setup>,
    totals: Totals,
    flows: BTreeMap<u64, FlowEntry>,
    flows_begun: u64,
    /// By the number of a flow in its process: that of its entry here. One that goes on after a pause has the entry that it had.
    numbers: HashMap<u64, OpenFlow>,
    steps: VecDeque<StepEntry>,
    /// By the number of the flow.
    open_steps: HashMap<u64, StepEntry>,
    calls: VecDeque<CallEntry>,
    open_calls: HashMap<CallId, (CallEntry, Conversation)>,
    /// The ids of open calls, as they began.
    order: BTreeMap<u64, CallId>,
    /// Calls that made room while they went on.
    dropped: HashMap<CallId, DroppedCall>,
    begun_calls: u64,
    offered: BTreeMap<String, Offered>,
}

struct BegunCall<'e> {
    id: CallId,
    parent: Option<CallId>,
    node: &'e str,
    /// Its number here.
    flow: Option<u64>,
    item: Option<u32>,
}

struct DroppedCall {
    is_outer: bool,
    started_unix_ms: u64,
}

struct FlowEnd {
    position: Option<Position>,
    category: Option<Category>,
    error: Option<String>,
    output: Option<String>,
    elapsed: Duration,
}

struct OpenFlow {
    number: u64,
    /// Until its first step has begun.
    continues: bool,
    started_unix_ms: u64,
    /// Of its state, as it was last.
    state: Option<String>,
}

impl Collected {
    pub(crate) fn new(texts: Texts) -> Self {
        Collected {
            texts,
            with_content: false,
            limit: 10_000,
            setup: None,
            totals: Totals::default(),
            flows: BTreeMap::new(),
            flows_begun: 0,
            numbers: HashMap::new(),
            steps: VecDeque::new(),
            open_steps: HashMap::new(),
            calls: VecDeque::new(),
            open_calls: HashMap::new(),
            order: BTreeMap::new(),
            dropped: HashMap::new(),
            begun_calls: 0,
            offered: BTreeMap::new(),
        }
    }

    pub(crate) fn of(document: Document, texts: Texts) -> Self {
        let Document {
            with_content,
            setup,
            totals,
            flows,
            steps,
            calls,
            offered,
            ..
        } = document;
        let begun_calls = calls.iter().map(|call| call.number).max().unwrap_or(0);
        let flows_begun = flows.iter().map(|flow| flow.number).max().unwrap_or(0);
        Collected {
            begun_calls,
            flows_begun,
            with_content,
            setup: Some(setup),
            totals,
            flows: flows.into_iter().map(|flow| (flow.number, flow)).collect(),
            steps: steps.into(),
            calls: calls.into(),
            offered,
            ..Collected::new(texts)
        }
    }

    pub(crate) fn document(&self) -> Document {
        let mut steps: Vec<_> = self
            .steps
            .iter()
            .chain(self.open_steps.values())
            .cloned()
            .collect();
        steps.sort_by_key(|step| step.number);
        let open = self
            .open_calls
            .values()
            .map(|(call, conversation)| CallEntry {
                exchanges: conversation.exchanges.clone(),
                ..call.clone()
            });
        let mut calls: Vec<_> = self.calls.iter().cloned().chain(open).collect();
        calls.sort_by_key(|call| call.number);
        Document {
            llmnode: env!("CARGO_PKG_VERSION").to_owned(),
            with_content: self.with_content,
            setup: self.setup.clone().unwrap_or_default(),
            totals: self.totals(),
            flows: self.flows.values().cloned().collect(),
            steps,
            calls,
            offered: self.offered.clone(),
        }
    }

    /// Until now, if it has not ended.
    pub(crate) fn totals(&self) -> Totals {
        let mut totals = self.totals.clone();
        if self.is_running() {
            totals.ended_unix_ms = totals.ended_unix_ms.max(unix_ms(SystemTime::now()));
        }
        totals
    }

    pub(crate) fn first_flow(&self) -> Option<&FlowEntry> {
        self.flows.values().next()
    }

    fn is_running(&self) -> bool {
        !self.open_calls.is_empty() || self.flows.values().any(|flow| flow.ended.is_none())
    }

    /// Takes note of one event, and then makes room: an event may be of any size.
    pub(crate) fn event(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Setup(setup) => {
                self.setup.get_or_insert_with(|| Setup::of(setup()));
            }
            RunEvent::FlowBegan { .. } | RunEvent::FlowEnded { .. } => self.flow_event(event),
            RunEvent::StepBegan { .. } | RunEvent::StepEnded { .. } => self.step_event(event),
            RunEvent::CallBegan { .. } | RunEvent::CallEnded { .. } => self.call_event(event),
            RunEvent::AttemptEnded { attempt, .. } => self.attempt_ended(attempt),
            RunEvent::FlowState { flow, text } if self.with_content => self.state(*flow, *text),
            RunEvent::AttemptBegins {
                attempt,
                request: Some(request),
                ..
            } if self.with_content => self.add_request(attempt.id, request),
            content if self.with_content => self.content(content),
            _ => {}
        }
        self.make_room();
    }

    fn flow_event(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::FlowBegan {
                flow,
                continues,
                name,
                outline,
                around,
                started,
            } => {
                let outline =
                    serde_json::from_value(outline()).unwrap_or(Outline::Parallel(Vec::new()));
                // The name of a graph is its author's choice.
                let name = if name.is_empty() { "graph" } else { name };
                let earlier = if *continues {
                    self.paused_flow(name, &outline, around.as_ref())
                } else {
                    None
                };
                let number = earlier
                    .unwrap_or_else(|| self.flow_began(name, outline, around.clone(), *started));
                let open = OpenFlow {
                    number,
                    continues: earlier.is_some(),
                    started_unix_ms: unix_ms(*started),
                    state: None,
                };
                self.numbers.insert(*flow, open);
            }
            RunEvent::FlowEnded {
                flow,
                position,
                category,
                error,
                output,
                elapsed,
                ..
            } => {
                let error = error.map(|error| error.to_string());
                let end = FlowEnd {
                    position: position.cloned(),
                    category: *category,
                    error: self.kept_content(error),
                    output: self.with_content.then(output).flatten(),
                    elapsed: *elapsed,
                };
                self.flow_ended(*flow, end);
            }
            _ => {}
        }
    }

    fn step_event(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::StepBegan {
                flow,
                position,
                node,
                started,
            } => {
                if let Some(open) = self.numbers.get_mut(flow) {
                    let number = open.number;
                    // Only the first step of a flow that goes on can be one that had begun.
                    let continues = std::mem::take(&mut open.continues);
                    self.step_began(number, continues, position, node, *started);
                }
            }
            RunEvent::StepEnded {
                flow, step, edges, ..
            } => {
                if let Some(number) = self.flow_number(*flow) {
                    self.step_ended(number, edges, step.category, step.usage, step.elapsed);
                }
            }
            _ => {}
        }
    }

    fn call_event(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::CallBegan {
                call,
                flow,
                item,
                started,
                ..
            } => {
                let CallInfo {
                    id, parent, node, ..
                } = call;
                let begun = BegunCall {
                    id: *id,
                    parent: *parent,
                    node,
                    flow: flow.and_then(|flow| self.flow_number(flow)),
                    item: *item,
                };
                self.call_began(begun, *started);
            }
            RunEvent::CallEnded { record, error, .. } => {
                let error = error.map(|error| error.to_string());
                let error = self.kept_content(error);
                self.call_ended(record, error);
            }
            _ => {}
        }
    }

    /// Texts of errors quote what models and users wrote, so they are content, too.
    fn kept_content(&mut self, text: Option<String>) -> Option<String> {
        if !self.with_content {
            return None;
        }
        text.map(|text| self.texts.keep(&text))
    }

    fn flow_ended(&mut self, flow: u64, end: FlowEnd) {
        let output = end.output.map(|output| self.texts.keep(&output));
        let Some(open) = self.numbers.remove(&flow) else {
            return;
        };
        self.totals.ended(open.started_unix_ms, end.elapsed);
        let Some(entry) = self.flows.get_mut(&open.number) else {
            return;
        };
        // A flow that paused and went on has taken the time of all its parts.
        let before = entry
            .ended
            .take()
            .map_or(Duration::ZERO, |ended| ended.elapsed);
        entry.ended = Some(Ended {
            category: end.category,
            error: end.error,
            elapsed: before.saturating_add(end.elapsed),
        });
        entry.position = end.position;
        entry.output = output;
    }

    /// A flow's number in this recording, by its number in its process.
    fn flow_number(&self, flow: u64) -> Option<u64> {
        self.numbers.get(&flow).map(|flow| flow.number)
    }

    /// The newest that paused, and that no other one has gone on with.
    fn paused_flow(
        &mut self,
        name: &str,
        outline: &Outline,
        around: Option<&Position>,
    ) -> Option<u64> {
        let paused = self.flows.values_mut().rev().find(|flow| {
            let has_paused = flow
                .ended
                .as_ref()
                .is_some_and(|ended| ended.category == Some(Category::Paused));
            has_paused
                && flow.name == name
                && flow.around.as_ref() == around
                && flow.outline == *outline
        })?;
        if let Some(ended) = &mut paused.ended {
            ended.category = None;
            ended.error = None;
        }
        paused.position = None;
        Some(paused.number)
    }

    fn state(&mut self, flow: u64, text: &dyn Fn() -> Option<String>) {
        let Some(open) = self.numbers.get_mut(&flow) else {
            return;
        };
        let Some(now) = text().filter(|now| open.state.as_ref() != Some(now)) else {
            return;
        };
        let kept = self.texts.keep(&now);
        open.state = Some(now);
        match (
            self.open_steps.get_mut(&open.number),
            self.flows.get_mut(&open.number),
        ) {
            (Some(step), _) => step.state = Some(kept),
            (None, Some(entry)) if entry.state.is_none() => entry.state = Some(kept),
            _ => self.texts.bytes = self.texts.bytes.saturating_sub(kept.len()),
        }
    }

    fn add_request(&mut self, attempt: AttemptId, request: &Request) {
        let Some((entry, conversation)) = self.open_calls.get_mut(&attempt.call()) else {
            return;
        };
        if self.offered.len() < NODES && !self.offered.contains_key(&entry.node) {
            self.offered
                .insert(entry.node.clone(), self.texts.offered(request));
        }
        conversation.add_request(attempt, request, &mut self.texts);
    }

    fn content(&mut self, event: &RunEvent<'_>) {
        let call = match event {
            RunEvent::ToolEnded { call, .. } => call.id,
            RunEvent::Replayed { call, .. }
            | RunEvent::Answered { call, .. }
            | RunEvent::Compacted { call, .. }
            | RunEvent::FellBack { call, .. } => *call,
            _ => return,
        };
        let Some((entry, conversation)) = self.open_calls.get_mut(&call) else {
            return;
        };
        if let RunEvent::FellBack { value, .. } = event {
            entry.fallback = value().map(|value| self.texts.keep(&value));
        }
        conversation.event(event, &mut self.texts);
    }

    fn flow_began(
        &mut self,
        name: &str,
        outline: Outline,
        around: Option<Position>,
        started: SystemTime,
    ) -> u64 {
        self.totals.began(started);
        self.flows_begun = self.flows_begun.saturating_add(1);
        let number = self.flows_begun;
        let flow = FlowEntry {
            number,
            name: name.to_owned(),
            outline,
            around,
            started_unix_ms: unix_ms(started),
            ended: None,
            position: None,
            edges: Vec::new(),
            stats: Vec::new(),
            output: None,
            state: None,
        };
        self.flows.insert(number, flow);
        if self.flows.len() > FLOWS {
            let ended = self
                .flows
                .values()
                .find(|flow| flow.ended.is_some())
                .map(|flow| flow.number);
            ended
                .and_then(|number| self.flows.remove(&number))
                .into_iter()
                .for_each(|_| self.totals.left_out += 1);
        }
        number
    }

    fn step_began(
        &mut self,
        number: u64,
        continues: bool,
        at: &Position,
        node: &str,
        started: SystemTime,
    ) {
        if continues && self.step_continued(number, at, started) {
            return;
        }
        self.totals.steps += 1;
        let Some(flow) = self.flows.get_mut(&number) else {
            return;
        };
        let index = match flow.stats.iter().position(|stats| stats.position == *at) {
            Some(index) => index,
            None => {
                let position = at.clone();
                let first = self.totals.steps;
                let usage = Usage::default();
                let elapsed = Duration::ZERO;
                flow.stats.push(StepStats {
                    position,
                    first,
                    visits: 0,
                    runs: true,
                    category: None,
                    usage,
                    elapsed,
                });
                flow.stats.len() - 1
            }
        };
        let Some(stats) = flow.stats.get_mut(index) else {
            return;
        };
        stats.visits += 1;
        stats.runs = true;
        let visit = stats.visits;
        let step = StepEntry {
            number: self.totals.steps,
            flow: number,
            position: flow.whole_position(at),
            node: node.to_owned(),
            visit,
            started_unix_ms: unix_ms(started),
            ended: None,
            state: None,
            resumed_unix_ms: None,
        };
        self.open_steps.insert(number, step);
    }

    /// Opens the visit that paused once more, if it is still kept.
    fn step_continued(&mut self, number: u64, at: &Position, started: SystemTime) -> bool {
        let Some(flow) = self.flows.get_mut(&number) else {
            return false;
        };
        let position = flow.whole_position(at);
        let paused = self.steps.iter().rposition(|step| {
            step.has_paused() && step.flow == number && step.position == position
        });
        let Some(index) = paused else {
            return false;
        };
        let Some(mut step) = self.steps.remove(index) else {
            return false;
        };
        self.texts.bytes = self.texts.bytes.saturating_sub(step_size(&step));
        if let Some(stats) = flow.stats.iter_mut().find(|stats| stats.position == *at) {
            stats.runs = true;
            stats.category = None;
        }
        step.ended = None;
        step.resumed_unix_ms = Some(unix_ms(started));
        self.open_steps.insert(number, step);
        true
    }

    fn step_ended(
        &mut self,
        flow: u64,
        edges: &[(Position, String)],
        category: Option<Category>,
        usage: Usage,
        elapsed: Duration,
    ) {
        let Some(mut step) = self.open_steps.remove(&flow) else {
            return;
        };
        let from = step.resumed_unix_ms.take().unwrap_or(step.started_unix_ms);
        self.totals.ended(from, elapsed);
        // With the wait before it went on.
        let waited = Duration::from_millis(from.saturating_sub(step.started_unix_ms));
        step.ended = Some(Ended {
            category,
            error: None,
            elapsed: waited.saturating_add(elapsed),
        });
        if let Some(flow) = self.flows.get_mut(&flow) {
            flow.step_ended(&step, edges, (category, usage, elapsed));
        }
        self.texts.bytes += size_of::<StepEntry>() + step.node.len();
        self.steps.push_back(step);
    }

    fn call_began(&mut self, call: BegunCall<'_>, started: SystemTime) {
        self.totals.began(started);
        self.begun_calls += 1;
        // What is around it may not be recorded here.
        let parent = call.parent.filter(|parent| {
            self.open_calls.contains_key(parent) || self.dropped.contains_key(parent)
        });
        let flow = call.flow.filter(|flow| self.flows.contains_key(flow));
        self.totals.outer_calls += u64::from(parent.is_none() && flow.is_none());
        let entry = CallEntry {
            number: self.begun_calls,
            id: call.id,
            parent,
            node: call.node.to_owned(),
            item: call.item,
            step: flow
                .and_then(|flow| self.open_steps.get(&flow))
                .map(|step| step.number),
            started_unix_ms: unix_ms(started),
            record: None,
            error: None,
            fallback: None,
            corrected: Vec::new(),
            labels: BTreeMap::new(),
            exchanges: Vec::new(),
        };
        self.order.insert(entry.number, call.id);
        self.open_calls
            .insert(call.id, (entry, Conversation::default()));
    }

    fn attempt_ended(&mut self, attempt: &AttemptRecord) {
        self.totals.usage += Usage::from(attempt);
        self.totals.failed_requests += u64::from(attempt.category.is_some() && !attempt.unsent);
        if self.with_content
            && let Some((_, conversation)) = self.open_calls.get_mut(&attempt.id.call())
        {
            conversation.attempt_ended(attempt, &mut self.texts);
        }
    }

    fn call_ended(&mut self, record: &Arc<CallRecord>, error: Option<String>) {
        let open = self.open_calls.remove(&record.id);
        let dropped = self.dropped.remove(&record.id);
        let (is_outer, started_unix_ms) = match (&open, dropped) {
            (Some((call, _)), _) => (is_outer(call), call.started_unix_ms),
            (
                None,
                Some(DroppedCall {
                    is_outer,
                    started_unix_ms,
                }),
            ) => (is_outer, started_unix_ms),
            (None, None) => return,
        };
        self.totals.ended(started_unix_ms, record.elapsed);
        self.totals.used_fallback += u64::from(record.used_fallback.is_some());
        if record.replayed > 0 {
            self.totals.replayed += u64::from(record.replayed);
            self.totals.replayed_usage += record.replayed_usage();
        }
        if is_outer {
            self.totals.outer_failures += u64::from(record.category.is_some());
        }
        let Some((mut call, conversation)) = open else {
            return;
        };
        self.order.remove(&call.number);
        for (name, value) in &record.labels {
            call.labels
                .insert(self.texts.keep(name), self.texts.keep(value));
        }
        if self.with_content {
            let corrected = record.corrected();
            call.corrected = corrected
                .iter()
                .map(|one| self.texts.keep(&one.path))
                .collect();
        }
        call.record = Some(match has_texts(record) {
            true => Arc::new(self.without_texts(record)),
            false => Arc::clone(record),
        });
        call.error = error;
        call.exchanges = conversation.exchanges;
        self.texts.bytes += weight(&call);
        self.calls.push_back(call);
    }

    /// Texts are in the exchanges, and labels beside the record, both without secrets.
    fn without_texts(&self, record: &CallRecord) -> CallRecord {
        let mut kept = record.for_journal();
        kept.labels.clear();
        kept.attempts = record
            .attempts
            .iter()
            .map(JournalForm::for_journal)
            .collect();
        for one in &mut kept.failed_tries {
            one.message.clear();
        }
        let of_attempts = kept.attempts.iter_mut();
        let tools = of_attempts.flat_map(|attempt| &mut attempt.tools);
        for tool in tools.chain(&mut kept.resumed_tools) {
            tool.id = self.texts.id(&tool.id);
        }
        kept
    }

    /// What has ended first goes first, then what began first and goes on, and what was offered last: the newest is always kept.
    fn make_room(&mut self) {
        while self.calls.len() + self.steps.len() + self.open_calls.len() > self.limit.max(1)
            || self.texts.bytes > MEMORY
        {
            let Some(freed) = self.drop_ended().or_else(|| self.drop_open()) else {
                return;
            };
            self.texts.bytes = self.texts.bytes.saturating_sub(freed);
        }
    }

    fn drop_ended(&mut self) -> Option<usize> {
        let freed = match (self.calls.front(), self.steps.front()) {
            (Some(call), step)
                if step.is_none_or(|step| call.started_unix_ms <= step.started_unix_ms) =>
            {
                self.calls
                    .pop_front()
                    .map(|call| weight(&call) + content(&call))
            }
            _ => self.steps.pop_front().map(|step| step_size(&step)),
        };
        self.totals.left_out += u64::from(freed.is_some());
        freed
    }

    fn drop_open(&mut self) -> Option<usize> {
        let is_full = self.open_calls.len() > self.limit.max(1);
        let (number, id) = self
            .order
            .first_key_value()
            .map(|(number, id)| (*number, *id))?;
        // The only call that goes on loses its oldest exchanges.
        if self.open_calls.len() == 1 && !is_full {
            let (_, conversation) = self.open_calls.get_mut(&id)?;
            if let Some(freed) = conversation.drop_oldest() {
                self.totals.left_out += 1;
                return Some(freed);
            }
            return self
                .offered
                .pop_first()
                .map(|(node, offered)| node.len() + offered.size());
        }
        self.order.remove(&number);
        let (call, conversation) = self.open_calls.remove(&id)?;
        self.totals.left_out += 1;
        let dropped = DroppedCall {
            is_outer: is_outer(&call),
            started_unix_ms: call.started_unix_ms,
        };
        self.dropped.insert(id, dropped);
        Some(conversation.size() + content(&call))
    }
}

/// The program made it.
fn is_outer(call: &CallEntry) -> bool {
    call.parent.is_none() && call.step.is_none()
}

fn step_size(step: &StepEntry) -> usize {
    size_of::<StepEntry>() + step.node.len() + step.state.as_ref().map_or(0, String::len)
}

/// An answer of so many bytes may stay in a record that is shared.
const SHORT_ANSWER: usize = 1_024;

/// Whether a record has more than figures, short names and a short answer.
fn has_texts(record: &CallRecord) -> bool {
    !record.labels.is_empty()
        || !record.failed_tries.is_empty()
        || !record.resumed_tools.is_empty()
        || record.attempts.iter().any(attempt_has_texts)
}

fn attempt_has_texts(attempt: &AttemptRecord) -> bool {
    let answer = attempt.answer.as_ref().map_or(0, String::len);
    answer > SHORT_ANSWER
        || !attempt.message.is_empty()
        || !attempt.violations.is_empty()
        || !attempt.tools.is_empty()
}

fn weight(call: &CallEntry) -> usize {
    size_of::<CallEntry>() + call.record.as_deref().map_or(0, record_weight)
}

fn record_weight(record: &CallRecord) -> usize {
    let changed = record.changed_since_pause.iter();
    size_of::<CallRecord>()
        + record.failed_tries.len() * size_of::<FailedTry>()
        + changed.map(|name| text_weight(name)).sum::<usize>()
        + record.attempts.iter().map(attempt_weight).sum::<usize>()
        + record.resumed_tools.iter().map(tool_weight).sum::<usize>()
}

fn attempt_weight(attempt: &AttemptRecord) -> usize {
    let of_server = [
        attempt.model.as_deref(),
        attempt.finish_reason.as_deref(),
        attempt.request_id.as_deref(),
    ];
    let lists = attempt.refused.iter().chain(&attempt.narrowed);
    let texts = of_server
        .into_iter()
        .flatten()
        .chain(lists.map(String::as_str));
    size_of::<AttemptRecord>()
        + attempt.answer.as_ref().map_or(0, String::len)
        + texts.map(text_weight).sum::<usize>()
        + attempt.flags.len() * size_of::<Flag>()
        + attempt.tools.iter().map(tool_weight).sum::<usize>()
}

fn tool_weight(tool: &ToolRecord) -> usize {
    size_of::<ToolRecord>() + tool.id.len() + tool.name.len() + tool.outcome.len()
}

fn text_weight(text: &str) -> usize {
    size_of::<String>() + text.len()
}

fn content(call: &CallEntry) -> usize {
    let labels = call
        .labels
        .iter()
        .map(|(name, value)| name.len() + value.len())
        .sum::<usize>();
    let exchanges: usize = call.exchanges.iter().map(crate::conversation::size).sum();
    let texts = [&call.error, &call.fallback]
        .into_iter()
        .flatten()
        .chain(&call.corrected);
    labels + exchanges + texts.map(String::len).sum::<usize>()
}

/// The id that the provider knows a model by, with the name that the program gave it.
fn described_model(name: Option<String>, id: Option<String>) -> String {
    match (name, id) {
        (Some(name), Some(id)) if name != id => format!("{id} as {name}"),
        (name, id) => id.or(name).unwrap_or("unnamed".to_owned()),
    }
}

impl Setup {
    fn of(setup: RunSetup) -> Self {
        let mut models: Vec<String> = setup
            .models
            .into_iter()
            .map(|(name, id)| described_model(name, id))
            .collect();
        models.dedup();
        Setup {
            models,
            limits: setup.limits,
            prices_made: setup.prices_made,
        }
    }
}

impl Totals {
    fn began(&mut self, started: SystemTime) {
        let started = unix_ms(started);
        self.started_unix_ms = Some(
            self.started_unix_ms
                .map_or(started, |first| first.min(started)),
        );
        self.ended_unix_ms = self.ended_unix_ms.max(started);
    }

    fn ended(&mut self, started_unix_ms: u64, elapsed: Duration) {
        let elapsed = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        self.ended_unix_ms = self
            .ended_unix_ms
            .max(started_unix_ms.saturating_add(elapsed));
    }
}

impl StepEntry {
    fn has_paused(&self) -> bool {
        self.ended
            .as_ref()
            .is_some_and(|ended| ended.category == Some(Category::Paused))
    }
}

impl FlowEntry {
    /// The position of one of its steps in the run.
    fn whole_position(&self, at: &Position) -> Position {
        match &self.around {
            Some(around) => around.below(at.labels()),
            None => at.clone(),
        }
    }

    fn step_ended(
        &mut self,
        step: &StepEntry,
        edges: &[(Position, String)],
        (category, usage, elapsed): (Option<Category>, Usage, Duration),
    ) {
        let depth = self
            .around
            .as_ref()
            .map_or(0, |around| around.labels().len());
        // A step has the whole position, its figures that within the flow.
        let stats = self.stats.iter_mut().find(|stats| {
            let within_flow = step.position.labels().skip(depth);
            stats.position.labels().eq(within_flow)
        });
        if let Some(stats) = stats {
            stats.runs = false;
            stats.category = category;
            stats.usage += usage;
            stats.elapsed = stats.elapsed.saturating_add(elapsed);
        }
        for (from, action) in edges {
            match self
                .edges
                .iter_mut()
                .find(|(start, by, _)| start == from && by == action)
            {
                Some((_, _, times)) => *times += 1,
                None => self.edges.push((from.clone(), action.clone(), 1)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use llmnode_model::ext::Redactor;
    use llmnode_model::internal::Ids;
    use llmnode_runtime::{Message, Request};
    use serde_json::json;

    use super::*;

    fn began(collected: &mut Collected, id: CallId) {
        let call = BegunCall {
            id,
            parent: None,
            node: "ask",
            flow: None,
            item: None,
        };
        collected.call_began(call, SystemTime::now());
        collected.make_room();
    }

    fn add_request(collected: &mut Collected, id: CallId, attempt: u32, text: String) {
        let request = Request::new(vec![Message::user(text)]);
        collected.add_request(id.attempt(attempt), &request);
        collected.make_room();
    }

    /// A call that goes on for long, such as an agent.
    #[test]
    fn the_newest_of_a_call_that_goes_on_is_kept() {
        let mut collected = Collected::new(Texts::new(Redactor::default(), 0));
        collected.with_content = true;
        let mut ids = Ids::default();
        let id = ids.next();
        began(&mut collected, id);
        for attempt in 0..1_200 {
            add_request(
                &mut collected,
                id,
                attempt,
                format!("{attempt} {}", "x".repeat(60_000)),
            );
        }
        assert!(collected.texts.bytes <= MEMORY, "{}", collected.texts.bytes);
        let document = collected.document();
        let exchanges = &document.calls[0].exchanges;
        let newest = &exchanges[exchanges.len() - 1].messages[0].text;
        assert_eq!(newest.split(' ').next(), Some("1199"));
        assert!(exchanges.len() > 1_000 && document.totals.left_out > 0);
        let held: usize = exchanges.iter().map(crate::conversation::size).sum();
        assert!(collected.texts.bytes >= held && collected.texts.bytes < held + (1 << 20));
    }

    fn held(collected: &Collected) -> usize {
        let attempts = collected
            .calls
            .iter()
            .filter_map(|call| call.record.as_deref())
            .flat_map(|record| &record.attempts);
        let mut held = 0;
        for attempt in attempts {
            held += attempt.answer.as_ref().map_or(0, String::len) + attempt.message.len();
            held += attempt
                .tools
                .iter()
                .map(|tool| tool.id.len())
                .sum::<usize>();
        }
        held
    }

    /// Whose record has what others keep: the whole answers, and ids of tools that a server made up.
    #[test]
    fn what_records_hold_is_counted() {
        for with_content in [false, true] {
            let mut collected = Collected::new(Texts::new(Redactor::default(), 0));
            collected.with_content = with_content;
            let mut ids = Ids::default();
            for _ in 0..2_000 {
                let id = ids.next();
                began(&mut collected, id);
                let record = Arc::new(record_with_long_texts(id));
                collected.attempt_ended(&record.attempts[0]);
                collected.call_ended(&record, None);
                collected.make_room();
            }
            assert!(held(&collected) <= MEMORY, "{}", held(&collected));
            assert!(collected.texts.bytes <= MEMORY);
        }
    }

    fn record_with_long_texts(id: CallId) -> CallRecord {
        let tool =
            json!({"id": "t".repeat(60_000), "name": "find", "outcome": "ok", "elapsed_ms": 1});
        let attempt = json!({
            "id": id.attempt(1), "kind": "first", "category": null, "usage": null, "wait_ms": 0,
            "elapsed_ms": 1, "model": "m", "request_id": null, "tools": [tool],
        });
        let record = json!({
            "id": id, "node": "ask", "started_unix_ms": 1, "category": null,
            "attempts": [attempt], "elapsed_ms": 1,
        });
        let mut record: CallRecord = serde_json::from_value(record).unwrap();
        record.attempts[0].answer = Some("x".repeat(60_000));
        record.attempts[0].message = "y".repeat(1_000);
        record
    }

    #[test]
    fn of_calls_that_go_on_the_newest_are_kept() {
        let mut collected = Collected::new(Texts::new(Redactor::default(), 0));
        collected.limit = 10;
        let mut ids = Ids::default();
        let all: Vec<CallId> = (0..100).map(|_| ids.next()).collect();
        all.iter().for_each(|id| began(&mut collected, *id));
        let document = collected.document();
        let kept: Vec<u64> = document.calls.iter().map(|call| call.number).collect();
        assert_eq!(kept, (91..=100).collect::<Vec<_>>());
        assert_eq!(
            (document.totals.outer_calls, document.totals.left_out),
            (100, 90)
        );
    }
}
