//! What the expression of a field's `#[prep(..)]` may return: the field's value, an
//! option of it, or a result.

use std::marker::PhantomData;

use llmnode_runtime::{BoxError, Category, NodeError};

use super::step_error::step_error;

/// The form of an expression of type `V` for a field of type `T`.
///
/// Method resolution finds the form. If the expression leaves `V` open, as
/// `collect()` does, the first form fits, so that `V` becomes `T`, as it would in a
/// struct expression.
#[derive(Debug)]
pub struct PrepForm<V, T>(PhantomData<fn(V) -> T>);

/// The field's value itself.
#[derive(Debug)]
pub struct Value;
/// An option of it.
#[derive(Debug)]
pub struct Optional;
/// A result of it.
#[derive(Debug)]
pub struct Fallible;
/// None of these.
#[derive(Debug)]
pub struct Other;

macro_rules! forms {
    ($($(#[$doc:meta])* [$($of:ident),*] $form:ident by $trait:ident for $given:ty;)*) => {$(
        $(#[$doc])*
        pub trait $trait {
            /// Which form it is.
            fn __form(&self) -> $form {
                $form
            }
        }

        impl<$($of),*> $trait for $given {}
    )*};
}

forms! {
    /// Chosen first.
    [T] Value by ValueForm for &&&PrepForm<T, T>;
    /// Chosen next.
    [T] Optional by OptionalForm for &&PrepForm<Option<T>, T>;
    /// Chosen next.
    [T, E] Fallible by FallibleForm for &PrepForm<Result<T, E>, T>;
    /// Chosen last.
    [V, T] Other by OtherForm for PrepForm<V, T>;
}

/// Converts the value of an expression to that of a field of type `T`.
#[diagnostic::on_unimplemented(
    message = "the `#[prep]` of a field of the type `{T}` has to return it, an `Option` of it or a \
               `Result` of it, but this is `{Self}`",
    label = "returns something else",
    note = "what is borrowed from the state has to be cloned; the error of a `Result` is any that \
            is `Send` and `Sync`, or a text"
)]
pub trait IntoField<T, Form> {
    /// Returns the value, or the error; `None` if the expression was `None`.
    fn into_field(self) -> Result<T, Option<BoxError>>;
}

#[diagnostic::do_not_recommend]
impl<T> IntoField<T, Value> for T {
    fn into_field(self) -> Result<T, Option<BoxError>> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<T> IntoField<T, Optional> for Option<T> {
    fn into_field(self) -> Result<T, Option<BoxError>> {
        self.ok_or(None)
    }
}

#[diagnostic::do_not_recommend]
impl<T, E: Into<BoxError>> IntoField<T, Fallible> for Result<T, E> {
    fn into_field(self) -> Result<T, Option<BoxError>> {
        self.map_err(|error| Some(error.into()))
    }
}

/// A field of type `T`.
#[derive(Debug)]
pub struct Field<T>(PhantomData<T>);

impl<T> Field<T> {
    /// Returns its value: generated for `#[prep(..)]`.
    ///
    /// # Errors
    /// A `prep_error` that names the field.
    pub fn given<V: IntoField<T, Form>, Form>(
        name: &'static str,
        value: V,
        form: impl FnOnce(&PrepForm<V, T>) -> Form,
    ) -> Result<T, BoxError> {
        form(&PrepForm(PhantomData));
        let error = match value.into_field() {
            Ok(value) => return Ok(value),
            Err(Some(error)) => step_error(
                Category::PrepError,
                format!("the field `{name}` could not be prepared"),
                error,
            ),
            Err(None) => {
                let message =
                    format!("the field `{name}` could not be prepared: its `#[prep]` gave `None`");
                NodeError::new(Category::PrepError, message)
            }
        };
        Err(error.into())
    }
}
