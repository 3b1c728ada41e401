//! Settings of call, model, run and node: how models are asked, and what follows their failures.

mod recovery;
mod resolved;
#[expect(clippy::module_inception, reason = "the file holds `Settings`")]
mod settings;

pub(crate) use recovery::{AtGate, FailedAttempt, Next, NodeKind, Progress, Stacks};
pub use recovery::{Backoff, Failures, Recovery};
pub(crate) use resolved::{Resolved, faults};
pub use settings::Settings;
pub(crate) use settings::{EMPTY_SETTINGS, setters};
