//! What follows a failed try: its explanation, the feedback to the model, and the
//! request that the policies change.

use llmnode_reader::ask::{form, is_repetition};

use super::ModelAttempts;
use crate::error::NodeError;
use crate::ledger::{AttemptKind, OpenAttempt};
use crate::run::failure::Failure;
use crate::run::feedback::{self, Feedback};
use crate::run::policies::{self, FailedAttempt, RequestPlan};
use crate::settings::AfterFailure;

impl ModelAttempts<'_, '_> {
    /// `kind`: why the attempt was made that failed.
    pub(super) fn explain(&self, kind: AttemptKind, failure: &mut Failure, next: &AfterFailure) {
        let attempt = FailedAttempt {
            request: &self.request,
            record: self.open.as_ref().and_then(OpenAttempt::record),
            history: &self.history,
            kind,
            is_last: matches!(next, AfterFailure::Fallback | AfterFailure::Bubble),
        };
        policies::explain(failure, &attempt);
    }

    /// Prepares another try of the same turn. The feedback comes first: a policy
    /// may take out of the complaints what the schema of the correction says.
    pub(super) fn prepare_again(&mut self, kind: AttemptKind, failure: &mut Failure) {
        let is_reported = match kind {
            AttemptKind::Correction => true,
            AttemptKind::Adapted => self.request.output.is_none() && !failure.violations.is_empty(),
            _ => false,
        };
        if is_reported {
            self.give_feedback(failure);
        }
        policies::before(RequestPlan {
            request: &mut self.request,
            kind,
            failure: Some(failure),
            record: self.open.as_ref().and_then(OpenAttempt::record),
            history: &mut self.history,
        });
        // A list that only the schema has may not have been read: the next
        // complaint has it in words.
        if kind == AttemptKind::Correction && self.history.narrowed.is_none() {
            self.answers.after_feedback();
        }
    }

    /// Lets the policies change the first request of a turn or of another model.
    pub(super) fn plan_request(&mut self, kind: AttemptKind) {
        policies::before(RequestPlan {
            request: &mut self.request,
            kind,
            failure: None,
            record: None,
            history: &mut self.history,
        });
    }

    fn give_feedback(&mut self, failure: &Failure) {
        let repeats = failure.violations.iter().any(is_repetition);
        let schema = self.request.output.as_deref().filter(|_| repeats);
        let feedback = Feedback {
            answer: failure.answer.clone(),
            carried: failure.carried.clone(),
            violations: &failure.violations,
            form: schema.and_then(form),
        };
        feedback::append(
            &mut self.request.messages,
            self.stable_len,
            self.plan.settings.feedback_rounds(),
            feedback,
        );
    }

    pub(super) async fn flush(&self) -> Result<(), NodeError> {
        let flushed = self.plan.context.call.flush().await;
        flushed.map_err(|fault| Failure::unrecorded(fault).into_error())
    }
}
