//! How an argument is cloned for the function that takes it.
//!
//! A type that cannot be read usually cannot be cloned either. The compiler says so
//! where the argument is read, and should not say it a second time where it is
//! cloned. Generated code therefore calls `cloned` on three references to a
//! [`CloneProbe`]: method resolution takes the first impl that fits, and only the
//! second one asks for `Clone`.

use crate::output::Argument;

/// An argument in the struct of a tool.
pub struct CloneProbe<'a, T>(pub &'a T);

/// A type that can be cloned.
pub trait CloneValue<T> {
    /// The clone.
    fn __cloned(&self) -> T;
}

impl<T: Clone> CloneValue<T> for &&CloneProbe<'_, T> {
    fn __cloned(&self) -> T {
        self.0.clone()
    }
}

/// A type that can be read, and lacks `Clone`.
pub trait CloneArgument<T> {
    /// The clone, if there is one.
    fn __cloned(&self) -> T
    where
        T: Clone;
}

impl<T: Argument> CloneArgument<T> for &CloneProbe<'_, T> {
    fn __cloned(&self) -> T
    where
        T: Clone,
    {
        self.0.clone()
    }
}

/// A type that cannot be read, which is an error elsewhere.
pub trait CloneNothing<T> {
    /// Is never called.
    fn __cloned(&self) -> T;
}

impl<T> CloneNothing<T> for CloneProbe<'_, T> {
    fn __cloned(&self) -> T {
        unreachable!("the argument has no impl of `Argument`, so this does not compile")
    }
}
