//! Runtime of llmnode.

mod output;
#[cfg(feature = "stub-server")]
pub mod stub_server;

pub use output::{OutputSchema, StrictError, StrictProblem};
#[cfg(feature = "stub-server")]
pub use stub_server::{Reply, StubServer};
