//! Requests to servers that are no chat models: an MCP server, a store of vectors,
//! an engine of flows.
//!
//! Not needed to call models. It changes more often than the rest of the crate.
//! What models have holds here, too: secrets leave this machine by https only and
//! stand in no error, no redirect is followed, nothing is sent twice, and a body is
//! read with turns for other tasks.
//!
//! | to | take |
//! |---|---|
//! | send a request and read its response | [`PlainClient`], [`ResponseBody`]; what went wrong is a [`ClientError`] |
//! | have texts embedded by the server of a model | [`EmbeddingsApi`] |
//!
//! ```
//! use llmnode_http::ext::PlainClient;
//!
//! assert!(PlainClient::new("http://localhost:8000/mcp", true).is_ok(), "a secret stays on this machine");
//! let refused = PlainClient::new("http://mcp.example/mcp", true).err().unwrap();
//! assert!(refused.to_string().contains("by https only"), "{refused}");
//! ```

pub use crate::http::{ClientError, PlainClient, ResponseBody};
pub use crate::openai::EmbeddingsApi;
