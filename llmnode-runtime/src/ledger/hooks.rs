//! Who is told of the events of all calls of a run: its journal, and the program's own functions.

use std::sync::Arc;

use llmnode_model::BoxError;
use llmnode_model::internal::catch_panic;

use super::events::{CallInfo, RunEvent, RunRecorder};
use super::record::{AttemptRecord, CallRecord};
use super::recorder::Recorder;

#[derive(Clone, Default)]
pub(crate) struct Hooks {
    /// In the order in which the program set them.
    functions: Vec<Arc<dyn RunRecorder>>,
    journal: Option<Arc<dyn Recorder>>,
}

/// A function for the end of each attempt.
struct OnAttempt<F> {
    hook: F,
}

impl<F: Fn(&CallInfo<'_>, &AttemptRecord) + Send + Sync> RunRecorder for OnAttempt<F> {
    fn record(&self, event: &RunEvent<'_>) {
        if let RunEvent::AttemptEnded { call, attempt, .. } = event {
            (self.hook)(call, attempt);
        }
    }
}

/// A function for the end of each call.
struct OnCall<F> {
    hook: F,
}

impl<F: Fn(&CallRecord) + Send + Sync> RunRecorder for OnCall<F> {
    fn record(&self, event: &RunEvent<'_>) {
        if let RunEvent::CallEnded { record, .. } = event {
            (self.hook)(record);
        }
    }
}

impl Hooks {
    pub(crate) fn on_attempt(
        &mut self,
        hook: impl Fn(&CallInfo<'_>, &AttemptRecord) + Send + Sync + 'static,
    ) {
        self.functions.push(Arc::new(OnAttempt { hook }));
    }

    pub(crate) fn on_call(&mut self, hook: impl Fn(&CallRecord) + Send + Sync + 'static) {
        self.functions.push(Arc::new(OnCall { hook }));
    }

    pub(crate) fn set_journal(&mut self, journal: Arc<dyn Recorder>) {
        self.journal = Some(journal);
    }

    pub(crate) fn recorder(&self) -> Option<&dyn Recorder> {
        self.journal.as_deref()
    }

    pub(super) fn notify_journal(&self, event: &RunEvent<'_>) {
        if let Some(journal) = &self.journal {
            journal.record(event);
        }
    }

    /// A panic of a function affects neither the call nor the ledger, nor the functions behind it.
    pub(super) fn notify_hooks(&self, event: &RunEvent<'_>) {
        for function in &self.functions {
            if let Err(message) = catch_panic(|| function.record(event)) {
                tracing::error!(target: "llmnode::hook", node = event.node(), "a hook panicked: {message}");
            }
        }
    }

    /// Waits until what the journal was told survives a crash.
    pub(crate) async fn flush(&self) -> Result<(), BoxError> {
        match &self.journal {
            Some(journal) => journal.write().await,
            None => Ok(()),
        }
    }
}
