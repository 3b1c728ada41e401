//! What generated code calls. Not part of the public interface: it may change in any release.

pub use crate::__impl_arc_state as impl_arc_state;
pub use crate::__impl_validate_all as impl_validate_all;
pub use crate::output::parts::{
    All, DerivedBound, Described, KeyProbe, OutputPart, PartProbe, Parts, READS_SHARED, StdProbe,
    Written, is_foreign, is_object, is_part, unread, unwritten,
};
pub use crate::output::{Argument, OutputSpec, TypeReader};
pub use crate::prompt::generated::{
    Column, DisplayProbe, Line, Prompt, PromptAt, PromptFence, PromptHistory, PromptJson,
    PromptOption, PromptText, PromptValue, Segment, SegmentProbe, prompt_at, prompt_file_at,
};
pub use crate::prompt::{PromptAttachment, PromptList};
pub use crate::run::{
    Asks, Choices, ChosenValues, CloneProbe, Compact, Example, ExampleInput, ExampleOutput,
    ExampleText, FallbackFuture, FallbackProbe, Input, IntoExample, LlmNode, PathValue, Replied,
    ResultOf, Tool, Tools, asks, exec, exec_on_arc, fallback, fallback_with_state, fallible,
    listed, reply,
};
pub use crate::settings::{Backoff, Failures, Recovery};
pub use std::borrow::Cow;

/// Short names keep an expansion small: the compiler parses every one of them.
pub use std::{future::Future, marker::Send, primitive::bool, primitive::str};

pub use llmnode_model::{Cache, Category, ChatModel, Reasoning};
pub use {schemars, serde};

// The name of `ValidateBlock` appears in the compiler's message about a second block.
pub use crate::validate::{
    AttemptInfo, Checks, Coverage, CoverageProbe, Dive, Invalid, Traverse, ValidateAll,
    ValidateBlock as AllValidatorsInOneBlock, ValidateFields, ValidateFieldsWithAnyState,
    ValidateWithAnyState, ValidatedFields, ValidatorBlock, validate, validate_with_state,
};
pub use crate::{Cx, Exec, Limits, LlmOutput, Node, NodeError, NodeFacts, Settings};

/// The facts of a node that asks a model, before those that its attribute states.
pub const ASKS_MODEL: NodeFacts = NodeFacts::new().retries_itself(true);

/// Names the state of a node where the compiler would ask once more for a lifetime that the program did not write.
pub trait TakesState {
    /// What the function takes.
    type State;
}

impl<S> TakesState for fn(S) {
    type State = S;
}

/// What running a node yields: its output, or any error. The short name keeps a line of every expansion whole.
pub type Yield<N> = Result<<N as Node>::Output, crate::BoxError>;

/// The traits between which method resolution chooses, in scope only where it has to.
pub mod probes {
    pub use crate::output::parts::{NoKey as _, NoPart as _, NotOfStd as _};
    pub use crate::prompt::generated::{ShowNothing as _, ShowValue as _};
    pub use crate::run::{
        CloneArgument as _, CloneNothing as _, CloneValue as _, FallbackJson as _,
        FallbackWithoutText as _, PassList as _, PassValue as _, UnboxValue as _,
    };
    pub use crate::validate::{
        CoverFields as _, CoverNothing as _, CoverSchema as _, CoverValidators as _, Marked as _,
        TraverseFields as _, TraverseNothing as _, TraverseValidators as _, Unmarked as _,
        WithoutBlock as _,
    };
}

/// The bound is for any lifetime, so that the compiler does not report a state that is not `Sync` here once more.
#[doc(hidden)]
#[macro_export]
macro_rules! __impl_arc_state {
    ($node:ty, $state:ty, [$($params:tt)*] [$($bounds:tt)*]) => {
        #[automatically_derived]
        impl<$($params)*> $crate::private::Exec<::std::sync::Arc<$state>> for $node
        where
            $($bounds)*
            for<'__any> <fn(::std::sync::Arc<$state>) as $crate::private::TakesState>::State: ::core::marker::Sync,
        {
            #[inline]
            fn exec(
                &self,
                __cx: &$crate::private::Cx<'_, ::std::sync::Arc<$state>>,
            ) -> impl ::core::future::Future<Output = $crate::private::Yield<Self>> + ::core::marker::Send {
                $crate::private::exec_on_arc(self, __cx)
            }
        }
    };
}

/// A definition as the argument of a generic one. `$like`: the type with its parameters filled in, since a constant in a type
/// may not name parameters; without any, the type has a block.
#[doc(hidden)]
#[macro_export]
macro_rules! __impl_validate_all {
    ($ty:ty, [$($params:tt)*] [$($bounds:tt)*]) => {
        $crate::__impl_validate_all!(@ $ty, [$($params)*] [$($bounds)*] true);
    };
    ($ty:ty, [$($params:tt)*] [$($bounds:tt)*] $($like:ty),+) => {
        $crate::__impl_validate_all!(@ $ty, [$($params)*] [$($bounds)*] {
            use $crate::private::probes::*;
            $(<$crate::private::CoverageProbe<$like>>::IN_BLOCK)||+
        });
    };
    (@ $ty:ty, [$($params:tt)*] [$($bounds:tt)*] $in_block:expr) => {
        type __ValidatorBlock = $crate::private::ValidatorBlock<{ $in_block }>;
        #[automatically_derived]
        impl<$($params)* __S: ?::core::marker::Sized> $crate::private::ValidateAll<__S> for $ty
        where
            $($bounds)*
            __ValidatorBlock: $crate::private::Dive<Self, __S>,
        {
            fn all<'__a>(&'__a self, __to: &mut $crate::private::Checks<'__a, __S>) {
                <__ValidatorBlock as $crate::private::Dive<Self, __S>>::dive(self, __to)
            }
        }
    };
}
