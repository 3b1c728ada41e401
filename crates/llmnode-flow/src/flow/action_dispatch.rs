//! How `flow!` routes by a step's action. The traits are there for their messages:
//! a wrong arrow is one error in plain words.

use std::borrow::Cow;

use super::action::Action;
use super::table::Arm;

/// An action that leaves nothing to decide: `()`.
#[diagnostic::on_unimplemented(
    message = "this step decides between actions, a `{Self}`, so it needs an arm for each",
    label = "write `=> match {{ .. }}` after this step"
)]
pub trait UnitAction {}

impl UnitAction for () {}

/// Checks that a plain arrow follows a step without actions.
pub fn plain_arrow<D: UnitAction, A>(_: D, arm: Arm<A>) -> Arm<A> {
    arm
}

/// The action of a step that has an arm for each.
#[derive(Debug)]
pub struct MatchOn<D>(pub D);

/// Found by method resolution if the step decides something: `MatchOn<()>` has an
/// inherent method of the same name.
pub trait MatchAction {
    /// The action's type.
    type Action;
    /// Returns the action for arms of type `T`. Only the arms determine `T`, so
    /// that arms of another type are one error, not one for each.
    fn __action<T>(self) -> T
    where
        Self::Action: MatchedBy<T>;
}

impl<D> MatchAction for MatchOn<D> {
    type Action = D;

    fn __action<T>(self) -> T
    where
        D: MatchedBy<T>,
    {
        self.0.matched()
    }
}

/// An action whose arms are of type `T`.
#[diagnostic::on_unimplemented(
    message = "the arms are those of a `{T}`, and the step decides a `{Self}`",
    label = "decides a `{Self}`; let the arms name its values"
)]
pub trait MatchedBy<T> {
    /// The action that the arms take.
    fn matched(self) -> T;
}

#[diagnostic::do_not_recommend]
impl<T> MatchedBy<T> for T {
    fn matched(self) -> T {
        self
    }
}

/// With a second impl of [`MatchedBy`], the compiler cannot infer the type of the
/// arms from the action, and looks at the arms.
#[derive(Debug)]
pub struct NoInference<D>(D);

#[diagnostic::do_not_recommend]
impl<D> MatchedBy<NoInference<D>> for D {
    fn matched(self) -> NoInference<D> {
        NoInference(self)
    }
}

/// The action of a step that has an error already, so that the arrows after it are
/// not a second error.
#[derive(Clone, Copy, Debug)]
pub enum ErrorAction {}

impl UnitAction for ErrorAction {}

impl Action for ErrorAction {
    const NAMES: Option<&'static [&'static str]> = None;

    fn name(&self) -> Cow<'static, str> {
        match *self {}
    }
}

impl MatchOn<ErrorAction> {
    /// Returns the type that the arms need.
    pub fn __action<T>(self) -> T {
        match self.0 {}
    }
}

impl MatchOn<()> {
    /// Found first where there is nothing to decide. Returns the type of the arms,
    /// so that there is one error, not one for each arm.
    pub fn __action<T>(self) -> T
    where
        (): HasArms<T>,
    {
        <() as HasArms<T>>::matched()
    }
}

/// Not implemented for any type: it is there for its message.
#[diagnostic::on_unimplemented(
    message = "this step decides nothing, so it has no arms",
    label = "write a plain arrow after this step, without `match`",
    note = "a node decides something if it has `action = Type`, or, written by hand, an `Action` \
            in its `Step`"
)]
pub trait HasArms<T> {
    /// The action that the arms would take.
    fn matched() -> T;
}

/// A parameter of a flow that can be written to a field of type `T`.
#[diagnostic::on_unimplemented(
    message = "a parameter of type `{Self}` cannot be written to a `{T}`",
    label = "the state has a `{T}` there",
    note = "the type of a parameter is that of the place in the state, or converts to it by `Into`"
)]
pub trait Parameter<T> {
    /// Writes it.
    fn write(self, to: &mut T);
}

#[diagnostic::do_not_recommend]
impl<P: Into<T>, T> Parameter<T> for P {
    fn write(self, to: &mut T) {
        *to = self.into();
    }
}

/// Writes a parameter of a flow into the state.
pub fn write<P: Parameter<T>, T>(parameter: P, to: &mut T) {
    parameter.write(to);
}
