//! What listeners and journals of other crates take from the runtime.
//!
//! Not needed to call nodes. It changes more often than the rest of the crate: a minor release may add variants and fields.
//!
//! | to write | take | as in |
//! |---|---|---|
//! | something that listens to a run: a page, a meter, a log | [`RunRecorder`], [`RunEvent`] | `Recording` of llmnode-page |
//! | something that keeps answers for later processes | [`Recorder`] | the journals of llmnode-flow |
//!
//! # Listening
//!
//! Each happening of a call, an attempt, a tool or a step of a flow is one [`RunEvent`], told once, in the order of its page. A
//! listener is attached to a call, a map or a flow by `record(..)`, and is told of all calls within it. Who wants the ends of
//! all attempts or calls of a run alone sets [`Run::on_attempt`](crate::Run::on_attempt) or
//! [`Run::on_call`](crate::Run::on_call), which listen to the same events.
//!
//! A listener returns at once: it is told in the middle of the call, and from destructors, too. It may read the ledger. If it
//! panics, that is logged under `llmnode::hook`, and the run goes on; only a panic in a journal is one of the call.
//!
//! This one counts retries by tenant, for a meter that must show them while a call goes on, and not at its end:
//!
//! ```
//! # use llmnode_runtime as llmnode;
//! use std::collections::BTreeMap;
//! use std::sync::{Mutex, PoisonError};
//! use std::time::Duration;
//!
//! use llmnode::ext::{RunEvent, RunRecorder};
//! use llmnode::{AttemptKind, Category, Reply, Run, ScriptedModel};
//!
//! #[derive(Default)]
//! struct RetriesByTenant {
//!     counts: Mutex<BTreeMap<String, u32>>,
//! }
//!
//! impl RunRecorder for RetriesByTenant {
//!     fn record(&self, event: &RunEvent<'_>) {
//!         let RunEvent::AttemptBegins { call, attempt, .. } = event else {
//!             return;
//!         };
//!         if attempt.kind != AttemptKind::Retry {
//!             return;
//!         }
//!         let tenant = call.labels.get("tenant").cloned().unwrap_or_default();
//!         let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
//!         *counts.entry(tenant).or_default() += 1;
//!     }
//! }
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
//! # runtime.block_on(async {
//! let model = ScriptedModel::new().reply(Reply::failure(Category::ServerError)).reply("8").reply("9");
//! let run = Run::new(model);
//! let retries = RetriesByTenant::default();
//! for tenant in ["acme", "globex"] {
//!     let call = run.extract::<u8>("the number").label("tenant", tenant).wait(Duration::ZERO);
//!     call.transport_retries(1).record(&retries).await?;
//! }
//! let counts = retries.counts.into_inner().unwrap();
//! assert_eq!(counts, BTreeMap::from([("acme".to_owned(), 1)]));
//! # Ok::<(), llmnode::NodeError>(()) }).unwrap();
//! ```
//!
//! # A journal
//!
//! A [`Recorder`] is a listener that can do two things more. It has answers of earlier processes, for which a call asks before
//! it makes a request. And it alone is awaited ([`Recorder::write`]): before a request goes out, and before the next step after
//! an attempt or a tool has ended. So what it was told before is on the disk when money is spent.

pub use crate::ledger::{
    AnswerEvent, Compaction, JournalKey, JournaledAnswer, JournaledBatch, JournaledConversation,
    Recorder, RunEvent, RunRecorder, RunSetup, StepRecord,
};
pub use crate::position::{Label, Position, PositionExt};
