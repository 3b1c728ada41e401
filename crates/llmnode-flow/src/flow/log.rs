//! Reports what a flow does: always in spans, and to its hooks and watches.

use std::sync::Arc;
use std::time::{Duration, Instant};

use llmnode_model::internal::catch_panic;
use llmnode_runtime::internal::{Position, PositionExt, UsageSum};
use llmnode_runtime::{Category, Clock};
use tracing::Span;

use super::event::FlowEvent;
use super::outline::Outline;
use super::record::StepRecord;
use super::spans::{FlowSpan, StepSpan};
use super::watchers::{ActiveWatchers, Watchers};

pub(super) trait StepLog: Send {
    fn begin_step(&mut self, at: &Position, node: &str) -> Span;

    fn edge_taken(&mut self, at: &Position, depth: usize, action: &str);
}

pub(super) struct FlowRecorder<'r> {
    clock: &'r dyn Clock,
    watching: Option<Arc<ActiveWatchers<'r>>>,
    flow: FlowSpan,
    began: Instant,
    steps: u64,
    step: Option<OpenStep>,
    span: StepSpan,
    ended: bool,
}

struct OpenStep {
    record: StepRecord,
    began: Instant,
    /// Innermost first: where a nested flow ends, the edge of the outer one follows.
    taken: Vec<(Position, String)>,
}

impl<'r> FlowRecorder<'r> {
    pub(super) fn begin(
        flow: &str,
        outline: impl FnOnce() -> Outline,
        at: &Position,
        clock: &'r dyn Clock,
        (watchers, depth): (Watchers<'r>, usize),
    ) -> Self {
        if !watchers.watches.is_empty() {
            let outline = outline();
            watchers.watches.iter().for_each(|watch| watch.open(outline.clone(), at.clone()));
        }
        let began = catch_panic(|| clock.now()).unwrap_or_else(|_| Instant::now());
        FlowRecorder {
            clock,
            watching: ActiveWatchers::begin(watchers, depth),
            flow: FlowSpan::begin(flow),
            began,
            steps: 0,
            step: None,
            span: StepSpan::none(),
            ended: false,
        }
    }

    pub(super) fn observer(&self) -> Option<Arc<ActiveWatchers<'r>>> {
        self.watching.clone().filter(|watching| watching.observes)
    }

    pub(super) fn span(&self) -> &Span {
        self.flow.span()
    }

    pub(super) fn step_ended(&mut self, at: &Position, ended: bool, usage_sum: &UsageSum<'_>) {
        self.close(at, ended, None, usage_sum);
    }

    pub(super) fn step_failed(&mut self, at: &Position, category: Category, usage_sum: &UsageSum<'_>) {
        self.close(at, false, Some(category), usage_sum);
    }

    fn close(&mut self, at: &Position, ended: bool, category: Option<Category>, usage_sum: &UsageSum<'_>) {
        self.steps = self.steps.saturating_add(1);
        self.span.end(category);
        self.span = StepSpan::none();
        let Some(watching) = &self.watching else { return };
        let Some(OpenStep { mut record, began, taken }) = self.step.take() else { return };
        let tallied = usage_sum.take();
        let now = self.now();
        (record.category, record.usage, record.asking) = (category, tallied.usage, tallied.asking);
        record.elapsed = now.saturating_duration_since(began);
        if let Some((_, action)) = taken.first() {
            record.action.clone_from(action);
        }
        let next = (!ended).then_some(at);
        let elapsed = now.saturating_duration_since(self.began);
        watching.note(|book| {
            taken.iter().for_each(|(from, action)| book.count_edge(from, action));
            book.add(record.clone());
            (book.position, book.elapsed) = (next.cloned(), elapsed);
        });
        watching.notify(&FlowEvent::StepEnded { step: &record, next });
    }

    /// `None`: the flow has ended with an action.
    pub(super) fn end(&mut self, category: Option<Category>) {
        self.ended = true;
        self.flow.end(self.steps, category);
        let Some(watching) = &self.watching else { return };
        let elapsed = self.now().saturating_duration_since(self.began);
        watching.note(|book| (book.category, book.elapsed) = (category, elapsed));
        watching.notify(&FlowEvent::FlowEnded { steps: self.steps, elapsed, category });
    }

    /// Reports a dropped flow. A step under way counts as cancelled, with what it used.
    pub(super) fn cancel(&mut self, at: &Position, usage_sum: &UsageSum<'_>) {
        if self.ended {
            return;
        }
        if self.step.is_some() {
            self.step_failed(at, Category::Cancelled, usage_sum);
        }
        self.end(Some(Category::Cancelled));
    }

    /// A clock that panics must not end the flow.
    fn now(&self) -> Instant {
        catch_panic(|| self.clock.now()).unwrap_or(self.began)
    }
}

impl StepLog for FlowRecorder<'_> {
    fn begin_step(&mut self, at: &Position, node: &str) -> Span {
        self.span = StepSpan::begin(at, node);
        if let Some(watching) = &self.watching {
            let record = StepRecord {
                position: at.clone(),
                node: node.to_owned(),
                action: String::new(),
                category: None,
                usage: Default::default(),
                asking: Duration::ZERO,
                elapsed: Duration::ZERO,
            };
            self.step = Some(OpenStep { record, began: self.now(), taken: Vec::new() });
            watching.step_begins(at, node);
        }
        self.span.span().clone()
    }

    fn edge_taken(&mut self, at: &Position, depth: usize, action: &str) {
        if let Some(open) = &mut self.step {
            open.taken.push((at.outer(depth + 1), action.to_owned()));
        }
        if at.labels().len() == depth + 1 {
            self.span.edge_taken(action);
        }
    }
}
