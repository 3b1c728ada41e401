//! Keeps credentials out of what is shown: which names and values are credentials, the forms in which one is written, and
//! texts without them.

mod forms;
mod names;
mod secret;

pub(crate) use forms::{is_credential_value, written_forms};
pub use names::is_credential;
pub use secret::{Secret, redact, redact_secrets};
