//! Which parts of a recording are shown, and in which order.
//!
//! The newest steps and calls are chosen once, here, and all sections draw the same ones: links of the chart lead to calls that
//! the page has. Left out are calls that say nothing of their own: a tool's call is shown where it was made, and a batch by its
//! items. A call whose parent is not shown is put below the nearest one that is. Depths are bounded, since a file from elsewhere may
//! have circles.

use std::collections::{HashMap, HashSet};

use llmnode_runtime::{CallId, Category};

use crate::document::{CallEntry, Document, FlowEntry, StepEntry};

/// Of each: the newest are shown.
const SHOWN: usize = 256;

pub(crate) struct View<'d> {
    pub(crate) document: &'d Document,
    pub(crate) steps: &'d [StepEntry],
    /// Those with something to show.
    pub(crate) calls: Vec<&'d CallEntry>,
    /// How many are not shown.
    pub(crate) more: (u64, u64),
    children: HashMap<CallId, Vec<&'d CallEntry>>,
}

/// What has become of the run.
pub(crate) enum State {
    Empty,
    Running,
    Completed,
    Failed(Category),
    /// So many of so many calls or flows.
    Partly(u64, u64),
}

/// A row of the chart.
pub(crate) enum Row<'d> {
    Step(&'d StepEntry),
    /// With its depth among calls.
    Call(&'d CallEntry, usize),
}

fn has_content(call: &CallEntry) -> bool {
    let has_requests = call
        .record
        .as_deref()
        .is_some_and(|record| !record.attempts.is_empty() || record.replayed > 0);
    has_requests || !call.exchanges.is_empty()
}

/// A call, and the calls below it. `children`: of the calls that are not there yet, so that those of an id that two calls have are
/// written once.
fn add_rows<'d>(
    call: &'d CallEntry,
    depth: usize,
    children: &mut HashMap<CallId, Vec<&'d CallEntry>>,
    rows: &mut Vec<Row<'d>>,
) {
    rows.push(Row::Call(call, depth));
    // Nothing nests deeper in a run; a file may say so all the same.
    if depth < 64 {
        for child in children.remove(&call.id).unwrap_or_default() {
            add_rows(child, depth + 1, children, rows);
        }
    }
}

impl<'d> View<'d> {
    pub(crate) fn of(document: &'d Document) -> Self {
        let tools = document
            .calls
            .iter()
            .filter_map(|call| call.record.as_deref())
            .flat_map(|record| {
                record
                    .attempts
                    .iter()
                    .flat_map(|attempt| &attempt.tools)
                    .chain(&record.resumed_tools)
            });
        let tools: HashSet<CallId> = tools.filter_map(|tool| tool.call).collect();
        let mut parents: HashSet<CallId> = document
            .calls
            .iter()
            .filter_map(|call| call.parent)
            .collect();
        parents.extend(tools.iter().copied());
        // A tool is shown where it was called; a batch makes no request, and its items say more.
        let calls: Vec<_> = document
            .calls
            .iter()
            .filter(|call| has_content(call) || !parents.contains(&call.id))
            .collect();
        let first_call = calls.len().saturating_sub(SHOWN);
        let first_step = document.steps.len().saturating_sub(SHOWN);
        let calls = calls[first_call..].to_vec();
        let steps = &document.steps[first_step..];
        let call_ids: HashSet<CallId> = calls.iter().map(|call| call.id).collect();
        let mut children: HashMap<CallId, Vec<&CallEntry>> = HashMap::new();
        let parent_of: HashMap<CallId, Option<CallId>> = document
            .calls
            .iter()
            .map(|call| (call.id, call.parent))
            .collect();
        for call in &calls {
            let above =
                std::iter::successors(call.parent, |id| parent_of.get(id).copied().flatten());
            if let Some(parent) = above.take(64).find(|id| call_ids.contains(id)) {
                children.entry(parent).or_default().push(call);
            }
        }
        let gone = document.totals.steps.saturating_sub(steps.len() as u64);
        View {
            document,
            steps,
            more: (
                gone,
                document.totals.left_out.saturating_add(first_call as u64),
            ),
            calls,
            children,
        }
    }

