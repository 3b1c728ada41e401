//! The attempt loop: ask, judge, and go on as the recovery says.
//!
//! It knows nothing of the node's types: they stand behind [`Judge`], so that the loop is compiled once.

use std::time::Duration;

use super::attempt::attempt;
use super::failure::Failure;
use super::feedback;
use super::judge::Judge;
use super::repetition::Repetition;
use super::run::RunCore;
use crate::BoxError;
use crate::category::Category;
use crate::error::NodeError;
use crate::ledger::{AttemptKind, CallScope, Degraded, OpenAttempt};
use crate::limits::{CallLimits, TimeLeft};
use crate::model::{Request, Retries};
use crate::settings::Resolved;
use crate::settings::{Failed, Next, Progress};
use crate::text::one_line;

/// What all attempts of a call have in common.
pub(super) struct Plan<'r> {
    pub(super) core: &'r RunCore,
    pub(super) call: &'r CallScope<'r>,
    pub(super) limits: &'r CallLimits<'r>,
    pub(super) settings: Resolved<'r>,
}

/// Why there is no answer.
pub(super) struct Ended {
    pub(super) error: NodeError,
    /// The node's fallback value may take its place.
    pub(super) falls_back: bool,
}

impl From<NodeError> for Ended {
    fn from(error: NodeError) -> Self {
        Ended { error, falls_back: false }
    }
}

/// Asks models until an answer is accepted or the recovery ends.
pub(super) async fn run(plan: &Plan<'_>, mut request: Request, judge: &mut dyn Judge) -> Result<(), Ended> {
    let Plan { core, call, limits, settings } = plan;
    let prompt = request.messages.len();
    let mut target = core.target(settings.model);
    target.tell(&mut request, settings)?;
    let mut retries = Retries::of(target.model);
    let mut progress = Progress::new(&settings.stacks, settings.max_wait, core.known_as(&target));
    let mut answers = Repetition::default();
    let (mut kind, mut wait) = (AttemptKind::First, Duration::ZERO);
    loop {
        if wait > Duration::ZERO {
            core.clock.sleep(wait).await;
        }
        // A model that answers at once leaves other tasks a turn now and then.
        tokio::task::consume_budget().await;
        let mut open = call.attempt(kind, wait, target.name.clone());
        request.correlation = Some(open.id());
        let Err(mut failure) = attempt(&target, &request, &mut open, judge, &progress.attempt(), plan).await
        else {
            retries.settle(Some(true));
            open.commit(None);
            return Ok(call.recorded().await.map_err(unrecorded)?);
        };
        retries.settle(failure.endpoint_answered());
        let repeats = answers.repeats(&failure) && settings.stop_on_repeat;
        let (next, note) = progress.after(&failed(&failure, repeats, limits.time_left()), &mut retries);
        if matches!(next, Next::Repair { .. }) {
            let (answer, violations) = (failure.answer.clone(), &failure.violations);
            feedback::append(&mut request.messages, prompt, settings.feedback_rounds, answer, violations);
        }
        if failure.category == Category::NotFound {
            failure.add(&core.unregistered(&target));
        }
        failure.add(&note);
        close(open, &mut failure);
        call.recorded().await.map_err(unrecorded)?;
        (kind, wait) = match next {
            Next::Retry { wait } => (AttemptKind::Retry, wait),
            Next::Adapt { wait } => (AttemptKind::Adapted, wait),
            Next::Repair { wait } => (AttemptKind::Correction, wait),
            Next::Model(name) => {
                call.degrade(Degraded::FallbackModel);
                target = core.target(Some(&name));
                retries = Retries::of(target.model);
                answers = Repetition::default();
                request.messages.truncate(prompt);
                target.tell(&mut request, settings)?;
                (AttemptKind::FallbackModel, Duration::ZERO)
            }
            Next::Fallback => return Err(Ended { error: failure.into_error(), falls_back: true }),
            Next::Bubble => return Err(failure.into_error().into()),
        };
    }
}

fn unrecorded(fault: BoxError) -> NodeError {
    Failure::unrecorded(fault).into_error()
}

fn failed<'l>(failure: &Failure, repeats: bool, time_left: Option<TimeLeft<'l>>) -> Failed<'l> {
    let Failure { category, retry: decision, retry_after, .. } = *failure;
    Failed { category, decision, retry_after, repeats, time_left }
}

/// Writes down a failed attempt, unless no request was begun. What only the record needs goes there.
fn close(mut open: OpenAttempt<'_>, failure: &mut Failure) {
    if !failure.sent {
        return open.forget(failure.category);
    }
    open.note(|record| {
        record.message = one_line(&failure.message, 1000);
        record.violations = std::mem::take(&mut failure.violations);
        record.retry_after = failure.retry_after;
        if let Some(answer) = failure.answer.take() {
            record.keep_answer(answer);
        }
    });
    open.commit(Some(failure.category));
}
