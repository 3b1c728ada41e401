//! Items of features that `Cargo.toml` does not name.

use llmnode::graph::Graph;
use llmnode::rag::Collection;
use llmnode::{McpServer, OpenAi};

fn main() {}
