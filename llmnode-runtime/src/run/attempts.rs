//! The attempt loop: try, and go on as the recovery says.
//!
//! It is the only one. What it tries is a request to a model (`asking.rs`) or the execution of a node that asks none
//! (`executing.rs`). It knows nothing of the node's types, so it is not compiled anew for every node.

use std::time::Duration;

use super::failure::Failure;
use super::run::RunCore;
use crate::error::NodeError;
use crate::ledger::{AttemptKind, CallScope};
use crate::limits::CallLimits;
use crate::settings::{Failed, Next, Progress, Resolved};
use crate::validate::Attempt;

/// What all attempts of a call have in common.
pub(super) struct Plan<'r> {
    pub(super) core: &'r RunCore,
    pub(super) call: &'r CallScope<'r>,
    pub(super) limits: &'r CallLimits<'r>,
    pub(super) settings: Resolved<'r>,
}

/// Why there is no output.
pub(super) struct Ended {
    error: NodeError,
    /// The node's fallback value may take its place.
    falls_back: bool,
}

impl Ended {
    /// The error with the record so far, where a fallback value may take its place.
    pub(super) fn before_fallback(self, call: &CallScope<'_>) -> Result<NodeError, NodeError> {
        let error = self.error;
        if !self.falls_back {
            return Err(error);
        }
        let record = call.so_far(error.category());
        Ok(error.of_call_that_made(record, call.made()))
    }
}

impl From<NodeError> for Ended {
    fn from(error: NodeError) -> Self {
        Ended { error, falls_back: false }
    }
}

/// One try, before it begins.
pub(super) struct Try {
    pub(super) kind: AttemptKind,
    /// The wait before it.
    pub(super) wait: Duration,
    /// Its number, as nodes and validators see it.
    pub(super) attempt: Attempt,
}

/// What the loop tries.
pub(super) trait Tried: Send {
    /// Tries once.
    async fn once(&mut self, one: &Try) -> Result<(), Failure>;

    /// Writes down that it failed, and what comes of it.
    async fn failed(&mut self, one: &Try, failure: &mut Failure, next: &Next) -> Result<(), NodeError>;

    /// The name of the model that is asked first.
    fn model(&self) -> Option<String> {
        None
    }

    /// Turns to another model.
    fn change_model(&mut self, _name: &str) -> Result<(), NodeError> {
        Ok(())
    }

    /// Takes one more try out of the endpoint's retry budget, or says why there is none.
    fn grant(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Whether it failed with the same bad answer as the last time.
    fn repeats(&mut self, _failure: &Failure) -> bool {
        false
    }
}

/// Tries until there is an output or the recovery ends.
pub(super) async fn run(plan: &Plan<'_>, tried: &mut impl Tried) -> Result<(), Ended> {
    let Plan { core, limits, settings, .. } = plan;
    let mut progress = Progress::new(&settings.stacks, settings.max_wait, tried.model());
    let (mut kind, mut wait) = (AttemptKind::First, Duration::ZERO);
    loop {
        if wait > Duration::ZERO {
            core.clock.sleep(wait).await;
        }
        // What answers at once leaves other tasks a turn now and then.
        tokio::task::consume_budget().await;
        let one = Try { kind, wait, attempt: progress.attempt() };
        let Err(mut failure) = tried.once(&one).await else { return Ok(()) };
        let Failure { category, retry: decision, retry_after, .. } = failure;
        let repeats = tried.repeats(&failure) && settings.stop_on_repeat;
        let failed = Failed { category, decision, retry_after, repeats, time_left: limits.time_left() };
        let (next, note) = progress.after(&failed, &mut || tried.grant());
        failure.add(&note);
        tried.failed(&one, &mut failure, &next).await?;
        (kind, wait) = match next {
            Next::Again { kind, wait } => (kind, wait),
            Next::Model(name) => {
                tried.change_model(&name)?;
                (AttemptKind::FallbackModel, Duration::ZERO)
            }
            Next::Fallback => return Err(Ended { error: failure.into_error(), falls_back: true }),
            Next::Bubble => return Err(failure.into_error().into()),
        };
    }
}
