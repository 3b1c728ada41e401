//! Functions that an attribute names by their path.

/// The parameters of a function, as the type of a pointer to one, which is how messages show them.
pub trait Parameters {
    /// What is handed to them.
    type Taken;
}

/// A function, by its parameters. There are more numbers of them than any attribute wants, so that a function with a
/// wrong number is one, too, and what they should be is said in one place for each attribute.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no function of up to four parameters",
    label = "no such function",
    note = "`fallback`, `validate`, `prep`, `batch`, `route` and `post` take the path of a function"
)]
pub trait Function<Takes: Parameters> {
    /// What it returns.
    type Value;
    /// Calls it.
    fn call(self, taken: Takes::Taken) -> Self::Value;
}

macro_rules! functions {
    ($(($($name:ident: $taken:ident),*);)*) => {$(
        impl<$($taken),*> Parameters for fn($($taken),*) {
            type Taken = ($($taken,)*);
        }

        #[diagnostic::do_not_recommend]
        impl<F, R, $($taken),*> Function<fn($($taken),*)> for F
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

/// What nobody takes. As long as the parameters might be these, the compiler does not conclude from what is lent what is
/// taken, and looks at the function, so that another type is reported in the attribute's own words.
#[derive(Debug)]
pub struct Nothing;

/// A value that a function may take as a `&D`: itself, and what clippy asks for in place of a `&String` or a `&Vec<T>`.
pub trait Lend<D: ?Sized> {
    /// A reference to it.
    fn lend(&self) -> &D;
}

impl<T: ?Sized> Lend<T> for T {
    fn lend(&self) -> &T {
        self
    }
}

impl Lend<str> for String {
    fn lend(&self) -> &str {
        self
    }
}

impl<T> Lend<[T]> for Vec<T> {
    fn lend(&self) -> &[T] {
        self
    }
}
