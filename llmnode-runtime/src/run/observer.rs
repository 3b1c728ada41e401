//! Who observes the calls of a flow: their answers while they are written, and the steps of flows within them.

use std::any::Any;

use super::listener::Listener;
use super::stream::Event;
use crate::ledger::CallScope;

/// Observes a step of a flow, and all that is called within it.
pub trait Observer: Sync {
    /// Whether somebody reads answers while they are written.
    fn listens(&self) -> bool;

    /// Something happened to the answer of a call. `calls`: the names of the calls that lead to it, the outermost first, and its own.
    fn event(&self, calls: &[String], event: &Event);

    /// A flow within the call of these names began or ended a step. Flows know what they hand on here.
    fn step(&self, calls: &[String], step: &mut dyn Any);
}

/// Who observes a call, and the observed call around it: what happened there was earlier, and is told first.
#[derive(Clone, Copy)]
pub struct ObservedBy<'r> {
    pub(super) observer: &'r dyn Observer,
    pub(super) around: Option<&'r Observed<'r>>,
}

impl Observer for ObservedBy<'_> {
    fn listens(&self) -> bool {
        self.observer.listens()
    }

    fn event(&self, calls: &[String], event: &Event) {
        self.tell_around();
        self.observer.event(calls, event);
    }

    fn step(&self, calls: &[String], step: &mut dyn Any) {
        self.tell_around();
        self.observer.step(calls, step);
    }
}

impl ObservedBy<'_> {
    fn tell_around(&self) {
        if let Some(around) = self.around {
            around.tell();
        }
    }
}

/// A call whose answer is read along.
pub(super) struct Observed<'r> {
    by: ObservedBy<'r>,
    call: &'r CallScope<'r>,
    pub(super) listener: Listener,
}

impl<'r> Observed<'r> {
    /// None, if nobody reads along.
    pub(super) fn new(by: Option<ObservedBy<'r>>, call: &'r CallScope<'r>) -> Option<Box<Self>> {
        let by = by.filter(|by| by.observer.listens())?;
        Some(Box::new(Observed { by, call, listener: Listener::default() }))
    }

    /// The same observer for the calls within.
    pub(super) fn within(&'r self) -> ObservedBy<'r> {
        ObservedBy { observer: self.by.observer, around: Some(self) }
    }

    /// Hands on what happened since the last time.
    pub(super) fn tell(&self) {
        if self.listener.is_empty() {
            return;
        }
        let calls = self.call.observed_path();
        while let Some(event) = self.listener.next() {
            self.by.event(&calls, &event);
        }
    }
}
