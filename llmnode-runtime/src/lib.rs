//! Runtime of llmnode.

#[cfg(feature = "stub-server")]
pub mod stub_server;
#[cfg(feature = "stub-server")]
pub use stub_server::{Reply, StubServer};
