//! A local page for graphs; use it through the `llmnode` crate.

#![warn(clippy::print_stderr, clippy::print_stdout)]

mod access;
mod api;
mod app;
mod decision;
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

pub mod ext {
    //! What a command of another crate takes, whose registry depends on the graph that is opened.
    //!
    //! Not needed where one registry serves all graphs, which is [`serve`](crate::serve). The command `llmnode-graph` is
    //! written with it: it makes placeholders for tools that a file names and the command does not have.

    pub use crate::options::Registries;
    pub use crate::serve::{serve_with, with_notes};
}
