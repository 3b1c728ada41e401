//! Keeps credentials out of what is shown: which names and values are credentials,
//! the forms in which one is written, and texts without them.
//!
//! A server may repeat a key in its error, and a program may print a request. So a
//! text that leaves llmnode (an error, a log, a record, a cassette) is searched for
//! every key that the client knows, in each form in which a server may write it: as
//! it is, percent-encoded, and as Base64, where it has another form for each of
//! three places that it may begin at.
//!
//! What is *not* known as a key is guessed by the name beside it (`names.rs`): a
//! header or a parameter called `api-key`. Guessing errs to the side of hiding too
//! much.

mod forms;
mod names;
mod secret;

pub use forms::is_credential_value;
pub use names::is_credential;
pub use secret::{Secret, redact, redact_secrets};
