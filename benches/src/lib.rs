//! What llmnode costs, measured: the task that is done, and how time and memory are taken.
//!
//! `benches/run` measures everything; the binaries say what each of them measures.

pub mod loops;
pub mod measure;
pub mod mocked;
pub mod request;
pub mod summarize;
pub mod task;
pub mod wires;
