//! Flows with a journal: what they keep, and how they continue after a crash.

#![cfg(feature = "journal")]
#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

mod changed;
mod crash;
mod damage;
mod figures;
mod files;
mod golden;
mod happened;
mod killing;
mod kills;
mod maps;
mod once;
mod posts;
#[path = "../../../../llmnode-runtime/tests/core/recorder.rs"]
#[expect(dead_code, reason = "shared with the tests of the core")]
mod recorder;
mod replay;
mod resume;
mod spent;
mod support;
mod values;
mod writers;
