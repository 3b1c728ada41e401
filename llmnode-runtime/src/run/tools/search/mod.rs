//! Tools that are listed only when they are found:
//! [`Toolset::deferred`](super::Toolset::deferred).
//!
//! In comes the first request of a call with all its tools. If enough of them are
//! deferred, only some are listed, and the room works in the turns that follow:
//!
//! 1. [`Search::begin`] lists what is not deferred, `search_tools`, `call_tool`,
//!    and the five tools that fit the question's own words, since small models
//!    never search (`deferred.rs`). The others stay callable: `Request::all_tools`.
//! 2. A call of `call_tool` becomes the call that it contains (`through.rs`), so
//!    that approvals, journals and records see the tool.
//! 3. A call of `search_tools`, and one of a name that no tool has, are answered
//!    with the tools that fit (`answer.rs`). A tool that is called before it is
//!    listed runs at once.
//! 4. What was found is written on the message for which it was found: the
//!    question, or the result. From there [`Search::list`] lists it in all requests
//!    that follow. So a conversation that goes on after a pause, a failure or a
//!    crash, or in a later turn of a chat, has the same tools without another
//!    search.
//!
//! Listing a tool changes the beginning of the prompt. Where much of it would have
//! to be read again, or the provider binds thoughts to it, the schema stands in the
//! result instead, and `call_tool` calls the tool.
//!
//! `index.rs` ranks tools, and `words.rs` compares words; both know nothing of
//! calls.

mod answer;
mod deferred;
mod index;
mod through;
mod words;

pub(super) use answer::Finding;
pub(in crate::run) use deferred::{Search, found_for_question, take_over};
pub(super) use through::{as_written, is_search, unwrapped};
pub(in crate::run) use through::{called_name, search_name};
