//! `OpenAi`, and batches of all APIs, over real sockets: against the stub server, and against raw ones where the fault is below HTTP.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

mod answers;
#[cfg(all(feature = "batch", feature = "anthropic", feature = "gemini"))]
mod batches;
#[cfg(feature = "async-openai")]
mod config;
mod connections;
mod faults;
mod learning;
mod proxies;
mod redirects;
mod response_formats;
mod secrets;
mod settings;
#[path = "../../../../examples/cases/sinks.rs"]
mod sinks;
mod streams;
mod support;
mod tls;
