//! Tools: nodes that a model may call on its way to an answer.
//!
//! A tool is a node that is read from the arguments which the model wrote. Each call of it is a call of that node, with a record,
//! limits and settings of its own.

mod called;
mod dynamic;
mod in_text;
mod lent;
mod list;
mod lone;
mod outcome;
mod permit;
mod round;
mod toolset;
mod typed;
mod value;

pub(super) use called::{Around, Called};
pub use dynamic::Calls;
pub use lent::{CloneArgument, CloneNothing, CloneValue, Lent};
pub use list::Tools;
pub use lone::{ToolRun, execute_tool, refused_arguments};
pub(super) use outcome::Outcome;
pub use outcome::{MAX_RESULT, capped};
pub use permit::ask_handler;
pub(super) use round::{Executor, Round, answer_or_calls, called_in_text, forbidden, open_call};
pub use toolset::Toolset;
pub use typed::Tool;
pub use value::{Replied, ResultOf, ToolError, ToolReply, fallible, reply};
