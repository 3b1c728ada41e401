//! Validators that are functions: `validate = path`.

use std::future::{Future, ready};

use super::checks::{Attempt, Check, Checks, Said};
use crate::BoxFuture;
use crate::function::{Function, Lend, Nothing, Parameters};

/// What a validator returns: `Result<(), Invalid>` or a future of it. `Kind` only tells these apart.
#[diagnostic::on_unimplemented(
    message = "a validator returns `Result<(), Invalid>`, or is an `async fn` that does, but this returns `{Self}`",
    label = "returns something else",
    note = "an error of the program becomes an `Invalid` by `?`, and ends the call"
)]
pub trait ValidatorResult<Kind> {
    /// What is kept until the result is there: nothing, or the future, which has to be `Send`.
    type Kept;

    /// As the one form that the runtime knows.
    fn said<'a>(self) -> BoxFuture<'a, Said>
    where
        Self: 'a,
        Self::Kept: Send;
}

/// The result itself.
#[derive(Debug)]
pub struct Now;
/// A future of it.
#[derive(Debug)]
pub struct Later;

#[diagnostic::do_not_recommend]
impl ValidatorResult<Now> for Said {
    type Kept = ();

    fn said<'a>(self) -> BoxFuture<'a, Said> {
        Box::pin(ready(self))
    }
}

#[diagnostic::do_not_recommend]
impl<F: Future<Output = Said>> ValidatorResult<Later> for F {
    type Kept = F;

    fn said<'a>(self) -> BoxFuture<'a, Said>
    where
        Self: 'a,
        F: Send,
    {
        Box::pin(self)
    }
}

/// What a validator may take on a node without a state.
#[diagnostic::on_unimplemented(
    message = "this node's validators are `fn(&{T})` or `fn(&{T}, &Attempt)`, but this is a `{Self}`",
    label = "takes other arguments",
    note = "for a validator that takes a state, the node has to name it: `state = ..`"
)]
pub trait ValidatorParameters<'a, T: ?Sized>: Parameters {
    /// The arguments.
    fn of(value: &'a T, attempt: &'a Attempt) -> Self::Taken;
}

/// What a validator may take on a node with a state.
#[diagnostic::on_unimplemented(
    message = "this node's validators are `fn(&{T})`, `fn(&{T}, &{S})` or `fn(&{T}, &{S}, &Attempt)`, but this is a `{Self}`",
    label = "takes other arguments"
)]
pub trait StatedValidatorParameters<'a, T: ?Sized, S: ?Sized>: Parameters {
    /// The arguments.
    fn of(value: &'a T, state: &'a S, attempt: &'a Attempt) -> Self::Taken;
}

macro_rules! parameters {
    ($([$($lent:ident)?] fn($($taken:ty),*) of |$value:ident, $attempt:ident| $given:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<'a, T: $(Lend<$lent> +)? ?Sized, $($lent: ?Sized)?> ValidatorParameters<'a, T> for fn($($taken),*) {
            fn of($value: &'a T, $attempt: &'a Attempt) -> Self::Taken {
                $given
            }
        }
    )*};
    ($([$($lent:ident)?] fn($($taken:ty),*) of |$value:ident, $state:ident, $attempt:ident| $given:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<'a, T: $(Lend<$lent> +)? ?Sized, S: ?Sized, $($lent: ?Sized)?> StatedValidatorParameters<'a, T, S>
            for fn($($taken),*)
        {
            fn of($value: &'a T, $state: &'a S, $attempt: &'a Attempt) -> Self::Taken {
                $given
            }
        }
    )*};
}

parameters! {
    [D] fn(&'a D) of |value, _attempt| (value.lend(),);
    [D] fn(&'a D, &'a Attempt) of |value, attempt| (value.lend(), attempt);
    [] fn(Nothing) of |_value, _attempt| (Nothing,);
    [] fn(Nothing, Nothing) of |_value, _attempt| (Nothing, Nothing);
}

parameters! {
    [D] fn(&'a D) of |value, _state, _attempt| (value.lend(),);
    [D] fn(&'a D, &'a S) of |value, state, _attempt| (value.lend(), state);
    [D] fn(&'a D, &'a S, &'a Attempt) of |value, state, attempt| (value.lend(), state, attempt);
    [] fn(Nothing) of |_value, _state, _attempt| (Nothing,);
    [] fn(Nothing, Nothing) of |_value, _state, _attempt| (Nothing, Nothing);
    [] fn(Nothing, Nothing, Nothing) of |_value, _state, _attempt| (Nothing, Nothing, Nothing);
}

/// What generated code makes of `validate = path` on a node without a state. That the function is called here, and not
/// there, lets the compiler say at the path how it has to look.
pub fn validate<'a, T, S, F, Takes, Kind>(
    to: &mut Checks<'a, S>,
    validator: &'static str,
    value: &'a T,
    path: F,
) where
    T: ?Sized + Sync,
    S: ?Sized,
    F: Function<Takes, Value: ValidatorResult<Kind, Kept: Send> + 'a> + Send + 'a,
    Takes: ValidatorParameters<'a, T>,
{
    let check = move |_, attempt| path.call(Takes::of(value, attempt)).said();
    to.push(validator, Check::Async(Box::new(check)));
}

/// The same, on a node with a state.
pub fn validate_with_state<'a, T, S, F, Takes, Kind>(
    to: &mut Checks<'a, S>,
    validator: &'static str,
    value: &'a T,
    path: F,
) where
    T: ?Sized + Sync,
    S: ?Sized,
    F: Function<Takes, Value: ValidatorResult<Kind, Kept: Send> + 'a> + Send + 'a,
    Takes: StatedValidatorParameters<'a, T, S>,
{
    let check = move |state, attempt| path.call(Takes::of(value, state, attempt)).said();
    to.push(validator, Check::Async(Box::new(check)));
}
