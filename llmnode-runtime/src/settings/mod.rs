//! What a call may be told beside its prompt: by the call, the run, the model it asks, or the node's attributes.

mod attributes;
mod model;
mod resolved;
#[expect(clippy::module_inception, reason = "the file holds `Settings`")]
mod settings;

pub use attributes::Attributes;
pub use model::ModelSettings;
pub(crate) use resolved::{Resolved, faults};
pub use settings::Settings;
pub(crate) use settings::{SILENT, names};
