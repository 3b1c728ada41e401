//! A local page for graphs; use it through the `llmnode` crate.

#![warn(clippy::print_stderr, clippy::print_stdout)]

mod access;
mod api;
mod app;
mod decision;
mod file;
mod form;
mod history;
mod key;
mod options;
mod panels;
mod run;
mod running;
mod serve;
mod state;

pub use serve::{Serve, Served, serve};

#[doc(hidden)]
pub mod internal {
    //! For the command `llmnode-graph`.

    pub use crate::options::Registries;
    pub use crate::serve::serve_with;
}
