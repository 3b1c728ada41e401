//! Validators that are functions: `validate = path`.

use std::future::{Future, ready};

use super::checks::{Attempt, Check, Checks, Said};
use crate::BoxFuture;
use crate::function::{Function, Nothing};

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

/// What a validator may take on a node without a state. `Kind` only tells the forms apart.
#[diagnostic::on_unimplemented(
    message = "this node's validators are `fn(&{T})` or `fn(&{T}, &Attempt)`, but this is a `fn{Self}`",
    label = "takes other arguments",
    note = "a validator that takes a state needs `state = ..` on the node"
)]
pub trait Arguments<'a, T: ?Sized, Kind> {
    /// The arguments.
    fn of(value: &'a T, attempt: &'a Attempt) -> Self;
}

/// What a validator may take on a node with a state. `Kind` only tells the forms apart.
#[diagnostic::on_unimplemented(
    message = "this node's validators are `fn(&{T}, &{S}, &Attempt)`, or without one or both of the last, but this is a \
               `fn{Self}`",
    label = "takes other arguments"
)]
pub trait ArgumentsWithState<'a, T: ?Sized, S: ?Sized, Kind> {
    /// The arguments.
    fn of(value: &'a T, state: &'a S, attempt: &'a Attempt) -> Self;
}

/// The answer alone.
#[derive(Debug)]
pub struct Alone;
/// The answer and the state.
#[derive(Debug)]
pub struct Stated;
/// The answer and the attempt.
#[derive(Debug)]
pub struct Counted;
/// The answer, the state and the attempt.
#[derive(Debug)]
pub struct StatedCounted;
/// The answer, the attempt and the state.
#[derive(Debug)]
pub struct CountedStated;

macro_rules! arguments {
    ($($kind:ident: ($($taken:ty = $lent:expr),*) of |$value:ident, $attempt:ident|;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<'a, T: ?Sized> Arguments<'a, T, $kind> for ($($taken,)*) {
            fn of($value: &'a T, $attempt: &'a Attempt) -> Self {
                ($($lent,)*)
            }
        }
    )*};
    ($($kind:ident: ($($taken:ty = $lent:expr),*) of |$value:ident, $state:ident, $attempt:ident|;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<'a, T: ?Sized, S: ?Sized> ArgumentsWithState<'a, T, S, $kind> for ($($taken,)*) {
            fn of($value: &'a T, $state: &'a S, $attempt: &'a Attempt) -> Self {
                ($($lent,)*)
            }
        }
    )*};
}

arguments! {
    Alone: (&'a T = value) of |value, _attempt|;
    Counted: (&'a T = value, &'a Attempt = attempt) of |value, attempt|;
    Nothing: (Nothing = Nothing) of |_value, _attempt|;
    Nothing: (Nothing = Nothing, Nothing = Nothing) of |_value, _attempt|;
}

arguments! {
    Alone: (&'a T = value) of |value, _state, _attempt|;
    Stated: (&'a T = value, &'a S = state) of |value, state, _attempt|;
    Counted: (&'a T = value, &'a Attempt = attempt) of |value, _state, attempt|;
    StatedCounted: (&'a T = value, &'a S = state, &'a Attempt = attempt) of |value, state, attempt|;
    CountedStated: (&'a T = value, &'a Attempt = attempt, &'a S = state) of |value, state, attempt|;
    Nothing: (Nothing = Nothing) of |_value, _state, _attempt|;
}

/// What generated code makes of `validate = path` on a node without a state. That the function is called here, and not
/// there, lets the compiler say at the path how it has to look.
pub fn validate<'a, T, S, F, Taken, Takes, Kind>(
    to: &mut Checks<'a, S>,
    validator: &'static str,
    value: &'a T,
    path: F,
) where
    T: ?Sized + Sync,
    S: ?Sized,
    F: Function<Taken, Value: ValidatorResult<Kind> + Send + 'a> + Send + 'a,
    Taken: Arguments<'a, T, Takes>,
{
    let check = move |_, attempt| path.call(Taken::of(value, attempt)).said();
    to.push(validator, Check::Async(Box::new(check)));
}

/// The same, on a node with a state.
pub fn validate_with_state<'a, T, S, F, Taken, Takes, Kind>(
    to: &mut Checks<'a, S>,
    validator: &'static str,
    value: &'a T,
    path: F,
) where
    T: ?Sized + Sync,
    S: ?Sized,
    F: Function<Taken, Value: ValidatorResult<Kind> + Send + 'a> + Send + 'a,
    Taken: ArgumentsWithState<'a, T, S, Takes>,
{
    let check = move |state, attempt| path.call(Taken::of(value, state, attempt)).said();
    to.push(validator, Check::Async(Box::new(check)));
}
