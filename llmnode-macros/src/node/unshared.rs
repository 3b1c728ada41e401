//! Where the compiler reports that a node cannot be shared between threads: at the type that is to blame, as far as its
//! name tells. Only the place depends on it: a type of one's own called `Cell` is as good as any other.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ItemStruct;

const NAMES: [&str; 5] = ["Rc", "Cell", "RefCell", "UnsafeCell", "OnceCell"];

/// The first name of such a type in the fields of a node, or `const` or `mut` of a raw pointer.
pub(crate) fn unshared(item: &ItemStruct) -> Option<Span> {
    item.fields.iter().find_map(|field| named(field.ty.to_token_stream()))
}

fn named(tokens: TokenStream) -> Option<Span> {
    let mut after_star = false;
    tokens.into_iter().find_map(|token| {
        let pointer = std::mem::replace(&mut after_star, token.to_string() == "*");
        match token {
            TokenTree::Group(group) => named(group.stream()),
            TokenTree::Ident(ident) if NAMES.iter().any(|name| ident == name) => Some(ident.span()),
            TokenTree::Ident(ident) if pointer && (ident == "const" || ident == "mut") => Some(ident.span()),
            _ => None,
        }
    })
}
