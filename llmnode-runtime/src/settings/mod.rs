//! How models are asked, by what call, model, run and node state; and what follows their failures.

mod recovery;
mod resolved;
#[expect(clippy::module_inception, reason = "the file holds `Settings`")]
mod settings;

pub use recovery::{Backoff, Failures, Recovery};
pub(crate) use recovery::{Failed, NOT_REPEATED, Nature, Next, Progress, Stacks, wait_before_retry};
pub(crate) use resolved::{Resolved, faults};
pub(crate) use settings::SILENT;
pub use settings::Settings;
