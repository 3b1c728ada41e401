//! What is wrong with a node: errors and probes.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Error;

use crate::diagnostics::Errors;

/// Probes are code whose errors come from the compiler.
#[derive(Default)]
pub(super) struct Faults {
    pub(super) errors: Errors,
    probes: TokenStream,
}

impl Faults {
    pub(super) fn push(&mut self, error: Error) {
        self.errors.push(error);
    }

    pub(super) fn probe(&mut self, tokens: TokenStream) {
        self.probes.extend(tokens);
    }

    pub(super) fn is_clean(&self) -> bool {
        self.errors.is_empty() && self.probes.is_empty()
    }

    pub(super) fn into_tokens(self) -> TokenStream {
        let errors = self.errors.into_tokens();
        let probes = self.probes;
        quote!(#errors #probes)
    }
}
