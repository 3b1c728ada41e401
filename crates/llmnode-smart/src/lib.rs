//! Smart nodes: a goal, fields and examples in place of a prompt, and what makes them better. Use it through the `llmnode` crate.

#![warn(clippy::print_stderr, clippy::print_stdout)]

pub mod evaluate;
mod random;
