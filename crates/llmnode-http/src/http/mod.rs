//! Shared by everything that speaks HTTP: models, embeddings, stores and servers of tools.
//!
//! A method, a URL, headers and a body come in; status, headers and the body as it
//! arrives go out, or an error that says whether the request was sent. In this
//! order:
//!
//! 1. The URL is read (`url.rs`) and its host judged: an address that is not public
//!    is refused where the connection is made (`address_guard.rs`, `resolver.rs`),
//!    since a name may lead elsewhere by then.
//! 2. A connection comes from the pool or is made (`client.rs`, `connector.rs`,
//!    `proxy.rs`, `tls.rs`), all within one time limit.
//! 3. The request is sent once (`service.rs`). Redirects are followed within the
//!    same server, without keys to any other.
//! 4. The body is read piece by piece and up to a cap (`body.rs`, `incoming.rs`),
//!    with turns for other tasks; events are cut out of it by `sse.rs`.
//! 5. An error response gets its category by the table in `rules.rs`, row by row
//!    (`classify.rs`), from its status, its headers and whatever it has of a body
//!    (`error_body.rs`). What it asks to wait is in a header (`retry_after.rs`) or
//!    in its words (`wait_hint.rs`).
//!
//! The room does not know what a model, a message or an answer is. It waits for
//! nothing: how long the server asks to wait is only read.

pub(crate) mod address_guard;
pub(crate) mod body;
pub(crate) mod classify;
pub(crate) mod client;
mod client_error;
pub(crate) mod connector;
pub(crate) mod endpoint;
pub(crate) mod error_body;
pub(crate) mod headers;
pub(crate) mod incoming;
pub(crate) mod lenient;
mod link;
pub(crate) mod lookalikes;
pub(crate) mod percent;
mod plain_client;
pub(crate) mod proxy;
pub(crate) mod rate_headers;
pub(crate) mod redirects;
pub(crate) mod refused_turns;
pub(crate) mod reported;
mod resolver;
pub(crate) mod retry_after;
pub(crate) mod rules;
pub(crate) mod service;
pub(crate) mod sse;
pub(crate) mod tls;
pub(crate) mod url;
pub(crate) mod usage;
pub(crate) mod wait_hint;

pub use body::ResponseBody;
pub use client_error::ClientError;
pub use plain_client::PlainClient;
