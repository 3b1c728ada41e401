//! Runtime of llmnode.