    /// Steps and calls as they began, calls below what they belong to.
    pub(crate) fn rows(&self) -> Vec<Row<'d>> {
        let within: HashSet<CallId> = self
            .children
            .values()
            .flatten()
            .map(|call| call.id)
            .collect();
        let mut of_step: HashMap<u64, Vec<&CallEntry>> = HashMap::new();
        let step_numbers: HashSet<u64> = self.steps.iter().map(|step| step.number).collect();
        let mut outer = Vec::new();
        for call in self
            .calls
            .iter()
            .copied()
            .filter(|call| !within.contains(&call.id))
        {
            match call.step.filter(|step| step_numbers.contains(step)) {
                Some(step) => of_step.entry(step).or_default().push(call),
                None => outer.push(call),
            }
        }
        let mut outer = outer.into_iter().peekable();
        let mut children = self.children.clone();
        let mut rows = Vec::new();
        for step in self.steps {
            while let Some(call) = outer.next_if(|call| call.started_unix_ms < step.started_unix_ms)
            {
                add_rows(call, 0, &mut children, &mut rows);
            }
            rows.push(Row::Step(step));
            of_step
                .remove(&step.number)
                .unwrap_or_default()
                .into_iter()
                .for_each(|call| add_rows(call, 1, &mut children, &mut rows));
        }
        outer.for_each(|call| add_rows(call, 0, &mut children, &mut rows));
        rows
    }

    pub(crate) fn outer_flows(&self) -> impl Iterator<Item = &'d FlowEntry> {
        self.document
            .flows
            .iter()
            .filter(|flow| flow.around.is_none())
    }

    pub(crate) fn outer_calls(&self) -> impl Iterator<Item = &'d CallEntry> {
        self.document
            .calls
            .iter()
            .filter(|call| call.parent.is_none() && call.step.is_none())
    }

    pub(crate) fn state(&self) -> State {
        let flows: Vec<_> = self
            .outer_flows()
            .map(|flow| flow.ended.as_ref().map(|ended| ended.category))
            .collect();
        let totals = &self.document.totals;
        let running = flows.iter().any(Option::is_none)
            || self.outer_calls().any(|call| call.record.is_none());
        let continued = self.continued();
        let all = totals
            .outer_calls
            .saturating_add(flows.len() as u64)
            .saturating_sub(continued);
        let failures = flows.iter().flatten().flatten();
        let failed = totals
            .outer_failures
            .saturating_add(failures.clone().count() as u64);
        let failed = failed.saturating_sub(continued);
        let category = failures
            .copied()
            .chain(self.outer_calls().filter_map(CallEntry::category))
            .last();
        match (all, failed, category) {
            (0, ..) => State::Empty,
            _ if running => State::Running,
            (_, 0, _) => State::Completed,
            (1, _, Some(category)) => State::Failed(category),
            _ => State::Partly(failed, all),
        }
    }

    /// How many flows and calls paused, and went on within the same recording.
    fn continued(&self) -> u64 {
        let mut outer: Vec<(&str, Option<Category>)> = Vec::new();
        for flow in self.outer_flows() {
            let category = flow.ended.as_ref().and_then(|ended| ended.category);
            outer.push((&flow.name, category));
        }
        for call in self.outer_calls() {
            outer.push((&call.node, call.category()));
        }
        let mut continued = 0;
        for (at, (name, category)) in outer.iter().enumerate() {
            let is_named_again = outer[at + 1..].iter().any(|(later, _)| later == name);
            if *category == Some(Category::Paused) && is_named_again {
                continued += 1;
            }
        }
        continued
    }

    /// The text of the last error, if texts were recorded.
    pub(crate) fn error(&self) -> Option<&'d str> {
        let of_flow = self
            .outer_flows()
            .filter_map(|flow| flow.ended.as_ref()?.error.as_deref())
            .last();
        of_flow.or_else(|| {
            self.outer_calls()
                .filter_map(|call| call.error.as_deref())
                .last()
        })
    }

    pub(crate) fn title(&self) -> String {
        let flows = self.outer_flows().map(|flow| &*flow.name);
        let mut names: Vec<&str> = flows
            .chain(self.outer_calls().map(|call| &*call.node))
            .collect();
        let all = self
            .document
            .totals
            .outer_calls
            .saturating_add(names.len() as u64);
        let all = all.saturating_sub(self.outer_calls().count() as u64 + self.continued());
        names.dedup();
        match (names.as_slice(), all) {
            ([], _) => "Nothing recorded".to_owned(),
            ([name], 1) => (*name).to_owned(),
            ([name], all) => format!("{name} × {all}"),
            ([first, ..], all) => format!("{first} and {} more", all.saturating_sub(1)),
        }
    }
}
