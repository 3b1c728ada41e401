//! Flows: steps that prepare themselves from the state, execute, write back and decide what follows.
//!
//! A flow is driven by a [`Run`](llmnode_runtime::Run), which holds the state: `run.flow(Research).await`, by [`RunExt`], which is in
//! the prelude. The state is one value of the
//! program's own type.
//!
//! - A **[step](Step)** is a node with three parts. `prep` makes the node from the state and can only read it; `exec` asks
//!   the model, with all tries, fallbacks, limits and accounting that a [call](llmnode_runtime::Run::call) has, and cannot write either; `post`
//!   takes the output, writes to the state and gives an *action*. `#[llm_node]` implements it for nodes with `store`, `post`,
//!   `route`, `action`, `prep`, `batch` or a field with `#[prep(..)]`. Neither `prep` nor `post` is tried again.
//! - An **[action](Action)** is what a step decides, as a value: a variant of an enum, or `()`. The flow has an edge for each.
//! - A **flow** is steps and edges. `flow!` declares one whose routes the compiler checks; [`Flow::builder`] builds one whose
//!   steps are known only at run time, and reports every fault at once. Both are themselves what can stand in a flow: its last
//!   action routes the outer one, on the same state or on a part of it.
//! - Where a flow stands is its **[position](Position)**: the label of the step that is next, and those of the flows around it.
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
//! **No half steps.** From the end of a step's exec to the next position nothing waits. A flow that is dropped at any await has
//! done each step wholly or not at all, and its state belongs to its position; the parameters of a nested flow are written in the
//! moment in which it begins. The exception is a `post` that fails or panics: what it wrote before stays in the state, and of steps
//! side by side, so does what the posts before it wrote; those behind it do not run. A state need not be `Clone`, so there is no
//! copy to go back to: a post checks first, and writes at its end what must hold together. Where the flow stands is still that step. A
//! journal does not record the step, so `resume` goes on with the state as it was before it.
//!
//! **An error says where.** [`NodeError::position`](llmnode_runtime::NodeError::position) names the step, and what the steps before did to
//! the state stays. After a mend the flow goes on: `run.flow(Research).from(position)`.
//!
//! **A flow ends.** One run takes at most 1000 steps, or as many as the flow or [`max_steps`](FlowCall::max_steps) says; one that
//! would take more is a `limit_exceeded`.
//!
//! **It can be watched.** [`on_step`](FlowCall::on_step) tells each step as it begins and ends; [`report`](FlowCall::report) gives the
//! path taken with tokens and time of each step beside the action; a [`FlowWatch`] has the same also while a flow runs, when it
//! has failed and when it was dropped. A record remembers the newest 256 steps, and figures of all of them.
//!
//! **It can be seen.** [`outline_of`] shows what a flow looks like, as [Mermaid](Outline::mermaid) or [Graphviz](Outline::dot)
//! draw it; a record draws [the path taken](FlowRecord::mermaid) into it.
//!
//! ```
//! # mod llmnode { pub use llmnode_runtime::*; pub use llmnode_flow::*; }
//! use llmnode::flow::{Flow, RunExt, Step, To};
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
//!     .on("guess", "true", To::End)
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
mod batch;
mod book;
mod call;
mod drive;
mod event;
mod flowing;
mod flows;
mod follow;
pub(crate) mod given;
mod graph;
mod log;
mod node_step;
mod outline;
mod parallel;
mod picture;
mod place;
pub(crate) mod post;
pub(crate) mod prep;
mod record;
mod run;
mod spans;
mod stand;
mod step;
mod table;
mod then;
mod typed;
mod written;
mod wrong;

pub use action::Action;
pub use batch::BatchStep;
pub use book::FlowWatch;
pub use call::{FlowCall, FlowReport};
pub use drive::RunFlow;
pub use event::FlowEvent;
pub use flows::{Flows, Fork};
#[cfg(feature = "journal")]
pub(crate) use follow::{Beginning, Begun, Follower, Happened};
pub use graph::{Flow, FlowBuilder};
#[doc(inline)]
pub use llmnode_runtime::internal::{Batch, Position};
pub use outline::{Outline, OutlineStep, To};
pub use place::outline_of;
pub use record::{FlowRecord, StepRecord, StepStats};
pub use run::RunExt;
pub use step::Step;

/// What only the expansion of `flow!` names.
pub(crate) mod generated {
    pub use super::drive::Runner;
    pub use super::flowing::{Flowing, Progress};
    pub use super::outline::Around;
    pub use super::place::{Place, Starts};
    pub use super::table::{Arm, Edge, Table, Target};
    pub use super::then::{Arms, Decided, Decides, Parameter, Undecided, Unknown, onward, write};
    pub use super::typed::{FlowType, advance, outline, runner};
}
