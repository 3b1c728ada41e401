//! What follows from an action: how `flow!` takes it, so that a wrong arrow is one error in words of its own.

use super::arm::Arm;

/// An action that leaves nothing to decide: `()`.
#[diagnostic::on_unimplemented(
    message = "a plain arrow behind a step that decides between actions, a `{Self}`",
    label = "write `=> match {{ .. }}` behind this step, with an arm for each action"
)]
pub trait Undecided {}

impl Undecided for () {}

/// Behind a plain arrow.
pub fn onward<D: Undecided, A>(_: D, arm: Arm<A>) -> Arm<A> {
    arm
}

/// The action of a step that has an arm for each.
#[derive(Debug)]
pub struct Decided<D>(pub D);

/// Where there is something to decide, this is the method that is found.
pub trait Decides {
    /// The action's type.
    type Action;
    /// The action itself.
    fn action(self) -> Self::Action;
}

impl<D> Decides for Decided<D> {
    type Action = D;

    fn action(self) -> D {
        self.0
    }
}

impl Decided<()> {
    /// Found first where there is nothing to decide. It takes the type of the arms for its own, so that they are not
    /// wrong one by one.
    pub fn action<T>(self) -> T
    where
        (): Arms<T>,
    {
        <()>::taken()
    }
}

/// Implemented by nothing.
#[diagnostic::on_unimplemented(
    message = "arms behind a step that decides nothing",
    label = "write a plain arrow behind this step, without `match`"
)]
pub trait Arms<T> {
    /// The action that the arms would take.
    fn taken() -> T;
}

/// What a parameter can be written to: a place of its type, or of one that is made of it.
#[diagnostic::on_unimplemented(
    message = "a parameter of type `{Self}` cannot be written to a `{T}`",
    label = "the state has a `{T}` there",
    note = "the type of a parameter is that of the place in the state, or one that it can be made of by `Into`"
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
