//! Optimisers, on tasks whose best program is known.

#[cfg(feature = "openai")]
mod beside_dspy;
mod bootstrap;
mod colours;
mod data;
mod questions;
mod reflect;

use llmnode::prelude::*;

#[llm_output]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) answer: String,
}
