//! llmnode: annotate a struct, get a validated, typed, accounted LLM call.

#[doc(inline)]
pub use llmnode_macros::{llm_node, llm_output, validate};
#[doc(hidden)]
pub use llmnode_runtime::private as __private;
#[doc(inline)]
pub use llmnode_runtime::*;

/// What most programs import: `use llmnode::prelude::*;`.
pub mod prelude {
    pub use crate::{Attempt, Category, Invalid, NodeError, Run, Settings, llm_node, llm_output, validate};
}
