//! What follows a failed attempt: ordered stacks of steps, chosen by what went wrong.
//!
//! The same failures always lead to the same steps; only waits have a random part.

mod check;
mod progress;
#[expect(clippy::module_inception, reason = "the file holds `Recovery`")]
mod recovery;
mod stacks;
mod wait;

pub(crate) use check::check;
pub(crate) use progress::{AtGate, FailedAttempt, Next, Progress};
pub use recovery::{Backoff, Failures, Recovery};
pub(crate) use stacks::{NodeKind, Stacks};
