//! Constants of generated impls.

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

pub(crate) fn number(slot: &Slot<u32>) -> Option<TokenStream> {
    value(slot).map(|number| Literal::u32_unsuffixed(*number).into_token_stream())
}

pub(crate) fn settings(calls: &TokenStream, private: &Ident) -> Option<TokenStream> {
    (!calls.is_empty()).then(|| {
        generated! {
            const SETTINGS: &'static #private::Settings = &#private::Settings::new()#calls;
        }
    })
}

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
