//! From the events of a run to what a recording holds.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::mem::size_of;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use llmnode_flow::flow::{Outline, Position};
use llmnode_runtime::internal::{PositionExt, RunEvent, RunSetup};
use llmnode_runtime::{AttemptRecord, CallId, CallInfo, CallRecord, Category, Usage};

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
    steps: VecDeque<StepEntry>,
    /// By the number of the flow.
    open_steps: HashMap<u64, StepEntry>,
    calls: VecDeque<CallEntry>,
    open_calls: HashMap<CallId, (CallEntry, Conversation)>,
    begun_calls: u64,
    offered: BTreeMap<String, Offered>,
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
            steps: VecDeque::new(),
            open_steps: HashMap::new(),
            calls: VecDeque::new(),
            open_calls: HashMap::new(),
            begun_calls: 0,
            offered: BTreeMap::new(),
        }
    }

    pub(crate) fn of(document: Document, texts: Texts) -> Self {
        let Document { with_content, setup, totals, flows, steps, calls, offered, .. } = document;
        Collected {
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
        let mut steps: Vec<_> = self.steps.iter().chain(self.open_steps.values()).cloned().collect();
        steps.sort_by_key(|step| step.number);
        let open = self.open_calls.values().map(|(call, conversation)| CallEntry {
            exchanges: conversation.exchanges.clone(),
            ..call.clone()
        });
        let mut calls: Vec<_> = self.calls.iter().cloned().chain(open).collect();
        calls.sort_by_key(|call| call.number);
        let mut totals = self.totals.clone();
        if self.is_running() {
            totals.ended_unix_ms = totals.ended_unix_ms.max(unix_ms(SystemTime::now()));
        }
        Document {
            llmnode: env!("CARGO_PKG_VERSION").to_owned(),
            with_content: self.with_content,
            setup: self.setup.clone().unwrap_or_default(),
            totals,
            flows: self.flows.values().cloned().collect(),
            steps,
            calls,
            offered: self.offered.clone(),
        }
    }

    fn is_running(&self) -> bool {
        !self.open_calls.is_empty() || self.flows.values().any(|flow| flow.ended.is_none())
    }

    pub(crate) fn event(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Setup(setup) => {
                self.setup.get_or_insert_with(|| Setup::of(setup()));
            }
            RunEvent::FlowBegan { flow, name, outline, around, started } => {
                let outline = serde_json::from_value(outline()).unwrap_or(Outline::Parallel(Vec::new()));
                self.flow_began(*flow, name, outline, around.clone(), *started);
            }
            RunEvent::StepBegan { flow, position, node, started } => {
                self.step_began(*flow, position, node, *started);
            }
            RunEvent::StepEnded { flow, edges, category, usage, elapsed } => {
                self.step_ended(*flow, edges, *category, *usage, *elapsed);
            }
            RunEvent::FlowEnded { flow, position, category, error, output, elapsed } => {
                let error =
                    error.filter(|_| self.with_content).map(|error| self.texts.keep(&error.to_string()));
                let output = self.with_content.then(output).flatten();
                let output = output.map(|output| self.texts.keep(&output));
                if let Some(entry) = self.flows.get_mut(flow) {
                    entry.ended = Some(Ended { category: *category, error, elapsed: *elapsed });
                    (entry.position, entry.output) = (position.cloned(), output);
                    self.totals.ended(entry.started_unix_ms, *elapsed);
                }
            }
            RunEvent::CallBegan { call, flow, item, started, .. } => {
                self.call_began(call, *flow, *item, *started);
            }
            RunEvent::AttemptEnded(attempt) => self.attempt_ended(attempt),
            RunEvent::CallEnded { record, error } => {
                let error =
                    error.filter(|_| self.with_content).map(|error| self.texts.keep(&error.to_string()));
                self.call_ended(record, error);
            }
            content if self.with_content => self.content(content),
            _ => {}
        }
    }

    fn content(&mut self, event: &RunEvent<'_>) {
        let call = match event {
            RunEvent::RequestBegan { attempt, .. } | RunEvent::ToolsCalled { attempt, .. } => attempt.call(),
            RunEvent::Replayed { call, .. }
            | RunEvent::ToolEnded { call, .. }
            | RunEvent::FellBack { call, .. } => *call,
            _ => return,
        };
        let Some((entry, conversation)) = self.open_calls.get_mut(&call) else { return };
        match event {
            RunEvent::FellBack { value, .. } => {
                entry.fallback = value().map(|value| self.texts.keep(&value));
            }
            RunEvent::RequestBegan { request, .. }
                if self.offered.len() < NODES && !self.offered.contains_key(&entry.node) =>
            {
                self.offered.insert(entry.node.clone(), self.texts.offered(request));
            }
            _ => {}
        }
        conversation.event(event, &mut self.texts);
    }

    fn flow_began(
        &mut self,
        number: u64,
        name: &str,
        outline: Outline,
        around: Option<Position>,
        started: SystemTime,
    ) {
        self.totals.began(started);
        let flow = FlowEntry {
            number,
            // The name of a graph is its author's choice.
            name: if name.is_empty() { "graph".to_owned() } else { name.to_owned() },
            outline,
            around,
            started_unix_ms: unix_ms(started),
            ended: None,
            position: None,
            edges: Vec::new(),
            stats: Vec::new(),
            output: None,
        };
        self.flows.insert(number, flow);
        if self.flows.len() > FLOWS {
            let ended = self.flows.values().find(|flow| flow.ended.is_some()).map(|flow| flow.number);
            ended
                .and_then(|number| self.flows.remove(&number))
                .into_iter()
                .for_each(|_| self.totals.left_out += 1);
        }
    }

    fn step_began(&mut self, number: u64, at: &Position, node: &str, started: SystemTime) {
        self.totals.steps += 1;
        let Some(flow) = self.flows.get_mut(&number) else { return };
        let index = match flow.stats.iter().position(|stats| stats.position == *at) {
            Some(index) => index,
            None => {
                let position = at.clone();
                let (first, usage, elapsed) = (self.totals.steps, Usage::default(), Duration::ZERO);
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
        let Some(stats) = flow.stats.get_mut(index) else { return };
        (stats.visits, stats.runs) = (stats.visits + 1, true);
        let position = flow.around.as_ref().map_or_else(|| at.clone(), |around| around.below(at.labels()));
        let (node, visit, started_unix_ms) = (node.to_owned(), stats.visits, unix_ms(started));
        let (flow, ended) = (number, None);
        let number = self.totals.steps;
        let step = StepEntry { number, flow, position, node, visit, started_unix_ms, ended };
        self.open_steps.insert(flow, step);
    }

    fn step_ended(
        &mut self,
        flow: u64,
        edges: &[(Position, String)],
        category: Option<Category>,
        usage: Usage,
        elapsed: Duration,
    ) {
        let Some(mut step) = self.open_steps.remove(&flow) else { return };
        self.totals.ended(step.started_unix_ms, elapsed);
        step.ended = Some(Ended { category, error: None, elapsed });
        if let Some(flow) = self.flows.get_mut(&flow) {
            flow.step_ended(&step, edges, (category, usage, elapsed));
        }
        self.texts.bytes += size_of::<StepEntry>() + step.node.len();
        self.steps.push_back(step);
        self.make_room();
    }

    fn call_began(&mut self, call: &CallInfo<'_>, flow: Option<u64>, item: Option<u32>, started: SystemTime) {
        self.totals.began(started);
        self.begun_calls += 1;
        // What is around it may not be recorded here.
        let parent = call.parent.filter(|parent| self.open_calls.contains_key(parent));
        let flow = flow.filter(|flow| self.flows.contains_key(flow));
        self.totals.outer_calls += u64::from(parent.is_none() && flow.is_none());
        if self.open_calls.len() >= self.limit.max(1) {
            self.totals.left_out += 1;
            return;
        }
        let entry = CallEntry {
            number: self.begun_calls,
            id: call.id,
            parent,
            node: call.node.to_owned(),
            item,
            step: flow.and_then(|flow| self.open_steps.get(&flow)).map(|step| step.number),
            started_unix_ms: unix_ms(started),
            record: None,
            error: None,
            fallback: None,
            labels: BTreeMap::new(),
            exchanges: Vec::new(),
        };
        self.open_calls.insert(call.id, (entry, Conversation::default()));
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
        let Some((mut call, conversation)) = self.open_calls.remove(&record.id) else { return };
        self.totals.ended(call.started_unix_ms, record.elapsed);
        self.totals.degraded += u64::from(record.degraded.is_some());
        if record.replayed > 0 {
            self.totals.replayed += u64::from(record.replayed);
            self.totals.replayed_usage += record.replayed_usage();
        }
        if call.parent.is_none() && call.step.is_none() {
            self.totals.outer_failures += u64::from(record.category.is_some());
        }
        for (name, value) in &record.labels {
            call.labels.insert(self.texts.keep(name), self.texts.keep(value));
        }
        (call.record, call.error, call.exchanges) = (Some(Arc::clone(record)), error, conversation.exchanges);
        self.texts.bytes += weight(&call);
        self.calls.push_back(call);
        self.make_room();
    }

    /// What has ended first goes first.
    fn make_room(&mut self) {
        while self.calls.len() + self.steps.len() > self.limit || self.texts.bytes > MEMORY {
            let freed = match (self.calls.front(), self.steps.front()) {
                (Some(call), step)
                    if step.is_none_or(|step| call.started_unix_ms <= step.started_unix_ms) =>
                {
                    self.calls.pop_front().map(|call| weight(&call) + content(&call))
                }
                _ => self.steps.pop_front().map(|step| size_of::<StepEntry>() + step.node.len()),
            };
            let Some(freed) = freed else { return };
            self.texts.bytes = self.texts.bytes.saturating_sub(freed);
            self.totals.left_out += 1;
        }
    }
}

fn weight(call: &CallEntry) -> usize {
    let attempts = call.record.as_ref().map_or(0, |record| record.attempts.len());
    size_of::<CallEntry>() + size_of::<CallRecord>() + attempts * size_of::<AttemptRecord>()
}

fn content(call: &CallEntry) -> usize {
    let labels = call.labels.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
    let exchanges: usize = call.exchanges.iter().map(crate::conversation::size).sum();
    labels + exchanges + [&call.error, &call.fallback].into_iter().flatten().map(String::len).sum::<usize>()
}

impl Setup {
    fn of(setup: RunSetup) -> Self {
        let model = |(name, id): (Option<String>, Option<String>)| match (name, id) {
            (Some(name), Some(id)) if name != id => format!("{id} as {name}"),
            (name, id) => id.or(name).unwrap_or("unnamed".to_owned()),
        };
        let mut models: Vec<String> = setup.models.into_iter().map(model).collect();
        models.dedup();
        Setup { models, limits: setup.limits, prices_made: setup.prices_made }
    }
}

impl Totals {
    fn began(&mut self, started: SystemTime) {
        let started = unix_ms(started);
        self.started_unix_ms = Some(self.started_unix_ms.map_or(started, |first| first.min(started)));
        self.ended_unix_ms = self.ended_unix_ms.max(started);
    }

    fn ended(&mut self, started_unix_ms: u64, elapsed: Duration) {
        let elapsed = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        self.ended_unix_ms = self.ended_unix_ms.max(started_unix_ms.saturating_add(elapsed));
    }
}

impl FlowEntry {
    fn step_ended(
        &mut self,
        step: &StepEntry,
        edges: &[(Position, String)],
        (category, usage, elapsed): (Option<Category>, Usage, Duration),
    ) {
        let below = self.around.as_ref().map_or(0, |around| around.labels().len());
        let own = || step.position.labels().skip(below);
        if let Some(stats) = self.stats.iter_mut().find(|stats| stats.position.labels().eq(own())) {
            (stats.runs, stats.category) = (false, category);
            stats.usage += usage;
            stats.elapsed = stats.elapsed.saturating_add(elapsed);
        }
        for (from, action) in edges {
            match self.edges.iter_mut().find(|(known, by, _)| known == from && by == action) {
                Some((_, _, times)) => *times += 1,
                None => self.edges.push((from.clone(), action.clone(), 1)),
            }
        }
    }
}
