#![cfg_attr(feature = "openai", doc = include_str!("../README.md"))]
#![cfg_attr(not(feature = "openai"), doc = "Annotate a struct, get an LLM call that the compiler checks.")]

#[doc(inline)]
pub use llmnode_macros::{llm_node, llm_output, validate};
#[doc(hidden)]
pub use llmnode_runtime::private as __private;
#[doc(inline)]
pub use llmnode_runtime::*;

/// What most programs import: `use llmnode::prelude::*;`.
pub mod prelude {
    #[cfg(feature = "openai")]
    pub use crate::OpenAi;
    pub use crate::{
        Attempt, Category, Invalid, NodeError, Run, ScriptedModel, Settings, llm_node, llm_output, validate,
    };
}
