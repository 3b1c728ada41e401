//! Constants of generated impls.
//!
//! Settings and facts are `const` values, built by chains of `const` setters. Only
//! what the attribute states has a call: the defaults are the runtime's alone, so
//! that they can change without an expansion that changes.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote};

use crate::macro_args::{Slot, value};

/// `.name(value)`, for each value that is there.
pub(crate) fn calls<const N: usize>(values: [(&str, Option<TokenStream>); N]) -> TokenStream {
    let calls = values.into_iter().filter_map(|(name, value)| {
        let name = Ident::new(name, Span::mixed_site());
        let value = value?;
        Some(quote!(.#name(#value)))
    });
    calls.collect()
}

/// The value of an argument, as the literal of a call.
pub(crate) fn number(slot: &Slot<u32>) -> Option<TokenStream> {
    value(slot).map(|number| Literal::u32_unsuffixed(*number).into_token_stream())
}

/// No constant at all without a setting: the trait's default is the empty one.
pub(crate) fn settings(calls: &TokenStream, private: &Ident) -> Option<TokenStream> {
    (!calls.is_empty()).then(|| {
        generated! {
            const SETTINGS: &'static #private::Settings = &#private::Settings::new()#calls;
        }
    })
}

/// A constant that is `true` of few types.
pub(crate) fn flag(name: &str, value: bool) -> TokenStream {
    let name = Ident::new(name, Span::mixed_site());
    generated!(const #name: ::core::primitive::bool = #value;)
}

/// The facts that a node's type states: what `first` says, and each that differs from it.
pub(crate) fn facts<const N: usize>(
    first: TokenStream,
    stated: [(&str, Option<TokenStream>); N],
    private: &Ident,
) -> TokenStream {
    let stated = calls(stated);
    let facts = quote!(#first #stated);
    generated!(const FACTS: #private::NodeFacts = #facts;)
}
