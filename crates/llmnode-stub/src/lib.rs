//! A small server on loopback that speaks the APIs of model providers, and is as strict as they are (feature `stub-server`).
//!
//! [`StubServer`] answers over HTTP/1.1:
//!
//! | path | API |
//! |---|---|
//! | `POST /v1/chat/completions` | OpenAI's chat completions, and those of compatible servers |
//! | `POST /v1/responses` | OpenAI's Responses |
//! | `POST /v1/messages` | Anthropic's Messages |
//! | `POST ../models/{model}:generateContent`, `:streamGenerateContent` | Google's Gemini, behind any prefix |
//! | `POST /v1/embeddings`, `GET /v1/models` | embeddings and the list of models |
//! | `/v1/files`, `/v1/batches` | OpenAI's batches, of chat completions and of Responses |
//! | `/v1/messages/batches` | Anthropic's batches |
//! | `POST ../models/{model}:batchGenerateContent`, `/v1beta/batches` | Gemini's batches |
//!
//! Azure's paths below `/openai` are served, too. A request to a model gets the next scripted [`StubReply`] in the form of its
//! API, streamed if it asks for that, with whatever delay or fault the reply has; or, when the script is empty, a small value
//! that the JSON schema of the request allows ([`StubReply::from_schema`]). The same request gets the same answer.
//! Embeddings are made of hashed words: texts with words in common are near to each other.
//! Every request is in the log, [`StubServer::requests`], and so is every line of a batch that was answered.
//!
//! A batch is answered when it comes to its end: at the first look at it, or as the next [`StubBatch`] of the script says, which
//! also says what is wrong with its results ([`StubServer::push_batch`]).
//!
//! # What it refuses
//!
//! Real servers refuse requests that look fine: an object in a schema without `properties`, a result without its call, a field
//! that a model does not know. [`StubServerBuilder::as_provider`] names the provider whose refusals apply, with its status and
//! its words. Without a provider, what all servers of an API refuse is refused. [`refusal`] asks the same rules for a server of
//! your own. The rules are data, each with its source; a server with the log off and a fixed reply asks none.
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
mod api;
mod batches;
mod billing;
mod chat;
mod completion;
mod counts;
mod embedding;
mod exchange;
mod form;
mod gemini;
mod headers;
mod log;
mod messages;
mod model_answer;
mod prefix;
mod reader;
mod reply;
mod request;
mod response;
mod responses;
mod routes;
mod rules;
mod sample;
mod server;
mod wire;

#[cfg(test)]
mod tests;

pub use batches::{BilledLine, StubBatch, StubBatchFault};
pub use billing::{BilledPrompt, CacheMeter, CachePrompt, CacheRules};
pub use log::LoggedRequest;
pub use reply::StubReply;
pub use rules::{Provider, Refusal, refusal};
pub use server::{StubServer, StubServerBuilder};
