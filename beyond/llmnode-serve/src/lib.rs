//! A local page for graphs; use it through the `llmnode` crate.
//!
//! Files of graphs and a registry come in; a server on 127.0.0.1 goes out, whose page draws, checks and runs the graphs.
//!
//! 1. `serve.rs` binds it and accepts connections; `access.rs` decides who may ask, before any path is looked at; `api.rs` has the
//!    paths.
//! 2. `app.rs` holds the one `state.rs`, under one lock. Whoever changes it says which parts of the page that concerns; they are
//!    drawn (`panels.rs`, `form.rs`, `waits.rs`) and sent to all open pages.
//! 3. `file.rs` reads and checks the files again when they change.
//! 4. `run.rs` executes a graph: `running.rs` is what the pages see of it, `decision.rs` what a person decides, `kept.rs` what
//!    is on the disk, `restore.rs` how it comes back after a restart, `history.rs` the runs that have ended.
//!
//! Loading a page runs nothing, and whatever starts, stops or decides needs the key. Texts of models and tools are escaped and
//! redacted before they reach a page.

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
