//! Running nodes: the run, one call of a node, many calls, and the attempt loop
//! beneath them.
//!
//! A node and the settings of its call come in; its output goes out, or an error
//! with the record of what was spent. From the outside in:
//!
//! 1. `call.rs` opens the record of the call, which ends with the call however that
//!    ends, and executes the node (`erased_exec.rs`). `map.rs` makes many calls
//!    side by side.
//! 2. `typed_node.rs` prepares a node that asks a model: settings, schema, tools,
//!    prompt. This is done once for a call, so that all of its requests begin
//!    alike.
//! 3. `attempt_loop.rs` tries until there is an output or nothing more to try. No
//!    other loop retries.
//! 4. `model_attempts.rs` is one try: an answer that the journal has is taken; else
//!    the request passes its gate.
//! 5. `attempt.rs` is the request: room under the limits, the record, the answer,
//!    the judgement on it. `policies` say what is done about answers that need more
//!    than that.
//! 6. `tools` executes the calls of an answer; their results begin the next turn.
//!
//! A model is asked again for five reasons, and each is counted against something
//! else. The failure's stack decides (`settings/recovery`), by its category and by
//! what the provider's client or a policy says of it:
//!
//! | the next request is | because | counted against |
//! |---|---|---|
//! | a correction | the answer was bad, and the model is told why | `retries` |
//! | a retry | the transport failed, and the same request goes out again | `transport_retries`, and the endpoint's budget of retries |
//! | adapted | the server or a policy showed how it has to be sent | at most four of one model (`Progress::adapt`), whatever is set |
//! | a turn | tools have results | the turns that the node allows |
//! | for the fallback model | the stack says so | nothing: all counts begin anew, apart from turns |
//!
//! Most of the room knows no types of the program, so that it is compiled once. Its
//! futures are a part of each call's, which is why some are boxed and others are
//! not: the comments beside them say which calls must not pay for them.

mod arc_state;
mod at_gate;
mod attempt;
mod attempt_loop;
mod batch;
mod batches;
mod begin_turn;
mod bounded;
mod call;
mod call_options;
mod change_check;
mod choices;
mod compaction;
mod context;
mod core;
mod cx;
mod ended;
mod erased_exec;
mod erased_node;
mod event;
mod examples;
mod exec_attempts;
mod extract;
mod failure;
mod fallback;
mod feedback;
mod handoff;
mod hints;
mod history;
mod internals;
mod listener;
mod llm_node;
mod map;
mod map_control;
mod map_hint;
mod map_item;
mod model_attempts;
mod name;
mod named_bounds;
mod narrowed;
mod node;
mod not_asked;
mod other_request;
mod parallel;
mod pass;
mod policies;
mod pool;
mod progress;
mod repetition;
mod response;
mod results;
mod resume;
#[expect(clippy::module_inception, reason = "the file holds `Run`")]
mod run;
mod shown;
mod stream;
mod tools;
mod turn;
mod typed_node;
mod undecided;
mod usage_checks;
mod warm_up;

pub use arc_state::exec_on_arc;
pub use batch::Batch;
pub use batches::BatchApi;
pub use bounded::{BoundedFutures, CONCURRENCY, ItemOutcome};
pub use call::{Call, CallReport};
pub(crate) use choices::walk_json;
pub use choices::{Choices, ChosenValues, PassList, PassValue, PathValue, UnboxValue, listed};
pub use compaction::{Compact, Mark, Quote, Summary, Transcript};
pub(crate) use compaction::{Sources, SumUp};
pub use context::Caller;
pub use core::RunCore;
pub use cx::Cx;
pub use ended::Ended;
pub use event::{Event, FlowContext, Observer};
pub use examples::{Example, ExampleInput, ExampleOutput, ExampleText, Input, IntoExample};
pub use fallback::{
    FallbackFuture, FallbackJson, FallbackProbe, FallbackWithoutText, fallback, fallback_with_state,
};
pub use handoff::{AgentOutcome, Handoff};
pub use internals::{CxInternals, RunInternals, send_request};
pub use llm_node::LlmNode;
pub use map::{Map, recorded_by};
pub use node::{Asks, Exec};
pub use other_request::OtherRequest;
pub use progress::{BatchProgress, OnProgress, ProgressCounter};
pub use results::Results;
pub use resume::Origin;
pub use run::Run;
pub use stream::{CallStream, Items};
pub use tools::{
    CloneArgument, CloneNothing, CloneProbe, CloneValue, MAX_IMAGE_BYTES, MAX_IMAGES, MAX_RESULT,
    Replied, ResultOf, Tool, ToolError, ToolFn, ToolReply, Tools, Toolset, ToolsetInternals,
    fallible, images_left_out, reply,
};
pub(crate) use typed_node::exec_or_hand_off;
pub use typed_node::{asks, exec};
