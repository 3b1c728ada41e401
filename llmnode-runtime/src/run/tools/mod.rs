//! Tools: nodes that a model may call on its way to an answer.
//!
//! A tool is a node that is read from the arguments which the model wrote. Each
//! call of it is a call of that node, with a record, limits and settings of its
//! own. What comes in is an answer with calls; what goes out is the next turn's
//! messages, or the calls that wait for somebody. In this order:
//!
//! 1. `round.rs`: an answer becomes a round of calls, or stays an answer. Each call
//!    gets an id that no other one has, since providers refuse a conversation
//!    otherwise.
//! 2. `execution.rs`: all calls are charged under the limits of tools, and only
//!    then does the first of them begin: a round that is over a limit has no
//!    half-done effects. They run side by side, apart from tools that run alone.
//! 3. `any_tool.rs`: one call is read, approved, claimed and run.
//! 4. `outcome.rs`: what the model reads of it, and what the record says.
//! 5. `round.rs`: if each call has a result, the results follow the answer in the
//!    order of its calls, whatever the order in which they ended. If one waits,
//!    nothing is sent: the results that there are wait with it, in the pause or the
//!    journal.
//!
//! A tool that fails does not end its agent. The model reads that it failed, and
//! may do without it: also after a panic, a deadline or a limit of the tool's own.
//! What ends the agent is what ends every call (a cancelled call, a bad key, the
//! program that aborts), and limits that the agent shares, at its next request.
//!
//! `search` shows a model with very many tools only those that it looks for.

mod any_tool;
mod approval;
mod call_tool;
mod clone_args;
mod dynamic;
mod execution;
mod invocation;
mod list;
mod outcome;
mod round;
mod search;
mod toolset;
mod typed;
mod value;

pub(super) use approval::ask_handler;
pub use call_tool::ToolsetInternals;
pub use clone_args::{CloneArgument, CloneNothing, CloneProbe, CloneValue};
pub use dynamic::ToolFn;
pub(super) use execution::Executor;
pub(super) use invocation::{ConversationId, Invocation};
pub use list::Tools;
pub(super) use outcome::ToolOutcome;
pub use outcome::{MAX_IMAGE_BYTES, MAX_IMAGES, MAX_RESULT, images_left_out};
pub(super) use round::{
    MAX_CALLS, Round, RunningRound, answer_or_calls, for_history, forbidden_calls, tool_index,
    unanswered_call,
};
pub(super) use search::{Search, called_name, found_for_question, search_name, take_over};
pub use toolset::Toolset;
pub use typed::Tool;
pub use value::{Replied, ResultOf, ToolError, ToolReply, fallible, reply};
