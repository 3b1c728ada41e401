//! llmnode: annotate a struct, get a validated, typed, accounted LLM call.

#[doc(inline)]
pub use llmnode_runtime::*;
