//! One run as one page, for llmnode; use it through the `llmnode` crate.

#![warn(clippy::print_stderr, clippy::print_stdout)]

mod calls;
mod chart;
mod collect;
mod conversation;
mod document;
pub mod ext;
mod html;
mod layout;
mod page;
mod picture;
mod reading;
mod recording;
mod states;
mod texts;
mod view;
mod words;

pub use recording::Recording;
