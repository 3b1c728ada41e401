//! Tells what a flow does, once: its spans begin and end here, and recordings,
//! watches and hooks are told of the same events.

use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime};

use llmnode_model::internal::catch_panic;
use llmnode_runtime::ext::{Position, PositionExt, RunEvent, RunRecorder as _, StepRecord};
use llmnode_runtime::internal::{Caller, UsageSum};
use llmnode_runtime::{Category, Clock, NodeError};
use tracing::Span;

use super::outline::Outline;
use super::spans::{FlowSpan, StepSpan};
use super::watchers::{ActiveWatchers, Watchers};

/// Positions do not distinguish concurrent flows.
fn next_number() -> u64 {
    static NUMBERS: AtomicU64 = AtomicU64::new(1);
    NUMBERS.fetch_add(1, Ordering::Relaxed)
}

pub(super) trait StepLog: Send {
    fn begin_step(&mut self, at: &Position, node: &str) -> Span;

    fn step_span(&self) -> &Span;

    fn edge_taken(&mut self, at: &Position, depth: usize, action: &str);
}

pub(super) struct FlowRecorder<'r> {
    clock: &'r dyn Clock,
    watching: Option<Arc<ActiveWatchers<'r>>>,
    flow: FlowSpan,
    began: Instant,
    started: SystemTime,
    within: Caller<'r>,
    number: u64,
    steps: u64,
    step: Option<OpenStep>,
    span: StepSpan,
    ended: bool,
}

type OutputText<'t> = dyn Fn() -> Option<String> + 't;

struct OpenStep {
    record: StepRecord,
    began: Instant,
    /// Innermost first: the end of a nested flow is followed by an edge of the outer one.
    taken: Vec<(Position, String)>,
}

impl<'r> FlowRecorder<'r> {
    pub(super) fn begin(
        flow: &str,
        outline: &dyn Fn() -> Outline,
        at: &Position,
        clock: &'r dyn Clock,
        (watchers, within): (Watchers<'r>, Caller<'r>),
        continues: bool,
    ) -> Self {
        if !watchers.watches.is_empty() {
            let outline = outline();
            watchers
                .watches
                .iter()
                .for_each(|watch| watch.open(outline.clone(), at.clone()));
        }
        let began = catch_panic(|| clock.now()).unwrap_or_else(|_| Instant::now());
        let started = SystemTime::now();
        let number = if within.is_recorded() {
            next_number()
        } else {
            0
        };
        if number > 0 {
            within.record(&RunEvent::FlowBegan {
                flow: number,
                continues,
                name: flow,
                outline: &|| serde_json::to_value(outline()).unwrap_or_default(),
                around: within.position_within(),
                started,
            });
        }
        FlowRecorder {
            clock,
            watching: ActiveWatchers::begin(watchers, within.depth()),
            flow: FlowSpan::begin(flow),
            began,
            started,
            within,
            number,
            steps: 0,
            step: None,
            span: StepSpan::none(),
            ended: false,
        }
    }

    pub(super) fn observer(&self) -> Option<Arc<ActiveWatchers<'r>>> {
        self.watching.clone().filter(|watching| watching.observes)
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn span(&self) -> &Span {
        self.flow.span()
    }

    pub(super) fn state(&self, text: &OutputText<'_>) {
        if self.number > 0 {
            self.within.record(&RunEvent::FlowState {
                flow: self.number,
                text,
            });
        }
    }

    pub(super) fn step_ended(&mut self, at: &Position, ended: bool, usage_sum: &UsageSum<'_>) {
        self.close(at, ended, None, usage_sum);
    }

    pub(super) fn step_failed(
        &mut self,
        at: &Position,
        category: Category,
        usage_sum: &UsageSum<'_>,
    ) {
        self.close(at, false, Some(category), usage_sum);
    }

    fn close(
        &mut self,
        at: &Position,
        ended: bool,
        category: Option<Category>,
        usage_sum: &UsageSum<'_>,
    ) {
        self.steps = self.steps.saturating_add(1);
        self.span.end(category);
        self.span = StepSpan::none();
        let Some(OpenStep {
            mut record,
            began,
            taken,
        }) = self.step.take()
        else {
            return;
        };
        let tallied = usage_sum.take();
        let now = self.now();
        record.category = category;
        record.usage = tallied.usage;
        record.asking = tallied.asking;
        record.elapsed = now.saturating_duration_since(began);
        if let Some((_, action)) = taken.first() {
            record.action.clone_from(action);
        }
        self.emit(&RunEvent::StepEnded {
            flow: self.number,
            step: &record,
            edges: &taken,
            next: (!ended).then_some(at),
            flow_elapsed: now.saturating_duration_since(self.began),
        });
    }

    pub(super) fn end(
        &mut self,
        error: Option<&NodeError>,
        at: &Position,
        output: &OutputText<'_>,
    ) {
        let category = error.map(NodeError::category);
        let error = error.map(|error| error as &dyn Display);
        self.end_with((category, error), at, output);
    }

    fn end_with(
        &mut self,
        (category, error): (Option<Category>, Option<&dyn Display>),
        at: &Position,
        output: &OutputText<'_>,
    ) {
        self.ended = true;
        self.flow.end(self.steps, category);
        let elapsed = self.now().saturating_duration_since(self.began);
        self.emit(&RunEvent::FlowEnded {
            flow: self.number,
            steps: self.steps,
            position: category.map(|_| at),
            category,
            error,
            output,
            elapsed,
        });
    }

    /// Tells recordings, then the flow's own watches and hooks.
    fn emit(&self, event: &RunEvent<'_>) {
        if self.number > 0 {
            self.within.record(event);
        }
        if let Some(watching) = &self.watching {
            watching.record(event);
        }
    }

    /// A running step counts as cancelled, with what it used.
    pub(super) fn cancel(&mut self, at: &Position, usage_sum: &UsageSum<'_>) {
        if self.ended {
            return;
        }
        if self.step.is_some() {
            self.step_failed(at, Category::Cancelled, usage_sum);
        }
        self.end_with((Some(Category::Cancelled), None), at, &|| None);
    }

    /// A clock that panics must not end the flow.
    fn now(&self) -> Instant {
        catch_panic(|| self.clock.now()).unwrap_or(self.began)
    }
}

impl StepLog for FlowRecorder<'_> {
    fn begin_step(&mut self, at: &Position, node: &str) -> Span {
        self.span = StepSpan::begin(at, node);
        if self.watching.is_some() || self.number > 0 {
            let began = self.now();
            let started = self
                .started
                .checked_add(began.saturating_duration_since(self.began));
            let record = StepRecord::new(at.clone(), node, started);
            self.step = Some(OpenStep {
                record,
                began,
                taken: Vec::new(),
            });
            self.emit(&RunEvent::StepBegan {
                flow: self.number,
                position: at,
                node,
                started: started.unwrap_or(self.started),
            });
        }
        self.span.span().clone()
    }

    fn step_span(&self) -> &Span {
        self.span.span()
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
