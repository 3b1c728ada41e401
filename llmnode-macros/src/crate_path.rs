//! Where generated code finds the `llmnode` crate.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::parse::ParseStream;
use syn::{Error, Path};

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
pub(crate) fn parse(input: ParseStream<'_>) -> syn::Result<Path> {
    let path = input.call(Path::parse_mod_style)?;
    let anchored = path.segments.first().is_some_and(|first| first.ident == "crate");
    if path.leading_colon.is_some() || anchored {
        return Ok(path);
    }
    let written = quote!(#path).to_string().replace(' ', "");
    let message = format!("`crate` takes an absolute path; write `::{written}` or `crate::{written}`");
    Err(Error::new_spanned(&path, message))
}
