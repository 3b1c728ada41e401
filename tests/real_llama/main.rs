//! Nodes against llama.cpp's own server: its wire format, its enforcement of JSON schemas, its faults.
//!
//! `scripts/real-components` starts the server with a tiny model of random weights and runs these tests. The answers mean
//! nothing: they are right in form and wrong in content, which is what is needed here. Seeds make answers repeatable on
//! one machine; no test depends on what a particular seed yields, because another processor rounds differently.

#![cfg(all(feature = "anthropic", feature = "openai"))]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

mod agents;
mod caches;
mod conforms;
mod corrections;
mod dialects;
mod faults;
mod flows;
mod instruct;
mod long;
#[cfg(feature = "graph")]
mod quickstart;
#[allow(
    dead_code,
    reason = "of the values of the shapes nothing is needed here"
)]
#[path = "../response_formats/shape.rs"]
mod shape;
mod shapes;
mod sixty_turns;
mod streams;
mod support;
mod types;
mod wire;
#[cfg(all(feature = "cassette", feature = "gemini"))]
mod wires;
#[path = "../response_formats/zoo.rs"]
mod zoo;
