//! Flows and maps that survive a crash: a journal keeps their steps and answers,
//! and another process resumes from it.
//!
//! ```
//! # mod llmnode { pub use llmnode_runtime::*; pub use llmnode_flow::*; }
//! use llmnode::flow::{RunExt, RunFlow};
//! use llmnode::journal::JournalFile;
//! use llmnode::{NodeError, Run};
//! use serde::{Serialize, de::DeserializeOwned};
//!
//! async fn go_on<'r, S, F>(run: &'r mut Run<S>, flow: F) -> Result<F::Action, Box<dyn std::error::Error>>
//! where
//!     S: Serialize + DeserializeOwned + Send + Sync,
//!     F: RunFlow<'r, S, Action: Serialize + DeserializeOwned>,
//! {
//!     let journal = JournalFile::open("order-17.journal")?;
//!     Ok(run.flow(flow).resume(journal).await?) // starts, or goes on from the last step that was completed
//! }
//! ```

mod batch_history;
mod changes;
mod compact;
mod durable;
mod engine;
mod error;
mod file;
mod finite;
mod history;
#[expect(
    clippy::module_inception,
    reason = "the trait that the room is named after"
)]
mod journal;
mod line;
mod lock;
mod map_resume;
mod open;
mod record;
mod recorder;
mod replay;
mod resume;
mod resume_check;
mod sidecar;
mod value;

pub use engine::{Entry, InDoubtOutcome, Replay, ReplayStart, ReplayStep};
pub use error::JournalError;
pub use file::JournalFile;
pub use history::{DroppedAnswer, History, PendingStep};
pub use journal::Journal;
pub use map_resume::{BatchApiExt, MapExt};
pub use open::Fsync;
pub use record::Record;
pub use resume::Resume;
