//! What follows from an action: how `flow!` takes it, so that a wrong arrow is one error in words of its own.

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

/// Behind a plain arrow.
pub fn plain_arrow<D: UnitAction, A>(_: D, arm: Arm<A>) -> Arm<A> {
    arm
}

/// The action of a step that has an arm for each.
#[derive(Debug)]
pub struct MatchOn<D>(pub D);

/// Where there is something to decide, this is the method that is found.
pub trait MatchAction {
    /// The action's type.
    type Action;
    /// The action itself, for arms of type `T`. They decide `T` among themselves, so that arms of another type are wrong
    /// together, and not one by one.
    fn action<T>(self) -> T
    where
        Self::Action: MatchedBy<T>;
}

impl<D> MatchAction for MatchOn<D> {
    type Action = D;

    fn action<T>(self) -> T
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

/// As long as the arms might be of this type, the compiler does not conclude from the action what they are of, and looks at
/// them.
#[derive(Debug)]
pub struct NoInference<D>(D);

#[diagnostic::do_not_recommend]
impl<D> MatchedBy<NoInference<D>> for D {
    fn matched(self) -> NoInference<D> {
        NoInference(self)
    }
}

/// What a step with a fault decides: nothing is known of it, so that no arrow behind it is a second error.
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
    /// Of the type that the arms want.
    pub fn action<T>(self) -> T {
        match self.0 {}
    }
}

impl MatchOn<()> {
    /// Found first where there is nothing to decide. It takes the type of the arms for its own, so that they are not
    /// wrong one by one.
    pub fn action<T>(self) -> T
    where
        (): HasArms<T>,
    {
        <() as HasArms<T>>::matched()
    }
}

/// Implemented by nothing.
#[diagnostic::on_unimplemented(
    message = "this step decides nothing, so it has no arms",
    label = "write a plain arrow after this step, without `match`",
    note = "a node decides something if it has `action = Type`, or, written by hand, an `Action` in its `Step`"
)]
pub trait HasArms<T> {
    /// The action that the arms would take.
    fn matched() -> T;
}

/// What a parameter can be written to: a place of its type, or of one that is made of it.
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
