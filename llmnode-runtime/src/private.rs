//! What generated code calls. Not part of the public interface: it may change in any release.

pub mod keys;

pub use crate::flow::generated::{
    Arm, Arms, Around, Decided, Decides, Edge, FlowType, Flowing, Parameter, Progress, Runner, Stop, Target,
    Undecided, Unknown, Visitor, advance, onward, outline, runner, write,
};
pub use crate::flow::given::{Field, Given, Gives};
pub use crate::flow::items::BatchValue;
pub use crate::flow::post::{
    Deciding, Decision, Follows, PostParameters, RouteParameters, Stores, decided, store,
};
pub use crate::flow::prep::{PrepParameters, PrepValue, Preparing, prepared};
pub use crate::flow::{Action, BatchStep, Outline, Place, RunFlow, Starts, Step};
pub use crate::function::Function;
pub use crate::prompt::at::{prompt_at, prompt_file_at};
pub use crate::prompt::{
    Displayed, Prompt, PromptAttachment, PromptFence, PromptHistory, PromptJson, PromptList, PromptOption,
    PromptValue, Segment, Shown,
};
pub use crate::run::{
    Example, ExampleInput, ExampleOutput, ExampleText, FallbackParameters, FallbackValue, Falling, Input,
    IntoExample, exec, fallback, fallback_with_state,
};
pub use crate::settings::{Backoff, Failures, Recovery};
/// The name stands in the compiler's message about a second block.
pub use crate::validate::Validated as OneValidateBlock;
pub use crate::validate::{
    Attempt, Checks, Dive, Invalid, Reach, Reached, StatedValidatorParameters, Validate, ValidateFields,
    ValidateFieldsWithAnyState, ValidateWithAnyState, ValidatedFields, ValidatorParameters, ValidatorResult,
    validate, validate_with_state,
};
pub use crate::{Attributes, Category, Cx, Exec, Limits, LlmNode, LlmOutput, Node, NodeError, OutputSpec};
pub use schemars;
pub use serde;
pub use std::borrow::Cow;

/// What running a node gives.
pub type Executed<N> = Result<<N as Node>::Output, NodeError>;

/// What preparing a node gives.
pub type Prepared<N> = Result<N, NodeError>;

/// What a step decides in the end.
pub type Posted<A> = Result<A, NodeError>;

/// What a step of a flow gives.
pub type Advanced<'f, A> = crate::BoxFuture<'f, Result<Progress<A>, NodeError>>;

/// The traits between which method resolution chooses, in scope only where it has to.
pub mod probes {
    pub use crate::prompt::{ShowNothing as _, ShowValue as _};
    pub use crate::validate::{
        DiveFields as _, DiveNothing as _, DiveValidators as _, Marked as _, ReachFields as _,
        ReachNothing as _, ReachSchema as _, ReachValidators as _, Unmarked as _,
    };
}

/// The same, for what the expressions of `#[prep(..)]` give.
pub mod forms {
    pub use crate::flow::given::{GivesFallible as _, GivesOptional as _, GivesOther as _, GivesValue as _};
}
