//! Keeps credentials out of what is shown: which names carry one, and texts without them.

mod names;
mod secret;

pub use names::is_credential;
pub use secret::{Secret, redact, redact_secrets};
