//! Flows: steps that prepare themselves from the state, run, write back, and decide what follows.
//!
//! A flow runs on a [`Run`](llmnode_runtime::Run), which holds the state:
//! `run.flow(Research).await`, by [`RunExt`], which is in the prelude.
//!
//! - A **[step](Step)** is a node with three parts. `prep` makes the node from the
//!   state. `exec` is a [call](llmnode_runtime::Run::call) of the node, with its
//!   retries, fallbacks, limits and accounting. `post` takes the output, writes to
//!   the state and returns an *action*. `#[llm_node]` implements a step for nodes
//!   with `store`, `post`, `route`, `action`, `prep`, `batch` or a field with
//!   `#[prep(..)]`. Only `exec` is tried again.
//! - An **[action](Action)** is what a step decides: a variant of an enum, or `()`.
//!   The flow has an edge for each.
//! - A **flow** is steps and edges. `flow!` declares one whose routes the compiler
//!   checks. [`Flow::builder`] builds one whose steps are known only at run time,
//!   and reports every fault at once. A flow can be a step of another flow, on the
//!   same state or on a part of it; its last action routes the outer flow.
//! - The **[position](Position)** of a flow is the label of the next step, with
//!   those of the flows around it.
//!
//! ```text
//! flow! { pub Research(World):
//!     Decide => match { Decision::Search => Search, Decision::Answer => Answer },
//!     Search => Decide,
//!     Answer => end,
//! }
//! ```
//!
//! # What holds for every flow
//!
//! **No half steps.** A flow that is dropped has done each step wholly or not at
//! all, and its state belongs to its position. The exception is a `post` that fails
//! or panics: what it wrote stays, and so does what the posts of steps beside it
//! wrote before. A state need not be `Clone`, so there is no copy to restore. A
//! post therefore checks first and writes last. A journal does not record such a
//! step, so `resume` continues with the state before it.
//!
//! **An error has a position.**
//! [`NodeError::position`](llmnode_runtime::NodeError::position) names the step.
//! What the steps before did to the state stays. The flow can continue there:
//! `run.flow(Research).from(position)`.
//!
//! **A flow ends.** It takes at most 1000 steps, unless the flow or
//! [`max_steps`](FlowCall::max_steps) sets another number. One step more is a
//! `limit_exceeded`.
//!
//! **It can be watched.** [`on_step`](FlowCall::on_step) reports each step as it begins and ends.
//! [`report`](FlowCall::report) returns the path with tokens and time of each step beside the action. A [`FlowWatch`]
//! has the same while a flow runs, and after it failed or was dropped. A record
//! keeps the newest 256 steps, and figures of all of them.
//!
//! **It can be drawn.** [`outline_of`] returns the flow for [Mermaid](Outline::mermaid).
//! A record draws [the path taken](FlowRecord::mermaid) into it.
//!
//! ```
//! # mod llmnode { pub use llmnode_runtime::*; pub use llmnode_flow::*; }
//! use llmnode::flow::{Flow, RunExt, Step, EdgeTarget};
//! use llmnode::{BoxError, Cx, Exec, Node, NodeError, Run, ScriptedModel};
//!
//! /// A step without a model, written by hand.
//! struct Guess(u32);
//! impl Node for Guess {
//!     type Output = u32;
//!     const NAME: &'static str = "guess";
//! }
//! impl Exec<Vec<u32>> for Guess {
//!     async fn exec(&self, _: &Cx<'_, Vec<u32>>) -> Result<u32, BoxError> {
//!         Ok(self.0 * 2)
//!     }
//! }
//! impl Step<Vec<u32>> for Guess {
//!     type Output = <Self as Node>::Output;
//!     type Action = bool;
//!     async fn prep(guesses: &Vec<u32>) -> Result<Self, BoxError> {
//!         let last = guesses.last().ok_or("there is no first guess")?;
//!         Ok(Guess(*last))
//!     }
//!     fn post(self, output: u32, guesses: &mut Vec<u32>) -> Result<bool, BoxError> {
//!         guesses.push(output);
//!         Ok(output > 10)
//!     }
//! }
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
//! # runtime.block_on(async {
//! let flow = Flow::builder("guessing")
//!     .step::<Guess>("guess")
//!     .on("guess", "false", "guess")
//!     .on("guess", "true", EdgeTarget::End)
//!     .build()?;
//!
//! let mut run = Run::new(ScriptedModel::new()).with_state(vec![]);
//! let error = run.flow(&flow).await.unwrap_err();
//! assert_eq!(error.to_string(), "guess: prep_error: prep failed: there is no first guess");
//!
//! run.state_mut().push(3);
//! let report = run.flow(&flow).report().await?;
//! assert_eq!((run.state().as_slice(), report.record.taken), ([3, 6, 12].as_slice(), 2));
//! assert!(report.record.mermaid().contains("guess<br/>2×"));
//! # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
//! ```

mod action;
mod action_dispatch;
mod batch;
mod call;
mod cursor;
mod cx_ext;
mod drive;
mod event;
mod flows;
mod graph;
mod log;
mod node_step;
mod outline;
mod parallel;
mod picture;
pub(crate) mod post;
pub(crate) mod prep;
pub(crate) mod prep_value;
mod record;
mod record_json;
mod replay;
mod run;
mod runnable;
mod spans;
mod step;
mod step_error;
mod table;
mod typed;
mod watch;
mod watchers;

pub use action::Action;
pub use batch::BatchStep;
pub use call::{FlowCall, FlowReport};
pub use cx_ext::CxExt;
pub use drive::RunFlow;
pub use event::FlowEvent;
pub use flows::{Flows, Fork};
pub use graph::{Flow, FlowBuilder};
pub use llmnode_runtime::ext::Batch;
#[doc(inline)]
pub use llmnode_runtime::ext::Position;
pub use llmnode_runtime::ext::StepRecord;
pub use outline::{EdgeTarget, Outline, OutlineStep};
pub use record::{FlowRecord, StepStats};
#[cfg(feature = "journal")]
pub(crate) use replay::{FlowStart, ReplayedOutput, Replayer, StartPoint};
pub use run::RunExt;
pub use runnable::outline_of;
pub use step::{PreparedStep, Step};
pub use watch::FlowWatch;

/// Only the expansion of `flow!` names these.
pub(crate) mod generated {
    pub use super::action_dispatch::{
        ErrorAction, HasArms, MatchAction, MatchOn, Parameter, UnitAction, plain_arrow, write,
    };
    pub use super::cursor::{FlowCursor, Progress};
    pub use super::drive::{Bounds, Runner};
    pub use super::outline::OuterFlows;
    pub use super::runnable::{Runnable, Startable};
    pub use super::table::{Arm, Edge, Table, Target};
    pub use super::typed::{FlowType, advance, outline, runner};
}
