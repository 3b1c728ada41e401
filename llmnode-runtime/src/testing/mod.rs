//! What tests of nodes use: models that answer by a script or a function, requests as text to compare, a clock whose
//! waits take no time, and a guard against real requests.
//!
//! `use llmnode::testing::*;` imports everything. The page `docs/testing.md` is the guide.
//!
//! | variable | |
//! |---|---|
//! | `LLMNODE_FORBID_REQUESTS=1` | as [`forbid_requests`], for the whole process |
//! | `LLMNODE_FORBID_REQUESTS=all` | as [`forbid_all_requests`], for the whole process |
//!
//! A variable that is empty, `0` or `false` counts as not set.

pub(crate) mod guard;
mod prompt;
mod request_of;

pub use guard::{forbid_all_requests, forbid_requests};
pub use prompt::assert_prompt;
pub use request_of::request_of;

pub use crate::clock::TestClock;
pub use crate::model::{FnModel, Reply, ScriptedModel};
pub use crate::usage::TokenUsage;

fn variable(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?.to_string_lossy().trim().to_ascii_lowercase();
    Some(value).filter(|value| !matches!(value.as_str(), "" | "0" | "false"))
}
