//! Who is told what a flow does: spans always, hooks and a watch where they are asked for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use llmnode_runtime::internal::{Position, Tally, Walk, guarded};
use llmnode_runtime::{Category, Clock};
use tracing::Span;

use super::event::FlowEvent;
use super::outline::Outline;
use super::record::StepRecord;
use super::spans::{FlowSpan, StepSpan};
use super::watchers::{Watchers, Watching};

/// Who is told what the steps of a flow do.
pub(super) trait Log: Send {
    /// The step at this position begins; its span.
    fn begins(&mut self, at: &Position, node: &str) -> Span;

    /// What stands at that depth of the position is left by an edge.
    fn takes(&mut self, at: &Position, depth: usize, action: &str);
}

/// Calls hooks, keeps the book of a watch, and makes spans. Dropped before the flow's end, it says so everywhere.
pub(super) struct Recorder<'r> {
    clock: &'r dyn Clock,
    watching: Option<Arc<Watching<'r>>>,
    flow: FlowSpan,
    began: Instant,
    steps: u64,
    step: Option<Open>,
    span: StepSpan,
    ended: bool,
}

/// A step under way, as it is written down for those who look on.
struct Open {
    record: StepRecord,
    began: Instant,
    /// Innermost first: where a nested flow ends, the edge of the outer one follows.
    taken: Vec<(Position, String)>,
}

impl<'r> Recorder<'r> {
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
        let began = guarded(|| clock.now()).unwrap_or_else(|_| Instant::now());
        Recorder {
            clock,
            watching: Watching::begin(watchers, depth),
            flow: FlowSpan::begin(flow),
            began,
            steps: 0,
            step: None,
            span: StepSpan::none(),
            ended: false,
        }
    }

    /// Who observes what happens within a step.
    pub(super) fn observer(&self) -> Option<Arc<Watching<'r>>> {
        self.watching.clone().filter(|watching| watching.observes)
    }

    /// The span of the flow, for its future.
    pub(super) fn span(&self) -> &Span {
        self.flow.span()
    }

    /// The step has ended, and the flow stands at another position, or has `ended` with an action.
    pub(super) fn step_ended(&mut self, at: &Position, ended: bool, tally: &Tally<'_>) {
        self.close(at, ended, None, tally);
    }

    /// The step has failed; the flow stands there.
    pub(super) fn step_failed(&mut self, at: &Position, category: Category, tally: &Tally<'_>) {
        self.close(at, false, Some(category), tally);
    }

    fn close(&mut self, at: &Position, ended: bool, category: Option<Category>, tally: &Tally<'_>) {
        self.steps = self.steps.saturating_add(1);
        self.span.end(category);
        self.span = StepSpan::none();
        let Some(watching) = &self.watching else { return };
        let Some(Open { mut record, began, taken }) = self.step.take() else { return };
        let tallied = tally.take();
        let now = self.now();
        (record.category, record.usage, record.asking) = (category, tallied.usage, tallied.asking);
        record.elapsed = now.saturating_duration_since(began);
        if let Some((_, action)) = taken.first() {
            record.action.clone_from(action);
        }
        let next = (!ended).then_some(at);
        let elapsed = now.saturating_duration_since(self.began);
        watching.note(|book| {
            taken.iter().for_each(|(from, action)| book.took(from, action));
            book.add(record.clone());
            (book.position, book.elapsed) = (next.cloned(), elapsed);
        });
        watching.tell(&FlowEvent::StepEnded { step: &record, next });
    }

    /// The flow has ended, with an action if it is of no category.
    pub(super) fn end(&mut self, category: Option<Category>) {
        self.ended = true;
        self.flow.end(self.steps, category);
        let Some(watching) = &self.watching else { return };
        let elapsed = self.now().saturating_duration_since(self.began);
        watching.note(|book| (book.category, book.elapsed) = (category, elapsed));
        watching.tell(&FlowEvent::FlowEnded { steps: self.steps, elapsed, category });
    }

    /// The flow is dropped: a step that was under way has done nothing but what it used.
    pub(super) fn cancel(&mut self, at: &Position, tally: &Tally<'_>) {
        if self.ended {
            return;
        }
        if self.step.is_some() {
            self.step_failed(at, Category::Cancelled, tally);
        }
        self.end(Some(Category::Cancelled));
    }

    /// A clock that panics stands still.
    fn now(&self) -> Instant {
        guarded(|| self.clock.now()).unwrap_or(self.began)
    }
}

impl Log for Recorder<'_> {
    fn begins(&mut self, at: &Position, node: &str) -> Span {
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
            self.step = Some(Open { record, began: self.now(), taken: Vec::new() });
            watching.step_begins(at, node);
        }
        self.span.span().clone()
    }

    fn takes(&mut self, at: &Position, depth: usize, action: &str) {
        if let Some(open) = &mut self.step {
            open.taken.push((at.outer(depth + 1), action.to_owned()));
        }
        if at.labels().len() == depth + 1 {
            self.span.takes(action);
        }
    }
}
