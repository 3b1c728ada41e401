//! What an execution and the calls that it makes have in common, and who makes a call.

use std::sync::Arc;

use tracing::Span;

use super::batches::BatchPool;
use super::compaction::Sources;
use super::core::RunCore;
use super::event::{FlowContext, Observer};
use super::handoff::HandoffSlot;
use super::listener::Listener;
use super::map_item::MapItem;
use super::resume::Origin;
use super::turn::Turn;
use crate::ledger::{CallGuard, RunEvent, RunRecorder, record_event};
use crate::limits::{CallLimits, Deadline};
use crate::position::Position;
use crate::settings::Settings;
use crate::validate::AttemptInfo;

/// What a call and all within it share. It is copied for each inner call, which
/// changes what is its own.
#[derive(Clone, Copy)]
pub(crate) struct CallContext<'r> {
    pub(super) core: &'r RunCore,
    pub(super) call: &'r CallGuard<'r>,
    /// What the program set for this call, before other levels are merged.
    pub(super) settings: &'r Settings,
    pub(super) limits: &'r CallLimits<'r>,
    /// The earliest of this call's and the outer calls' deadlines.
    pub(super) deadline: Option<&'r Deadline>,
    pub(super) flow: Option<&'r FlowContext<'r>>,
    /// Not inherited by inner calls.
    pub(super) extensions: Option<&'r CallExtensions<'r>>,
    pub(super) attempt: AttemptInfo,
    pub(super) origin: Option<&'r Origin<'r>>,
    /// The item of the innermost map around it.
    pub(super) item: Option<&'r MapItem<'r>>,
}

/// What belongs to one call, and to none that it makes.
#[derive(Clone, Copy)]
pub(super) struct CallExtensions<'r> {
    pub(super) listener: Option<&'r Listener<'r>>,
    /// The turn that the call has in a conversation.
    pub(super) turn: Option<&'r Turn<'r>>,
    /// Who made the call can go on elsewhere, and takes a handoff in place of an answer.
    pub(super) handoff: Option<&'r HandoffSlot>,
    /// What the answer may quote, if it is a summary of a conversation.
    pub(super) sources: Option<&'r Arc<Sources>>,
}

impl<'r> CallContext<'r> {
    pub(super) fn listener(&self) -> Option<&'r Listener<'r>> {
        self.extensions?.listener
    }

    /// Set in a map over a batch API.
    pub(super) fn batches(&self) -> Option<&'r Arc<BatchPool>> {
        self.item?.control.batches()
    }

    pub(super) fn turn(&self) -> Option<&'r Turn<'r>> {
        self.extensions?.turn
    }

    pub(super) fn handoff(&self) -> Option<&'r HandoffSlot> {
        self.extensions?.handoff
    }
}

/// Who makes a call: by default the run, else a node's execution, a map or a flow.
/// A field that is `None` is that of the execution.
#[derive(Clone, Copy, Default)]
pub struct Caller<'r> {
    pub(super) execution: Option<&'r CallContext<'r>>,
    pub(super) limits: Option<&'r CallLimits<'r>>,
    pub(super) flow: Option<&'r FlowContext<'r>>,
    pub(super) origin: Option<&'r Origin<'r>>,
    pub(super) at: Option<(&'r Position, u64)>,
    pub(super) item: Option<u32>,
    pub(super) map_item: Option<&'r MapItem<'r>>,
    /// How often the item was asked before. Not inherited.
    pub(super) put_back: u32,
    pub(super) recorder: Option<&'r dyn RunRecorder>,
    /// Set if the step or tool is nothing but this call, and shares its span.
    pub(super) span: Option<&'r Span>,
}

impl<'r> Caller<'r> {
    /// Returns the same caller for the steps of a flow.
    #[must_use]
    pub fn of_flow(self, flow: &'r FlowContext<'r>) -> Self {
        Caller {
            flow: Some(flow),
            ..self
        }
    }

    /// Returns the same caller for a conversation that continues.
    #[must_use]
    pub fn with_origin(self, origin: Option<&'r Origin<'r>>) -> Self {
        Caller {
            origin: origin.or(self.origin),
            ..self
        }
    }

    /// Returns the same caller within these limits.
    #[must_use]
    pub fn limited(self, limits: Option<&'r CallLimits<'r>>) -> Self {
        Caller {
            limits: limits.or(self.limits),
            ..self
        }
    }

    /// Returns the same caller at this position of a flow, which has a number of its own.
    #[must_use]
    pub fn at(self, position: &'r Position, flow: u64) -> Self {
        Caller {
            at: Some((position, flow)),
            ..self
        }
    }

    /// Returns the same caller for a call that shares this span, and gets none of its own.
    #[must_use]
    pub fn in_span(self, span: &'r Span) -> Self {
        Caller {
            span: Some(span),
            ..self
        }
    }

    /// Returns the same caller, recorded by this recorder, unless a call around it is.
    #[must_use]
    pub fn recorded_by(self, recorder: Option<&'r dyn RunRecorder>) -> Self {
        let is_new = match (recorder, self.call()) {
            (Some(recorder), Some(call)) => !call.is_recorded_by(recorder),
            (Some(_), None) => true,
            (None, _) => false,
        };
        if !is_new {
            return self;
        }
        Caller { recorder, ..self }
    }

    /// Returns whether a recorder records what it does.
    pub fn is_recorded(&self) -> bool {
        self.recorder.is_some() || self.call().is_some_and(CallGuard::is_recorded)
    }

    /// Records an event.
    pub fn record(&self, event: &RunEvent<'_>) {
        if let Some(recorder) = self.recorder {
            record_event(recorder, event);
        }
        if let Some(call) = self.call() {
            call.notify_recorders(event);
        }
    }

    /// Returns the position that those of a flow within its call are below.
    pub fn position_within(&self) -> Option<Position> {
        self.call()?.position_within()
    }

    /// Returns the flow whose step it is within.
    pub fn flow(&self) -> Option<&'r FlowContext<'r>> {
        self.flow.or_else(|| self.execution?.flow)
    }

    /// Returns the observer, and the names of the calls that lead here.
    pub fn observed(&self) -> Option<(&'r dyn Observer, Vec<String>)> {
        let observer = self.flow()?.observer?;
        let path = match self.call() {
            Some(call) => call.observed_path(),
            None => Vec::new(),
        };
        Some((observer, path))
    }

    /// Returns how many calls are around a new call.
    pub fn depth(&self) -> usize {
        self.call().map_or(0, |call| call.depth + 1)
    }

    /// Returns the limits of the calls around it.
    pub fn limits(&self) -> Option<&'r CallLimits<'r>> {
        match self.limits {
            Some(limits) => Some(limits),
            None => self.execution.map(|execution| execution.limits),
        }
    }

    /// Returns the same caller for one more call of an item.
    #[must_use]
    pub(super) fn of_item(self, item: &'r MapItem<'r>) -> Self {
        Caller {
            map_item: Some(item),
            put_back: item.times_put_back(),
            ..self
        }
    }

    pub(super) fn map_item(&self) -> Option<&'r MapItem<'r>> {
        self.map_item.or_else(|| self.execution?.item)
    }

    pub(super) fn call(&self) -> Option<&'r CallGuard<'r>> {
        Some(self.execution?.call)
    }

    pub(super) fn deadline(&self) -> Option<&'r Deadline> {
        self.execution?.deadline
    }

    pub(super) fn origin(&self) -> Option<&'r Origin<'r>> {
        self.origin.or_else(|| self.execution?.origin)
    }
}
