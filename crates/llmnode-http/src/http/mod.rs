//! Shared by everything that speaks HTTP: requests, headers, waits, the category of a failure, and what models refuse.

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
