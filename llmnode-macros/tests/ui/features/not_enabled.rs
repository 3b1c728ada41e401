// Cause: items of features that `Cargo.toml` does not name.
// Mend: name the features: `llmnode = { version = "0.1", features = ["mcp", "stub-server"] }`.
// Errors: 2
use llmnode::stub_server::StubServer;
use llmnode::{McpServer, OpenAi};

fn main() {}
