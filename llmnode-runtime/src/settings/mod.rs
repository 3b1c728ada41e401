//! What a call may be told beside its prompt: by the call, the run, the model it asks, or the node's attributes; and
//! what follows its failures.

mod attributes;
mod model;
mod recovery;
mod resolved;
#[expect(clippy::module_inception, reason = "the file holds `Settings`")]
mod settings;

pub use attributes::Attributes;
pub use model::ModelSettings;
pub use recovery::{Backoff, Failures, Recovery};
pub(crate) use recovery::{Failed, Next, Progress, Stacks, wait_before_retry};
pub(crate) use resolved::{Resolved, faults};
pub(crate) use settings::SILENT;
pub use settings::Settings;
