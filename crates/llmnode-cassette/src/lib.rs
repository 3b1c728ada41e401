//! Cassettes: a model's answers in a file, to be given again without the model. Use
//! it through the `llmnode` crate.
//!
//! A test that is recorded once runs without a key and without a network. The idea
//! is that of VCR for Ruby; the file is made to be read in a review.

#![warn(clippy::print_stderr, clippy::print_stdout)]

mod cassette;
mod diff;
mod entry;
mod file;
mod mismatch;
mod request_key;
mod sink;

pub use cassette::{Cassette, CassetteMode};
