//! Shared by everything that speaks HTTP: requests, headers, waits, the category of a failure, and what models refuse.

pub(crate) mod address_guard;
pub(crate) mod capabilities;
pub(crate) mod classify;
pub(crate) mod endpoint;
pub(crate) mod error_body;
pub(crate) mod headers;
pub(crate) mod incoming;
pub(crate) mod lenient;
pub(crate) mod lookalikes;
mod plain_client;
pub(crate) mod proxy;
pub(crate) mod redirects;
pub(crate) mod response_formats;
pub(crate) mod retry_after;
pub(crate) mod rules;
pub(crate) mod service;
pub(crate) mod sse;
pub(crate) mod tls;
pub(crate) mod unsupported;
pub(crate) mod usage;
pub(crate) mod wait_hint;

pub use plain_client::client;
