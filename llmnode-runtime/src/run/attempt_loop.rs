//! The attempt loop: try, and continue as the recovery says. No other loop retries.
//! It tries a request to a model (`model_attempts.rs`), another request
//! (`other_request.rs`) or the execution of a node that asks no model
//! (`exec_attempts.rs`). It does not know the node's types, so it is compiled once,
//! not for every node.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use llmnode_model::{Category, Retry};

use super::context::CallContext;
use super::failure::Failure;
use crate::clock::{Stopped, StoppedTime};
use crate::error::NodeError;
use crate::ledger::{AttemptKind, CallGuard};
use crate::limits::{Deadline, before_deadline};
use crate::pause::Unfinished;
use crate::settings::{AfterFailure, FailureFacts, Progress, Resolved};
use crate::validate::AttemptInfo;

pub(super) struct CallPlan<'r> {
    pub(super) context: CallContext<'r>,
    pub(super) settings: Resolved<'r>,
    deadline: Option<&'r Deadline>,
    /// Set in a map over a batch API: the wait for a batch is not bounded by what a call may take.
    stopped: Option<Arc<StoppedTime>>,
}

impl<'r> CallPlan<'r> {
    /// `call_deadline`: the call's own deadline; the context's becomes the earliest of all.
    pub(super) fn new(
        context: CallContext<'r>,
        settings: Resolved<'r>,
        call_deadline: &'r Option<Deadline>,
    ) -> Self {
        let in_batch = context.batches().is_some();
        // Deadlines around a map over a batch API bound the map itself.
        let around = context.deadline.filter(|_| !in_batch);
        let earliest = call_deadline
            .iter()
            .chain(around)
            .min_by_key(|deadline| deadline.end());
        CallPlan {
            context: CallContext {
                deadline: earliest,
                ..context
            },
            settings,
            deadline: call_deadline.as_ref(),
            stopped: in_batch.then(|| {
                let of_deadline = call_deadline.as_ref().and_then(Deadline::stopped);
                of_deadline.map(Arc::clone).unwrap_or_default()
            }),
        }
    }

    /// Set in a map over a batch API.
    pub(super) fn stopped(&self) -> Option<&StoppedTime> {
        self.stopped.as_deref()
    }

    /// Stops the time of the call while it waits for its batch, or for room under a
    /// limit that batches fill.
    pub(super) fn stop(&self) -> Option<Stopped<'_>> {
        let stopped = self.stopped()?;
        Some(stopped.stop(&*self.context.core.clock))
    }

    /// The time that a request has: of its attempt, or of what is left of a deadline.
    pub(super) fn time_left(&self, attempt_timeout: Option<Duration>) -> Option<Duration> {
        let now = || self.context.core.clock.now();
        let of_deadline = self
            .context
            .deadline
            .map(|deadline| deadline.end().saturating_duration_since(now()));
        attempt_timeout.into_iter().chain(of_deadline).min()
    }

    async fn once(
        &self,
        one: &PlannedAttempt,
        progress: &Progress<'_>,
        attempts: &mut impl Attempts,
    ) -> Result<(), Failure> {
        let clock = &*self.context.core.clock;
        let once = pin!(async {
            if one.wait > Duration::ZERO {
                clock.sleep(one.wait).await;
            }
            // Lets other tasks run now and then, even if the model answers at once.
            tokio::task::consume_budget().await;
            attempts.once(one, progress).await
        });
        self.in_time(once).await
    }

    async fn in_time<T>(
        &self,
        part: impl Future<Output = Result<T, Failure>> + Unpin,
    ) -> Result<T, Failure> {
        let clock = &*self.context.core.clock;
        let outcome = before_deadline(self.deadline, clock, part).await;
        outcome.unwrap_or_else(|late| Err(Failure::too_late(late)))
    }
}

pub(super) struct AttemptsError {
    error: NodeError,
    falls_back: bool,
}

impl AttemptsError {
    /// The error has the conversation as far as it came.
    pub(super) fn keeping(self, unfinished: Option<Unfinished>) -> Self {
        match unfinished {
            Some(unfinished) => AttemptsError {
                error: self.error.with_unfinished(unfinished),
                ..self
            },
            None => self,
        }
    }

    pub(super) fn before_fallback(self, call: &CallGuard<'_>) -> Result<NodeError, NodeError> {
        let error = self.error;
        if !self.falls_back {
            return Err(error);
        }
        let record = call.so_far(error.category());
        Ok(error.with_record_and_children(record, call.children()))
    }
}

impl From<NodeError> for AttemptsError {
    fn from(error: NodeError) -> Self {
        AttemptsError {
            error,
            falls_back: false,
        }
    }
}

pub(super) struct PlannedAttempt {
    pub(super) kind: AttemptKind,
    pub(super) wait: Duration,
    pub(super) attempt: AttemptInfo,
}

