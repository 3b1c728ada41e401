//! What generated code calls. Not part of the public interface: it may change in any release.

pub use std::sync::OnceLock;

use llmnode_runtime::{BoxError, NodeError};

pub use crate::flow::generated::{
    Arm, Bounds, Edge, ErrorAction, FlowCursor, FlowType, HasArms, MatchAction, MatchOn,
    OuterFlows, Parameter, Progress, Runnable, Runner, Startable, Table, Target, UnitAction,
    advance, outline, plain_arrow, runner, write,
};

pub use crate::flow::post::{decided, post, route, store};
pub use crate::flow::prep::{batch, prep, prepared};
pub use crate::flow::prep_value::{Field, IntoField, PrepForm};
pub use crate::flow::{Action, BatchStep, Outline, RunFlow, Step};

/// What preparing a node gives.
pub type Prepared<N> = Result<N, BoxError>;

/// What a step decides in the end.
pub type Posted<A> = Result<A, BoxError>;

/// What a step of a flow gives.
pub type Advanced<A> = Result<Progress<A>, NodeError>;

/// The same, for what the expressions of `#[prep(..)]` give.
pub mod forms {
    pub use std::sync::OnceLock;

    pub use crate::flow::prep_value::{
        FallibleForm as _, OptionalForm as _, OtherForm as _, ValueForm as _,
    };
}
