//! Flows of llmnode's nodes, and their journal; use them through the `llmnode` crate.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(clippy::print_stderr, clippy::print_stdout)]

pub mod flow;
#[cfg(feature = "journal")]
pub mod journal;
#[doc(hidden)]
pub mod private;
