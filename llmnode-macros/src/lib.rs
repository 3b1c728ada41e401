//! Attribute macros of llmnode.
