//! The check that a field has `Display`, underlined in the prompt if it has not.
//!
//! Only the compiler knows that, so the check is in the expansion of a correct
//! node. It is emitted only for fields that probably lack `Display`, judged by the
//! names of their types: a type of the program may have such a name and a
//! `Display`.

use std::ops::Range;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote_spanned;
use syn::Type;

use super::identifier;
use super::mask::Mask;
use super::source::Source;
use crate::crate_path;

/// Does not compile if `name` has no `Display`; `None` if the placeholder cannot be
/// underlined. rustc's notes point to `key`. The message is the runtime's, since
/// `#[diagnostic]` needs a prelude; the field's name is in it as a type's.
/// `format_args!` captures a constant, which no other one in scope can replace.
pub(crate) fn check(
    prompt: &Source,
    placeholder: &Range<usize>,
    name: &str,
    ty: &Type,
    key: Span,
) -> Option<TokenStream> {
    let here = Span::mixed_site().located_at(key);
    let Mask {
        literal,
        name: captured,
    } = Mask::of(prompt, placeholder, here)?;
    let variable: Ident = identifier(name, here)?;
    let at = prompt.position(placeholder.start);
    let [line, column] = [at.line, at.column].map(Literal::usize_unsuffixed);
    let private = crate_path::private();
    Some(quote_spanned! {here=>
        #[allow(unused, non_camel_case_types, non_upper_case_globals)]
        const _: () = {
            struct #variable;
            const #captured: #private::DisplayProbe<#ty, #variable, #line, #column> =
                #private::DisplayProbe::new();
            fn capture() {
                let _ = ::core::format_args!(#literal);
            }
        };
    })
}
