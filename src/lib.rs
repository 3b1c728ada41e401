//! llmnode: annotate a struct, get a validated, typed, accounted LLM call.

#[doc(inline)]
pub use llmnode_macros::llm_node;
#[doc(hidden)]
pub use llmnode_runtime::private as __private;
#[doc(inline)]
pub use llmnode_runtime::*;
