//! Validators that are functions: `validate = path`.

use std::future::{Future, ready};

use super::checks::{Attempt, Check, Checks, Said};
use crate::BoxFuture;
use crate::function::{Function, Nothing, Parameters};

/// What a validator returns: `Result<(), Invalid>` or a future of it. `Kind` only tells these apart.
#[diagnostic::on_unimplemented(
    message = "a validator returns `Result<(), Invalid>`, or is an `async fn` that does, but this returns `{Self}`",
    label = "returns something else",
    note = "an error of the program becomes an `Invalid` by `?`, and ends the call"
)]
pub trait ValidatorResult<Kind> {
    /// As the one form that the runtime knows.
    fn said<'a>(self) -> BoxFuture<'a, Said>
    where
        Self: Send + 'a;
}

/// The result itself.
#[derive(Debug)]
pub struct Now;
/// A future of it.
#[derive(Debug)]
pub struct Later;

#[diagnostic::do_not_recommend]
impl ValidatorResult<Now> for Said {
    fn said<'a>(self) -> BoxFuture<'a, Said> {
        Box::pin(ready(self))
    }
}

#[diagnostic::do_not_recommend]
impl<F: Future<Output = Said>> ValidatorResult<Later> for F {
    fn said<'a>(self) -> BoxFuture<'a, Said>
    where
        Self: Send + 'a,
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
    ($($of:ident<$($lent:ident),*>($value:ident $(, $state:ident: $s:ident)?; $attempt:ident): ($($taken:ty = $given:expr),*);)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<'a, $($lent: ?Sized),*> $of<'a, $($lent),*> for fn($($taken),*) {
            fn of($value: &'a T, $($state: &'a $s,)? $attempt: &'a Attempt) -> Self::Taken {
                ($($given,)*)
            }
        }
    )*};
}

parameters! {
    ValidatorParameters<T>(value; _attempt): (&'a T = value);
    ValidatorParameters<T>(value; attempt): (&'a T = value, &'a Attempt = attempt);
    ValidatorParameters<T>(_value; _attempt): (Nothing = Nothing);
    ValidatorParameters<T>(_value; _attempt): (Nothing = Nothing, Nothing = Nothing);
    StatedValidatorParameters<T, S>(value, _state: S; _attempt): (&'a T = value);
    StatedValidatorParameters<T, S>(value, state: S; _attempt): (&'a T = value, &'a S = state);
    StatedValidatorParameters<T, S>(value, state: S; attempt):
        (&'a T = value, &'a S = state, &'a Attempt = attempt);
    StatedValidatorParameters<T, S>(_value, _state: S; _attempt): (Nothing = Nothing);
    StatedValidatorParameters<T, S>(_value, _state: S; _attempt): (Nothing = Nothing, Nothing = Nothing);
    StatedValidatorParameters<T, S>(_value, _state: S; _attempt):
        (Nothing = Nothing, Nothing = Nothing, Nothing = Nothing);
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
    F: Function<Takes, Value: ValidatorResult<Kind> + Send + 'a> + Send + 'a,
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
    F: Function<Takes, Value: ValidatorResult<Kind> + Send + 'a> + Send + 'a,
    Takes: StatedValidatorParameters<'a, T, S>,
{
    let check = move |state, attempt| path.call(Takes::of(value, state, attempt)).said();
    to.push(validator, Check::Async(Box::new(check)));
}
