//! What the macros generate, together with the runtime: one program, so that it is linked once.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    missing_docs,
    reason = "tests"
)]

mod action;
mod attach;
#[cfg(feature = "openai")]
mod attachments;
mod chat;
#[cfg(feature = "openai")]
mod choices;
#[cfg(feature = "openai")]
mod dyn_node;
#[cfg(all(feature = "journal", feature = "openai", feature = "smart"))]
mod evaluate;
mod exact;
mod extract;
mod flows;
#[cfg(all(feature = "graph", feature = "openai"))]
mod graph;
mod held_model;
#[cfg(feature = "openai")]
mod http;
#[cfg(all(feature = "cassette", feature = "journal", feature = "openai"))]
mod narrowed;
mod nested;
mod node;
#[cfg(all(feature = "journal", feature = "openai", feature = "smart"))]
mod optimise;
mod output;
#[cfg(feature = "openai")]
mod prefix;
#[cfg(feature = "rag")]
mod prompts;
mod reading;
mod recover;
mod refused;
#[cfg(feature = "journal")]
mod replayed;
#[cfg(feature = "openai")]
mod schedules;
#[cfg(all(feature = "journal", feature = "openai", feature = "smart"))]
mod smart;
mod step;
#[cfg(feature = "openai")]
mod testing;
mod validators;
mod violations;
