//! What follows a failed attempt: ordered stacks of steps, chosen by what went wrong.
//!
//! The same failures always lead to the same steps; only waits have a random part.

mod check;
mod progress;
mod stacks;
mod step;
mod wait;

pub(crate) use check::check;
pub(crate) use progress::{Failed, Next, Progress};
pub use stacks::recovery_of;
pub(crate) use stacks::{Count, Level, Stacks};
pub use step::{Backoff, Failures, Step};
