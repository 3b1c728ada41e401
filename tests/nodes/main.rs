//! What the macros generate, together with the runtime: one program, so that it is linked once.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, missing_docs, reason = "tests")]

mod action;
mod attach;
#[cfg(feature = "openai")]
mod attachments;
mod chat;
#[cfg(all(feature = "journal", feature = "openai", feature = "smart"))]
mod evaluate;
mod exact;
#[cfg(all(feature = "graph", feature = "openai"))]
mod graph;
mod held_model;
#[cfg(feature = "openai")]
mod http;
mod nested;
mod node;
#[cfg(all(feature = "journal", feature = "openai", feature = "smart"))]
mod optimise;
mod output;
#[cfg(feature = "openai")]
mod primitive;
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
