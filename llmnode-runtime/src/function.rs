//! Functions that an attribute names by their path.

/// A function, by the tuple of its arguments. There are more arities than any attribute wants, so that a function with a
/// wrong number of arguments is one, too, and what they should be is said in one place for each attribute.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no function of up to four arguments",
    label = "no such function",
    note = "`fallback` and `validate` take the path of a function"
)]
pub trait Function<Taken> {
    /// What it returns.
    type Value;
    /// Calls it.
    fn call(self, taken: Taken) -> Self::Value;
}

macro_rules! functions {
    ($(($($name:ident: $taken:ident),*);)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<F, R, $($taken),*> Function<($($taken,)*)> for F
        where
            F: FnOnce($($taken),*) -> R,
        {
            type Value = R;

            fn call(self, ($($name,)*): ($($taken,)*)) -> R {
                self($($name),*)
            }
        }
    )*};
}

functions! {
    ();
    (a: A);
    (a: A, b: B);
    (a: A, b: B, c: C);
    (a: A, b: B, c: C, d: D);
}

/// What nobody takes. As long as the arguments might be these, the compiler does not conclude from what is lent what is
/// taken, and looks at the function, so that another type is reported in the attribute's own words.
#[derive(Debug)]
pub struct Nothing;
