//! A small OpenAI-compatible server on loopback (feature `stub-server`).
//!
//! [`StubServer`] answers `POST /v1/chat/completions`, `POST /v1/embeddings` and `GET /v1/models` over HTTP/1.1. A
//! chat completion gets the next scripted [`StubReply`], with whatever delay or fault that has, or, when the script
//! is empty, a small value that the JSON schema in its `response_format` allows ([`StubReply::from_schema`]). The same
//! request gets the same answer.
//! Embeddings are made of hashed words: texts with words in common are near to each other.
//! Every request is in the log, [`StubServer::requests`].
//!
//! ```
//! # mod llmnode { pub use llmnode_stub as stub_server; }
//! use llmnode::stub_server::{StubReply, StubServer};
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! let server = StubServer::builder().script([StubReply::text("Hello, Ada!")]).start().await?;
//! assert!(server.base_url().ends_with("/v1"));
//!
//! // Any HTTP client will do; this is one by hand.
//! let body = r#"{"model": "m", "messages": [{"role": "user", "content": "Greet Ada."}]}"#;
//! let mut client = tokio::net::TcpStream::connect(server.address()).await?;
//! let head = "POST /v1/chat/completions HTTP/1.1\r\nhost: stub\r\nconnection: close\r\n";
//! client.write_all(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).as_bytes()).await?;
//! let mut answer = String::new();
//! client.read_to_string(&mut answer).await?;
//!
//! assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("Hello, Ada!"));
//! let log = server.requests();
//! assert_eq!(log[0].messages(), [("user".to_owned(), "Greet Ada.".to_owned())]);
//! assert_eq!(log[0].usage(), Some(server.usage_totals()));
//! # Ok(())
//! # }
//! ```

mod answer;
mod check;
mod completion;
mod embedding;
mod events;
mod exchange;
mod form;
mod headers;
mod log;
mod reader;
mod reply;
mod request;
mod response;
mod routes;
mod sample;
mod server;

#[cfg(test)]
mod tests;

pub use log::LoggedRequest;
pub use reply::StubReply;
pub use server::{StubServer, StubServerBuilder};
