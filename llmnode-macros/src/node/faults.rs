//! What is wrong with a node: errors and probes.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::Error;

use crate::diagnostics::Errors;

/// Probes are code whose errors come from the compiler.
/// Errors are words of ours, emitted as `compile_error!`. Both end the compilation,
/// so a node with either gets stubs.
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

    /// Whether the node can be emitted as it is.
    pub(super) fn is_clean(&self) -> bool {
        self.errors.is_empty() && self.probes.is_empty()
    }
}

impl ToTokens for Faults {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.errors.to_tokens(tokens);
        self.probes.to_tokens(tokens);
    }
}
