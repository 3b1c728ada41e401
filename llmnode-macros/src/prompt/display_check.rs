//! The check that a field has a `Display`, underlined in the prompt if it has none.
//!
//! Only the type tells that, so the check stands in the expansion of a node that is otherwise right. It is made for the
//! fields alone that probably have none, by their types' names: a type of the program may have the name and a `Display`.

use std::ops::Range;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote_spanned;
use syn::Type;

use super::identifier;
use super::mask::Mask;
use super::source::Source;
use crate::crate_path;

/// An item that does not compile if `ty`, the type of the field `name`, has no `Display`; none where the placeholder cannot
/// be underlined. rustc's notes about the check itself point to the prompt's `key`.
///
/// The words are the runtime's, since `#[diagnostic]` is unknown where there is no prelude; the name comes into them as
/// that of a type. What `format_args!` captures is a constant, for which no other one in scope can be taken.
pub(crate) fn check(
    prompt: &Source,
    placeholder: &Range<usize>,
    name: &str,
    ty: &Type,
    key: Span,
) -> Option<TokenStream> {
    let here = Span::mixed_site().located_at(key);
    let Mask { literal, name: captured } = Mask::of(prompt, placeholder, here)?;
    let variable: Ident = identifier(name, here)?;
    let at = prompt.position(placeholder.start);
    let [line, column] = [at.line, at.column].map(Literal::usize_unsuffixed);
    let private = crate_path::private();
    Some(quote_spanned! {here=>
        #[allow(unused, non_camel_case_types, non_upper_case_globals)]
        const _: () = {
            struct #variable;
            const #captured: #private::DisplayProbe<#ty, #variable, #line, #column> = #private::DisplayProbe::new();
            fn capture() {
                let _ = ::core::format_args!(#literal);
            }
        };
    })
}
