//! Tools: nodes that a model may call on its way to an answer.
//!
//! A tool is a node that is read from the arguments which the model wrote. Each call of it is a call of that node, with a record,
//! limits and settings of its own.

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
