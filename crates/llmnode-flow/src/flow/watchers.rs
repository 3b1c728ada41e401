//! Watches, hooks and listeners of a running flow, and the flow around it.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use llmnode_model::internal::catch_panic;
use llmnode_runtime::Event;
use llmnode_runtime::internal::{Observer, Position, PositionExt};

use super::event::FlowEvent;
use super::record::StepRecord;
use super::watch::{FlowWatch, LiveRecord};

#[derive(Default)]
pub(super) struct Watchers<'r> {
    pub(super) watches: Vec<FlowWatch>,
    pub(super) hooks: Vec<Hook<'r>>,
    pub(super) listeners: Vec<Listener<'r>>,
}

type Listener<'r> = Box<dyn FnMut(&Position, &Event) + Send + 'r>;

type Hook<'r> = Box<dyn FnMut(&FlowEvent<'_>) + Send + 'r>;

impl<'r> Watchers<'r> {
    /// For a flow in a call, whose observer also gets the flow's steps and answers.
    pub(super) fn within((around, calls): (&'r dyn Observer, Vec<String>)) -> Self {
        let mut watchers = Watchers::default();
        if around.listens() {
            let calls = calls.clone();
            watchers.listeners.push(Box::new(move |at, event| {
                let path: Vec<String> = calls
                    .iter()
                    .map(String::as_str)
                    .chain(at.labels())
                    .map(str::to_owned)
                    .collect();
                around.event(&path, event);
            }));
        }
        watchers.hooks.push(Box::new(move |event| {
            if let Some(mut inner) = NestedEvent::from_event(event) {
                around.step(&calls, &mut inner);
            }
        }));
        watchers
    }
}

pub(super) struct ActiveWatchers<'r> {
    depth: usize,
    listens: bool,
    pub(super) observes: bool,
    state: Mutex<WatcherState<'r>>,
}

struct WatcherState<'r> {
    watchers: Watchers<'r>,
    at: Position,
}

impl<'r> ActiveWatchers<'r> {
    pub(super) fn begin(watchers: Watchers<'r>, depth: usize) -> Option<Arc<Self>> {
        let Watchers {
            watches,
            hooks,
            listeners,
        } = &watchers;
        let listens = !listeners.is_empty();
        let observes = listens || !hooks.is_empty();
        if !observes && watches.is_empty() {
            return None;
        }
        let state = Mutex::new(WatcherState {
            watchers,
            at: Position::default(),
        });
        Some(Arc::new(ActiveWatchers {
            depth,
            listens,
            observes,
            state,
        }))
    }

    pub(super) fn step_begins(&self, at: &Position, node: &str) {
        self.lock().at = at.clone();
        self.note(|live_record| live_record.position = Some(at.clone()));
        self.notify(&FlowEvent::StepBegins { position: at, node });
    }

    pub(super) fn note(&self, note: impl Fn(&mut LiveRecord)) {
        self.lock()
            .watchers
            .watches
            .iter()
            .for_each(|watch| watch.note(&note));
    }

    pub(super) fn notify(&self, event: &FlowEvent<'_>) {
        self.lock()
            .watchers
            .hooks
            .iter_mut()
            .for_each(|hook| run_hook(|| hook(event)));
    }

    fn lock(&self) -> MutexGuard<'_, WatcherState<'r>> {
        // Hooks run under this lock, but their panics are caught.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn below<'c>(&self, calls: &'c [String]) -> &'c [String] {
        calls.get(self.depth + 1..).unwrap_or_default()
    }
}

impl Observer for ActiveWatchers<'_> {
    fn listens(&self) -> bool {
        self.listens
    }

    fn event(&self, calls: &[String], event: &Event) {
        let WatcherState { watchers, at } = &mut *self.lock();
        let below = self.below(calls);
        let inner = (!below.is_empty()).then(|| at.below(below.iter().map(String::as_str)));
        let at = inner.as_ref().unwrap_or(at);
        watchers
            .listeners
            .iter_mut()
            .for_each(|listener| run_hook(|| listener(at, event)));
    }

    fn step(&self, calls: &[String], step: &mut dyn Any) {
        let Some(inner) = step.downcast_mut::<NestedEvent>() else {
            return;
        };
        inner.nest_under(
            &self
                .lock()
                .at
                .below(self.below(calls).iter().map(String::as_str)),
        );
        self.notify(&inner.event());
    }
}

fn run_hook(hook: impl FnOnce()) {
    if let Err(message) = catch_panic(hook) {
        tracing::error!(target: "llmnode::hook", "a hook of a flow panicked: {message}");
    }
}

enum NestedEvent {
    Begins {
        position: Position,
        node: String,
    },
    Ended {
        step: Box<StepRecord>,
        next: Option<Position>,
    },
}

impl NestedEvent {
    /// `None` for the end of a nested flow, which the end of the outer step reports.
    fn from_event(event: &FlowEvent<'_>) -> Option<Self> {
        match event {
            FlowEvent::StepBegins { position, node } => Some(NestedEvent::Begins {
                position: (*position).clone(),
                node: (*node).to_owned(),
            }),
            FlowEvent::StepEnded { step, next } => Some(NestedEvent::Ended {
                step: Box::new((*step).clone()),
                next: next.cloned(),
            }),
            FlowEvent::FlowEnded { .. } => None,
        }
    }

    fn event(&self) -> FlowEvent<'_> {
        match self {
            NestedEvent::Begins { position, node } => FlowEvent::StepBegins { position, node },
            NestedEvent::Ended { step, next } => FlowEvent::StepEnded {
                step,
                next: next.as_ref(),
            },
        }
    }

    fn nest_under(&mut self, around: &Position) {
        let below = |position: &mut Position| *position = around.below(position.labels());
        match self {
            NestedEvent::Begins { position, .. } => below(position),
            NestedEvent::Ended { step, next } => {
                below(&mut step.position);
                next.iter_mut().for_each(below);
            }
        }
    }
}
