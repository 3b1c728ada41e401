//! A local page for graphs; use it through the `llmnode` crate.

#![warn(clippy::print_stderr, clippy::print_stdout)]

mod access;
mod api;
mod app;
mod decision;
pub mod ext;
mod file;
mod form;
mod history;
mod kept;
mod key;
mod options;
mod panels;
mod restore;
mod run;
mod running;
mod serve;
mod stalled;
mod state;
mod waits;

pub use serve::{Serve, ServerHandle, serve};
