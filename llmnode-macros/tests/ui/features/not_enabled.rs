// Cause: items of features that `Cargo.toml` does not name.
// Mend: name the features: `llmnode = { version = "0.1", features = ["graph", "mcp", "rag"] }`.
// Errors: 3
use llmnode::graph::Graph;
use llmnode::rag::Collection;
use llmnode::{McpServer, OpenAi};

fn main() {}
