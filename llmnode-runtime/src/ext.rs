//! What listeners, journals, tools, embedders and graphs of other crates take from the runtime.
//!
//! Not needed to call nodes. It changes more often than the rest of the crate: a minor release may add variants and fields.
//!
//! | to write | take | as in |
//! |---|---|---|
//! | something that listens to a run: a page, a meter, a log | [`RunRecorder`], [`RunEvent`] | `Recording` of llmnode-page |
//! | something that keeps answers for later processes | [`Recorder`] | the journals of llmnode-flow |
//! | a tool that asks a person before it goes on | [`Toolset::asking_function`](crate::Toolset::asking_function), [`Asks`] | MCP servers |
//! | a request to a server that is no chat model | [`send_request`], [`OtherRequest`] | embedders of llmnode-rag |
//! | rules of long conversations that come from data | [`Mark`] | agents of graphs |
//! | a graph whose nodes are agents | [`Handoff`], [`NodePause`], [`ToolFn`] | the nodes of llmnode-graph |
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
//!
//! [`recorded_by`] attaches one to a map: it reads what is there, and says what was spent before as a [`PriorSpend`], for the
//! limits. [`LedgerImport`] enters what earlier processes did into the ledger, so that reports are of the whole work;
//! [`JournalForm`] leaves out of a record what a journal has elsewhere, and [`cut_short`] is the record of a call whose process
//! ended before it did. Files begin with their format and version: [`read_format`] refuses a newer one.
//!
//! # Tools that ask
//!
//! ```
//! # use llmnode_runtime as llmnode;
//! use std::collections::BTreeMap;
//!
//! use llmnode::ext::{AskedReplies, AskedReply, Asks};
//! use llmnode::{NodeError, Question, Toolset};
//! use serde_json::{Value, json};
//!
//! async fn book(arguments: Value, replies: Option<AskedReplies>) -> Result<String, NodeError> {
//!     let seat = replies.as_ref().and_then(|replies| replies.replies.get("seat"));
//!     match seat {
//!         Some(AskedReply::Answer(seat)) => Ok(format!("booked {arguments} with {seat}")),
//!         Some(AskedReply::Declined) => Ok("not booked: the person did not choose a seat".to_owned()),
//!         // The agent pauses. `Paused::answer` gives the reply, and the tool is called again with the same arguments.
//!         None => {
//!             let schema = json!({"type": "object", "properties": {"row": {"type": "integer"}}});
//!             let questions = BTreeMap::from([("seat".to_owned(), Question::new("Which row?", schema))]);
//!             Err(Asks { questions, memory: None }.into_error())
//!         }
//!     }
//! }
//!
//! let schema = json!({"type": "object", "properties": {"train": {"type": "string"}}});
//! let tools = Toolset::new().asking_function("book", "Books a seat.", schema, book);
//! assert_eq!(tools.names().collect::<Vec<_>>(), ["book"]);
//! ```
//!
//! What a tool returns is cut to what a model reads: [`MAX_RESULT`] bytes, as [`capped`] cuts them, and [`MAX_IMAGES`] images of
//! [`MAX_IMAGE_BYTES`] together, with a sentence about those that were left out ([`images_left_out`]). A tool that makes a result
//! of parts does so itself, so that it decides what is left out.
//!
//! # Other requests
//!
//! A node that asks a server which is no chat model has its `exec` make an [`OtherRequest`] by [`send_request`]. It has the same
//! waits, limits, retries and records as a call of a model; the node keeps the response.
//!
//! # Graphs
//!
//! An agent among others ends its turns with a call of a tool that [hands off](crate::Toolset::handoff):
//! [`DynNode::exec_or_hand_off`](crate::DynNode::exec_or_hand_off) returns the [`AgentOutcome`], and [`Handoff::round`] the messages
//! with which the next one begins. A tool of a graph that calls nodes in the context of the agent's call is a [`ToolFn`]
//! ([`Toolset::calling`](crate::Toolset::calling)). A node that waits for a person as a whole is
//! [`Paused::of_node`](crate::Paused::of_node), and what was decided about it a [`NodePause`].

pub use crate::format::read as read_format;
pub use crate::ledger::{
    AnswerEvent, Compaction, JournalKey, JournaledAnswer, JournaledBatch, JournaledConversation,
    Recorder, RunEvent, RunRecorder, RunSetup, StepRecord,
};
pub use crate::ledger::{JournalForm, LedgerImport, NodeKey, cut_short, milliseconds};
pub use crate::limits::PriorSpend;
pub use crate::pause::{AskedReplies, AskedReply, Asks, IntoPaused, NodePause};
pub use crate::position::{Label, Position, PositionExt};
pub use crate::run::{
    AgentOutcome, Batch, Handoff, MAX_IMAGE_BYTES, MAX_IMAGES, MAX_RESULT, Mark, OtherRequest,
    RunCore, ToolFn, images_left_out, recorded_by, send_request,
};
pub use crate::text::capped;
