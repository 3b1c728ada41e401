//! Running nodes: the run, one call of a node, many calls, and the attempt loop beneath them.

mod asking;
mod attempt;
mod attempts;
mod batch;
mod behind;
mod bounded;
mod call;
mod cx;
mod doubts;
mod examples;
mod executing;
mod failure;
mod fallback;
mod feedback;
mod judge;
mod listener;
mod looped;
mod map;
mod name;
mod node;
mod observer;
mod parallel;
mod pool;
mod progress;
mod repetition;
mod requesting;
mod results;
mod resume;
#[expect(clippy::module_inception, reason = "the file holds `Run`")]
mod run;
mod shell;
mod stream;
mod tools;

pub use batch::Batch;
pub use behind::exec_behind;
pub use bounded::{Bounded, CONCURRENCY, Ended, Source, no_next_item};
pub use call::{Call, CallReport};
pub use call::{MAX_NESTING, Within};
pub use cx::{
    Cx, calls, context, handed_on, keeping, kept, on_core, paused, rounds, with_origin, yield_in_time,
};
pub use examples::{Example, ExampleInput, ExampleOutput, ExampleText, Input, IntoExample};
pub use fallback::{Falling, fallback, fallback_with_state};
pub use map::{Map, recorded_by};
pub use node::{Exec, LlmNode};
pub use observer::{Observer, OfFlow};
pub use progress::BatchProgress;
pub use progress::{Counter, OnProgress, known};
pub use requesting::{Requests, request};
pub use results::Results;
pub use resume::Origin;
pub use run::Run;
pub use run::{RunCore, core, keep, parts};
pub use shell::exec;
pub use stream::{CallStream, Event, Items};
pub use tools::{
    Calls, CloneArgument, CloneNothing, CloneValue, Lent, MAX_RESULT, Replied, ResultOf, Tool, ToolError,
    ToolReply, ToolRun, Tools, Toolset, ask_handler, capped, execute_tool, fallible, refused_arguments,
    reply,
};
