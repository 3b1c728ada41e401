//! Watches, hooks and listeners of a running flow, and the flow around it: all are
//! told of the same events.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use llmnode_model::internal::catch_panic;
use llmnode_runtime::Event;
use llmnode_runtime::ext::{Position, PositionExt, RunEvent, RunRecorder};
use llmnode_runtime::internal::Observer;

use super::event::FlowEvent;
use super::watch::FlowWatch;

#[derive(Default)]
pub(super) struct Watchers<'r> {
    pub(super) watches: Vec<FlowWatch>,
    pub(super) hooks: Vec<Hook<'r>>,
    pub(super) listeners: Vec<Listener<'r>>,
    around: Option<OuterFlow<'r>>,
}

/// What observes the flow around this one.
struct OuterFlow<'r> {
    observer: &'r dyn Observer,
    /// The names of the calls that lead to this flow.
    calls: Vec<String>,
}

type Listener<'r> = Box<dyn FnMut(&Position, &Event) + Send + 'r>;

type Hook<'r> = Box<dyn FnMut(&FlowEvent<'_>) + Send + 'r>;

impl<'r> Watchers<'r> {
    /// For a flow in a call, whose observer also gets the flow's steps and answers.
    pub(super) fn within((observer, calls): (&'r dyn Observer, Vec<String>)) -> Self {
        let mut watchers = Watchers::default();
        if observer.listens() {
            let calls = calls.clone();
            watchers.listeners.push(Box::new(move |at, event| {
                let path: Vec<String> = calls
                    .iter()
                    .map(String::as_str)
                    .chain(at.labels())
                    .map(str::to_owned)
                    .collect();
                observer.event(&path, event);
            }));
        }
        watchers.around = Some(OuterFlow { observer, calls });
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
            around,
        } = &watchers;
        let listens = !listeners.is_empty();
        let observes = listens || !hooks.is_empty() || around.is_some();
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

    /// Tells the flow around this one, then the hooks.
    fn notify(&self, event: &RunEvent<'_>) {
        let watchers = &mut self.lock().watchers;
        if let Some(OuterFlow { observer, calls }) = &watchers.around {
            run_hook(|| observer.step(calls, event));
        }
        if let Some(event) = FlowEvent::new(event) {
            watchers
                .hooks
                .iter_mut()
                .for_each(|hook| run_hook(|| hook(&event)));
        }
    }

    fn lock(&self) -> MutexGuard<'_, WatcherState<'r>> {
        // Hooks run under this lock, but their panics are caught.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn below<'c>(&self, calls: &'c [String]) -> &'c [String] {
        calls.get(self.depth + 1..).unwrap_or_default()
    }
}

impl RunRecorder for ActiveWatchers<'_> {
    /// The position moves first: hooks may look at a watch.
    fn record(&self, event: &RunEvent<'_>) {
        let mut state = self.lock();
        if let RunEvent::StepBegan { position, .. } = event {
            state.at = (*position).clone();
        }
        state
            .watchers
            .watches
            .iter()
            .for_each(|watch| watch.take(event));
        drop(state);
        self.notify(event);
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

    /// Its hooks are told of the steps of flows within its steps, at positions
    /// below theirs. Its watches are not.
    fn step(&self, calls: &[String], event: &RunEvent<'_>) {
        let below = self.below(calls).iter().map(String::as_str);
        let around = self.lock().at.below(below);
        match *event {
            RunEvent::StepBegan {
                flow,
                position,
                node,
                started,
            } => self.notify(&RunEvent::StepBegan {
                flow,
                position: &around.below(position.labels()),
                node,
                started,
            }),
            RunEvent::StepEnded {
                flow,
                step,
                edges,
                next,
                flow_elapsed,
            } => {
                let mut step = step.clone();
                step.position = around.below(step.position.labels());
                let next = next.map(|next| around.below(next.labels()));
                self.notify(&RunEvent::StepEnded {
                    flow,
                    step: &step,
                    edges,
                    next: next.as_ref(),
                    flow_elapsed,
                });
            }
            // The end of the outer step reports the end of a nested flow.
            _ => {}
        }
    }
}

fn run_hook(hook: impl FnOnce()) {
    if let Err(message) = catch_panic(hook) {
        tracing::error!(target: "llmnode::hook", "a hook of a flow panicked: {message}");
    }
}
