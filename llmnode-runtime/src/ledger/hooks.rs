//! The program's own functions, which are called when attempts and calls end.

use std::sync::Arc;

use llmnode_model::BoxError;
use llmnode_model::internal::catch_panic;

use super::record::{AttemptRecord, CallRecord};
use super::recorder::{CallInfo, Recorder, RecorderEvent};

type OnAttempt = dyn Fn(&CallInfo<'_>, &AttemptRecord) + Send + Sync;
type OnCall = dyn Fn(&CallRecord) + Send + Sync;

#[derive(Clone, Default)]
pub(crate) struct Hooks {
    attempt: Vec<Arc<OnAttempt>>,
    call: Vec<Arc<OnCall>>,
    recorder: Option<Arc<dyn Recorder>>,
}

impl Hooks {
    pub(crate) fn on_attempt(
        &mut self,
        hook: impl Fn(&CallInfo<'_>, &AttemptRecord) + Send + Sync + 'static,
    ) {
        self.attempt.push(Arc::new(hook));
    }

    pub(crate) fn on_call(&mut self, hook: impl Fn(&CallRecord) + Send + Sync + 'static) {
        self.call.push(Arc::new(hook));
    }

    pub(crate) fn record(&mut self, recorder: Arc<dyn Recorder>) {
        self.recorder = Some(recorder);
    }

    pub(crate) fn recorder(&self) -> Option<&dyn Recorder> {
        self.recorder.as_deref()
    }

    pub(super) fn note(&self, event: RecorderEvent<'_>) {
        if let Some(recorder) = &self.recorder {
            recorder.note(event);
        }
    }

    pub(crate) async fn flush(&self) -> Result<(), BoxError> {
        match &self.recorder {
            Some(recorder) => recorder.write().await,
            None => Ok(()),
        }
    }

    pub(super) fn attempt_ended(&self, call: &CallInfo<'_>, attempt: &AttemptRecord) {
        self.attempt
            .iter()
            .for_each(|hook| run(call.node, || hook(call, attempt)));
    }

    pub(super) fn call_ended(&self, record: &CallRecord) {
        self.call
            .iter()
            .for_each(|hook| run(&record.node, || hook(record)));
    }
}

/// A panic of a hook affects neither the call nor the ledger.
fn run(node: &str, hook: impl FnOnce()) {
    if let Err(message) = catch_panic(hook) {
        tracing::error!(target: "llmnode::hook", node, "a hook panicked: {message}");
    }
}
