//! What follows a failed attempt: ordered stacks of steps, chosen by what went wrong.
//!
//! A failed attempt comes in; what the call does next goes out, with how long it
//! waits before that. In this order:
//!
//! 1. `check.rs`, before the call begins: does each stack make sense for its failures?
//! 2. `stacks.rs`: the category of the failure chooses a stack. The nearest place
//!    that says something about it wins; within a place, a stack for the category
//!    comes before one for its group. `retries`, `transport_retries` and
//!    `fallback_model` are short forms of such stacks.
//! 3. `progress.rs`: how often each step of the stack was taken decides which one
//!    is next. A step that was refused (its time is over, the wait is too long, the
//!    endpoint has failed too often) is used up, so that the next one is looked at.
//! 4. `wait.rs`: what the server asks for, and a random part, so that clients that
//!    failed together do not return together.
//!
//! The same failures always lead to the same steps; only waits have a random part.
//! Nothing here knows a request or a model, only names and counts, so the tables in
//! the tests are the specification.

mod check;
mod progress;
#[expect(clippy::module_inception, reason = "the file holds `Recovery`")]
mod recovery;
mod stacks;
mod wait;

pub(crate) use check::check;
pub(crate) use progress::{AfterFailure, AtGate, FailureFacts, Progress};
pub use recovery::{Backoff, Failures, Recovery};
pub(crate) use stacks::{NodeKind, Stacks};
