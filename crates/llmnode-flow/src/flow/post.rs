//! What a step does with its output: `store`, `action`, `route` and `post`, as generated code calls them.

use std::marker::PhantomData;

use llmnode_runtime::internal::{Function, Lend, Nothing, Parameters};
use llmnode_runtime::{BoxError, Category};

use super::wrong::wrong;

/// A place in the state into which `V` can be written.
#[diagnostic::on_unimplemented(
    message = "`store` writes the output, a `{V}`, into a field of type `{Self}`, which it does not become by `into()`",
    label = "a field of another type",
    note = "`post = path` names a function that writes it"
)]
pub trait Stores<V> {
    /// Writes it.
    fn store(&mut self, value: V);
}

#[diagnostic::do_not_recommend]
impl<T, V: Into<T>> Stores<V> for T {
    fn store(&mut self, value: V) {
        *self = value.into();
    }
}

/// What generated code makes of `store = path`.
pub fn store<V, T: Stores<V>>(place: &mut T, value: V) {
    place.store(value);
}

/// An action that an output decides by itself.
#[diagnostic::on_unimplemented(
    message = "the action `{Self}` does not follow from the output, a `{O}`",
    label = "follows from no output",
    note = "implement `From<&{O}>` for it, or name a function that decides with `route = path`",
    note = "where the output itself is the action, an enum, `#[derive(Action)]` on it is enough"
)]
pub trait Follows<'a, O> {
    /// The action.
    fn from_output(output: &'a O) -> Self;
}

#[diagnostic::do_not_recommend]
impl<'a, O: 'a, A: From<&'a O>> Follows<'a, O> for A {
    fn from_output(output: &'a O) -> A {
        output.into()
    }
}

/// What generated code makes of `action = Type` where no function decides.
pub fn decided<'a, A: Follows<'a, O>, O>(output: &'a O) -> A {
    A::from_output(output)
}

/// What the functions behind `route = path` and `post = path` may return where the action is an `A`: an `A`, or a
/// `Result<A, E>`. `Kind` only tells these apart.
#[diagnostic::on_unimplemented(
    message = "this node's action is `{A}`, so the function returns `{A}` or `Result<{A}, E>`, but this returns `{Self}`",
    label = "returns something else",
    note = "the action is the type that `action = ..` names, else `()`; `E` is any error that is `Send` and `Sync`, or a text"
)]
pub trait Decision<A, Kind> {
    /// As the one form that the runtime knows.
    ///
    /// # Errors
    /// The function's own.
    fn decide(self) -> Result<A, BoxError>;
}

/// The action itself.
#[derive(Debug)]
pub struct Plainly;
/// A result.
#[derive(Debug)]
pub struct OrFails;

#[diagnostic::do_not_recommend]
impl<A> Decision<A, Plainly> for A {
    fn decide(self) -> Result<A, BoxError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<A, E: Into<BoxError>> Decision<A, OrFails> for Result<A, E> {
    fn decide(self) -> Result<A, BoxError> {
        self.map_err(Into::into)
    }
}

/// What the function behind `route = path` takes: the output, and the state if it asks for it.
#[diagnostic::on_unimplemented(
    message = "this node's `route` is `fn(&{O})` or `fn(&{O}, &{S})`, but this is a `{Self}`",
    label = "takes other arguments"
)]
pub trait RouteParameters<'a, O: ?Sized, S: ?Sized>: Parameters {
    /// The arguments.
    fn of(output: &'a O, state: &'a S) -> Self::Taken;
}

#[diagnostic::do_not_recommend]
impl<'a, O: Lend<D> + ?Sized, S: ?Sized, D: ?Sized> RouteParameters<'a, O, S> for fn(&'a D) {
    fn of(output: &'a O, _: &'a S) -> Self::Taken {
        (output.lend(),)
    }
}

#[diagnostic::do_not_recommend]
impl<'a, O: Lend<D> + ?Sized, S: ?Sized, D: ?Sized> RouteParameters<'a, O, S> for fn(&'a D, &'a S) {
    fn of(output: &'a O, state: &'a S) -> Self::Taken {
        (output.lend(), state)
    }
}

#[diagnostic::do_not_recommend]
impl<'a, O: ?Sized, S: ?Sized> RouteParameters<'a, O, S> for fn(Nothing) {
    fn of(_: &'a O, _: &'a S) -> Self::Taken {
        (Nothing,)
    }
}

#[diagnostic::do_not_recommend]
impl<'a, O: ?Sized, S: ?Sized> RouteParameters<'a, O, S> for fn(Nothing, Nothing) {
    fn of(_: &'a O, _: &'a S) -> Self::Taken {
        (Nothing, Nothing)
    }
}

/// A post takes what is `Lent` to it.
#[diagnostic::on_unimplemented(
    message = "this node's `post` is a `{Lent}`, but this is a `{Self}`",
    label = "takes other arguments",
    note = "the arguments of a post are the node, the output and the state, to write to"
)]
pub trait PostParameters<Lent: Parameters>: Parameters {
    /// The same.
    fn of(lent: Lent::Taken) -> Self::Taken;
}

#[diagnostic::do_not_recommend]
impl<Lent: Parameters> PostParameters<Lent> for Lent {
    fn of(lent: Lent::Taken) -> Lent::Taken {
        lent
    }
}

#[diagnostic::do_not_recommend]
impl<'a, N, O, S> PostParameters<fn(N, O, &'a mut S)> for fn(Nothing, Nothing, Nothing) {
    fn of(_: (N, O, &'a mut S)) -> Self::Taken {
        (Nothing, Nothing, Nothing)
    }
}

/// The making of an action `A`. That the program's functions are called here, and not in generated code, lets the compiler
/// say at their paths how they have to look.
#[derive(Debug)]
pub struct Deciding<A>(PhantomData<A>);

impl<A> Deciding<A> {
    /// What generated code makes of `route = path`.
    ///
    /// # Errors
    /// `aborted`, with the function's own error beneath.
    pub fn route<'a, O, S, F, Takes, Kind>(output: &'a O, state: &'a S, path: F) -> Result<A, BoxError>
    where
        O: ?Sized,
        S: ?Sized,
        F: Function<Takes, Value: Decision<A, Kind>>,
        Takes: RouteParameters<'a, O, S>,
    {
        let decided = path.call(Takes::of(output, state)).decide();
        Ok(decided.map_err(|error| wrong(Category::Aborted, "route failed", error))?)
    }

    /// What generated code makes of `post = path`.
    ///
    /// # Errors
    /// The function's own.
    pub fn post<'a, N, O, S, F, Takes, Kind>(
        node: N,
        output: O,
        state: &'a mut S,
        path: F,
    ) -> Result<A, BoxError>
    where
        F: Function<Takes, Value: Decision<A, Kind>>,
        Takes: PostParameters<fn(N, O, &'a mut S)>,
    {
        path.call(Takes::of((node, output, state))).decide()
    }
}
