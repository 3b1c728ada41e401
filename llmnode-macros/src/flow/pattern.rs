//! The patterns of a step's actions.
//!
//! Patterns are the user's and stay so; the compiler checks them against the
//! action's type. Two things are looked at here: whether one matches everything,
//! which a flow forbids for enums, and what the arrow is called in outlines and on
//! pages.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Ident, Lit, Pat};

use super::step::text;

/// Whether it is a pattern of a text or a number, whose values cannot all be
/// listed.
pub(super) fn is_open_ended(pattern: &Pat) -> bool {
    match pattern {
        Pat::Lit(literal) => !matches!(literal.lit, Lit::Bool(_)),
        Pat::Range(_) => true,
        Pat::Or(or) => or.cases.iter().any(is_open_ended),
        Pat::Paren(inner) => is_open_ended(&inner.pat),
        _ => false,
    }
}

/// The part that matches everything, if there is one.
pub(super) fn catch_all_pattern(pattern: &Pat) -> Option<&Pat> {
    match pattern {
        Pat::Wild(_) | Pat::Rest(_) => Some(pattern),
        Pat::Ident(ident) => match &ident.subpat {
            Some((_, inner)) => catch_all_pattern(inner),
            // An imported variant looks like a binding, but for the case of its first letter.
            None => text(&ident.ident)
                .starts_with(|c: char| !c.is_uppercase())
                .then_some(pattern),
        },
        Pat::Or(or) => or.cases.iter().find_map(catch_all_pattern),
        Pat::Paren(inner) => catch_all_pattern(&inner.pat),
        Pat::Reference(inner) => catch_all_pattern(&inner.pat),
        _ => None,
    }
}

/// The name of a pattern that is nothing else, and that of a variant.
pub(super) fn bare_variant(pattern: &Pat) -> Option<&Ident> {
    match pattern {
        Pat::Ident(name) if name.subpat.is_none() && is_variant(&text(&name.ident)) => {
            Some(&name.ident)
        }
        _ => None,
    }
}

/// `Name { .. }` cannot bind everything if the name is unknown.
/// A pattern `Search` is a variant if one of that name is in scope, and a new
/// variable otherwise, which matches everything without a word. Written as `Search
/// { .. }`, which is right for a unit variant too, it is an error if there is no
/// such variant.
pub(super) fn strict(pattern: &Pat) -> TokenStream {
    match pattern {
        Pat::Or(or) => {
            let cases = or.cases.iter().map(strict);
            generated!(#(#cases)|*)
        }
        other => match bare_variant(other) {
            Some(name) => generated!(#name { .. }),
            None => other.to_token_stream(),
        },
    }
}

/// `Search`, but neither `search` nor `SEARCH`, which may be a constant. One letter
/// is a variant.
fn is_variant(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(char::is_uppercase)
        && letters.all(|c| !c.is_lowercase()) != (name.len() > 1)
}

/// The variant of `Decision::Search`.
fn last(path: &syn::Path) -> String {
    path.segments
        .last()
        .map(|last| text(&last.ident))
        .unwrap_or_default()
}

/// As short as it can be told apart: the variant without its type and its fields.
pub(super) fn edge_label(pattern: &Pat) -> String {
    match pattern {
        Pat::Ident(ident) => text(&ident.ident),
        Pat::Path(path) => last(&path.path),
        Pat::TupleStruct(variant) => last(&variant.path),
        Pat::Struct(variant) => last(&variant.path),
        Pat::Lit(literal) => match &literal.lit {
            Lit::Str(text) => text.value(),
            other => other.to_token_stream().to_string(),
        },
        Pat::Or(or) => or
            .cases
            .iter()
            .map(edge_label)
            .collect::<Vec<_>>()
            .join(" | "),
        Pat::Paren(inner) => edge_label(&inner.pat),
        other => other.to_token_stream().to_string(),
    }
}
