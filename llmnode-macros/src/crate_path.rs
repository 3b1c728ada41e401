//! Where generated code finds the `llmnode` crate.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::parse::ParseStream;
use syn::{Error, Path};

use crate::keyed::{Keyed, Slot, fill};

/// Its path: `::llmnode`, unless `crate = path` says otherwise.
pub(crate) fn resolve(given: Option<&Path>) -> Path {
    given.cloned().unwrap_or_else(|| syn::parse_quote!(::llmnode))
}

/// The name by which generated code calls the hidden surface.
pub(crate) fn private() -> Ident {
    Ident::new("__llmnode", Span::mixed_site())
}

/// Puts generated impls where that name is known, and nothing else.
pub(crate) fn scope(krate: &Path, impls: TokenStream) -> TokenStream {
    let private = private();
    quote_spanned! {Span::mixed_site()=>
        const _: () = {
            use #krate::__private as #private;
            #impls
        };
    }
}

/// Parses the value of `crate`. It is used from places with other names in scope, so it has to be absolute.
pub(crate) fn parse(input: ParseStream<'_>, key: Ident, slot: &mut Slot<Path>) -> syn::Result<()> {
    let path = input.call(Path::parse_mod_style)?;
    let first = path.segments.first().map(|first| first.ident.to_string()).unwrap_or_default();
    if path.leading_colon.is_some() || first == "crate" {
        return fill(slot, key, Ok(path));
    }
    let written = quote!(#path).to_string().replace(' ', "");
    let message = format!("`crate` takes an absolute path; write `::{written}` or `crate::{written}`");
    let fault = Error::new_spanned(&path, message);
    // Most likely a dependency is meant: its items are then found, and the path is the one error.
    let value = (first != "self" && first != "super").then(|| syn::parse_quote!(::#path));
    *slot = Some(Keyed { key, value });
    Err(fault)
}
