//! One run as one page, for llmnode; use it through the `llmnode` crate.
//!
//! Events of a run come in, one page goes out. From the ground up:
//!
//! 1. `collect.rs` listens, and makes a `document.rs` of what happens: a recording, which is also a file. `texts.rs` is the only
//!    place that keeps texts, so that secrets, lengths and memory are handled once; `conversation.rs` keeps what each request adds.
//! 2. `view.rs` decides which parts of a recording are shown. All sections draw what it chose, so that they agree.
//! 3. `page.rs` writes the page: its head, then a section each by `picture.rs` (the way of a flow, in the places of `layout.rs`),
//!    `chart.rs` (time), `states.rs` (values) and `calls.rs`. All write by `html.rs`, which escapes.
//!
//! A recording may come from a file of somebody else. So nothing here trusts a number, a name or a depth in it, and each part of a
//! page has a bound of bytes.

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