pub(super) enum Success {
    Output,
    ToolCalls,
}

/// What follows the tools of an answer.
pub(super) enum AfterTools {
    /// The model is asked with their results.
    NextTurn,
    /// The turns have ended without an answer: somebody else goes on.
    HandedOff,
}

pub(super) trait Attempts: Send {
    async fn once(&mut self, one: &PlannedAttempt, progress: &Progress<'_>) -> Result<(), Failure>;

    /// A result that came in time is kept, even if a deadline passes meanwhile.
    async fn succeeded(&mut self) -> Result<Success, NodeError> {
        Ok(Success::Output)
    }

    async fn run_tools(&mut self) -> Result<AfterTools, Failure> {
        Ok(AfterTools::NextTurn)
    }

    async fn failed(
        &mut self,
        one: &PlannedAttempt,
        failure: &mut Failure,
        next: &AfterFailure,
    ) -> Result<(), NodeError>;

    fn model(&self) -> Option<String> {
        None
    }

    fn change_model(&mut self, _name: &str) -> Result<(), NodeError> {
        Ok(())
    }

    /// `Err`: why the endpoint's retry budget grants none.
    fn grant(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Whether the next request has a shorter conversation, since the model has refused this one.
    fn gets_shorter(&self) -> bool {
        false
    }

    /// How the answer begins, if it is the same as the one before.
    fn repeats(&mut self, _failure: &Failure) -> Option<String> {
        None
    }
}

/// Tries until there is an output, a handoff or an end. One round of the loop:
///
/// 1. One try. If it succeeds, its record is committed. An output ends the loop;
///    calls of tools are executed, and the next turn begins.
/// 2. After a failure, its stack decides what follows ([`Progress::after`]): the
///    loop itself knows no categories.
/// 3. Only then is the try told that it failed, since what follows is part of its
///    record and of the feedback to the model, which is appended only if the same
///    model is asked again.
/// 4. The next try is planned, or the loop ends with the failure.
pub(super) async fn run(
    plan: &CallPlan<'_>,
    attempts: &mut impl Attempts,
) -> Result<(), AttemptsError> {
    let mut progress = Progress::new(&plan.settings.stacks, || attempts.model());
    let mut kind = AttemptKind::First;
    let mut wait = Duration::ZERO;
    loop {
        let one = PlannedAttempt {
            kind,
            wait,
            attempt: progress.attempt(),
        };
        let mut outcome = plan.once(&one, &progress, attempts).await;
        if outcome.is_ok() {
            if let Success::Output = attempts.succeeded().await? {
                return Ok(());
            }
            // Boxed, so that calls without tools reserve no space for it.
            outcome = match plan.in_time(Box::pin(attempts.run_tools())).await {
                Ok(AfterTools::NextTurn) => Ok(()),
                Ok(AfterTools::HandedOff) => return Ok(()),
                Err(failure) => Err(failure),
            };
        }
        let Err(mut failure) = outcome else {
            progress.next_turn();
            (kind, wait) = (AttemptKind::Turn, Duration::ZERO);
            continue;
        };
        let facts = failure_facts(&failure, plan, attempts);
        let (next, note) = progress.after(&facts, &mut || attempts.grant());
        // The error says it once: what it begins with, or the line of its last attempt.
        let is_of_the_call = facts.repeats.is_some() && next == AfterFailure::Bubble;
        if !is_of_the_call {
            failure.add(&note);
        }
        attempts.failed(&one, &mut failure, &next).await?;
        if is_of_the_call {
            failure.add(&note);
        }
        (kind, wait) = match next {
            AfterFailure::Again { kind, wait } => (kind, wait),
            AfterFailure::Model(name) => {
                attempts.change_model(&name)?;
                (AttemptKind::FallbackModel, Duration::ZERO)
            }
            AfterFailure::Fallback => {
                return Err(AttemptsError {
                    error: failure.into_error(),
                    falls_back: true,
                });
            }
            AfterFailure::Bubble => return Err(failure.into_error().into()),
        };
    }
}

/// What of a failure, and of the time that is left, decides what follows it.
fn failure_facts(
    failure: &Failure,
    plan: &CallPlan<'_>,
    attempts: &mut impl Attempts,
) -> FailureFacts {
    let context = &plan.context;
    let repeats = attempts.repeats(failure);
    let takes_a_turn = !failure.violations.is_empty();
    let gets_shorter = failure.category == Category::ContextLengthError && attempts.gets_shorter();
    FailureFacts {
        category: failure.category,
        decision: failure.retry,
        retry_after: failure.retry_after,
        repeats: repeats.filter(|_| plan.settings.stop_on_repeat()),
        time_left: context.limits.time_left(context.deadline),
        too_late: failure.too_late,
        is_bounded: failure.retry == Some(Retry::Adapted) && (takes_a_turn || gets_shorter),
    }
}
