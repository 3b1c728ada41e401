//! Generated code, whose names resolve in the macro's crate and not in the user's.

/// `mixed_site` hygiene: local variables, labels and `$crate` of generated code are
/// the macro's own, so neither can shadow a name of the user. Types and functions
/// would still resolve where the macro is called; that is why generated code writes
/// them with their whole path, `::core::option::Option` included: a program may
/// have a type `Option` of its own.
macro_rules! generated {
    ($($tokens:tt)*) => {
        ::quote::quote_spanned!(::proc_macro2::Span::mixed_site()=> $($tokens)*)
    };
}
