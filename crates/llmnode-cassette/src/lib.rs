//! Cassettes: a model's answers in a file, to be given again without the model. Use
//! it through the `llmnode` crate.
//!
//! A test that is recorded once runs without a key and without a network. The idea
//! is that of VCR for Ruby; the file is made to be read in a review.
//!
//! A cassette is a `ChatModel` around another one, so it stands below the attempt
//! loop and above the wire. That decides what is on it:
//!
//! - Each attempt is an entry of its own, a failed one too, with its category and
//!   the wait that the server asked for. A replay meets the same 503, and the loop
//!   retries as it did; limits, records and validators see no difference. Were the
//!   cassette above the loop, a test could not see a retry.
//! - Bytes and headers are not on it: a recording outlives a change of how requests
//!   are written, and holds no key. What happens below (connections, redirects) is
//!   not replayed.

#![warn(clippy::print_stderr, clippy::print_stdout)]

mod cassette;
mod diff;
mod entry;
mod file;
mod mismatch;
mod request_key;
mod sink;

pub use cassette::{Cassette, CassetteMode};
