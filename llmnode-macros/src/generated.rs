//! Generated code, whose names resolve in the macro's crate and not in the user's.

macro_rules! generated {
    ($($tokens:tt)*) => {
        ::quote::quote_spanned!(::proc_macro2::Span::mixed_site()=> $($tokens)*)
    };
}
