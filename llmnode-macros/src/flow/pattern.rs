//! The patterns of a step's actions.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Lit, Pat};

use super::step::text;

pub(super) fn is_open_ended(pattern: &Pat) -> bool {
    match pattern {
        Pat::Lit(literal) => !matches!(literal.lit, Lit::Bool(_)),
        Pat::Range(_) => true,
        Pat::Or(or) => or.cases.iter().any(is_open_ended),
        Pat::Paren(inner) => is_open_ended(&inner.pat),
        _ => false,
    }
}

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

/// `Name { .. }` cannot bind everything if the name is unknown.
pub(super) fn strict(pattern: &Pat) -> TokenStream {
    match pattern {
        Pat::Ident(name) if name.subpat.is_none() && is_variant(&text(&name.ident)) => {
            generated!(#name { .. })
        }
        Pat::Or(or) => {
            let cases = or.cases.iter().map(strict);
            generated!(#(#cases)|*)
        }
        other => other.to_token_stream(),
    }
}

fn is_variant(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(char::is_uppercase)
        && letters.all(|c| !c.is_lowercase()) != (name.len() > 1)
}

fn last(path: &syn::Path) -> String {
    path.segments
        .last()
        .map(|last| text(&last.ident))
        .unwrap_or_default()
}

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
