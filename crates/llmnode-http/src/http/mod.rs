//! What every wire needs of HTTP: the service, secrets, waits, the category of a failure, and what models refuse.

mod bare;
pub(crate) mod classify;
pub(crate) mod dialects;
pub(crate) mod endpoint;
pub(crate) mod error_body;
pub(crate) mod headers;
pub(crate) mod incoming;
pub(crate) mod learned;
pub(crate) mod lenient;
pub(crate) mod moved;
pub(crate) mod proxy;
pub(crate) mod public;
pub(crate) mod refused;
pub(crate) mod retry_after;
pub(crate) mod rules;
pub(crate) mod service;
pub(crate) mod sse;
pub(crate) mod tls;
pub(crate) mod usage;
pub(crate) mod wait_hint;

pub use bare::client;
