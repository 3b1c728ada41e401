//! What a command of another crate takes, whose registry depends on the graph that is opened.
//!
//! Not needed where one registry serves all graphs, which is [`serve`](crate::serve). The command `llmnode-graph` is written with
//! it: it makes placeholders for tools that a file names and the command does not have.

pub use crate::options::Registries;
pub use crate::serve::{serve_with, with_notes};
