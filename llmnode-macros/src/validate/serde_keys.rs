//! Misspelt keys and rules of serde's attributes; those of schemars are in
//! `schemars_keys.rs`. serde reports them too, but then the type has no impls,
//! which is a second error wherever it is an output. What is misspelt is taken out.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DeriveInput, Error, Expr, Lit, LitStr, Meta, Token, parse_quote};

use super::schemars_keys;
use crate::diagnostics::{Errors, list, suggest};
use crate::generics::pretty_print;

/// All keys of serde 1. Keys that resemble none of them are left to serde.
const KEYS: [&str; 31] = [
    "alias",
    "borrow",
    "bound",
    "content",
    "crate",
    "default",
    "deny_unknown_fields",
    "deserialize_with",
    "expecting",
    "field_identifier",
    "flatten",
    "from",
    "getter",
    "into",
    "non_exhaustive",
    "other",
    "remote",
    "rename",
    "rename_all",
    "rename_all_fields",
    "serialize_with",
    "skip",
    "skip_deserializing",
    "skip_serializing",
    "skip_serializing_if",
    "tag",
    "transparent",
    "try_from",
    "untagged",
    "variant_identifier",
    "with",
];

/// What `rename_all` may be.
const RULES: [&str; 8] = [
    "lowercase",
    "UPPERCASE",
    "PascalCase",
    "camelCase",
    "snake_case",
    "SCREAMING_SNAKE_CASE",
    "kebab-case",
    "SCREAMING-KEBAB-CASE",
];

/// Of the type, its variants and all fields.
pub(crate) fn check(input: &mut DeriveInput, errors: &mut Errors) {
    check_attributes(&mut input.attrs, errors);
    match &mut input.data {
        Data::Struct(data) => data
            .fields
            .iter_mut()
            .for_each(|field| check_attributes(&mut field.attrs, errors)),
        Data::Enum(data) => {
            for variant in &mut data.variants {
                check_attributes(&mut variant.attrs, errors);
                variant
                    .fields
                    .iter_mut()
                    .for_each(|field| check_attributes(&mut field.attrs, errors));
            }
        }
        Data::Union(_) => {}
    }
}

/// An attribute that does not parse is the derive's to report.
fn check_attributes(attributes: &mut [Attribute], errors: &mut Errors) {
    for attribute in attributes {
        if attribute.path().is_ident("schemars") {
            schemars_keys::check(attribute, errors);
        }
        if !attribute.path().is_ident("serde") {
            continue;
        }
        let parse = Punctuated::<Meta, Token![,]>::parse_terminated;
        let Ok(arguments) = attribute.parse_args_with(parse) else {
            continue;
        };
        let count = arguments.len();
        let kept: Vec<_> = arguments
            .into_iter()
            .filter(|argument| {
                is_known(argument, errors)
                    && is_quoted(argument, errors)
                    && has_known_rules(argument, errors)
            })
            .collect();
        if kept.len() < count {
            attribute.meta = parse_quote!(serde(#(#kept),*));
        }
    }
}

/// A path of several names is none of serde's, and left to it.
fn is_known(argument: &Meta, errors: &mut Errors) -> bool {
    let Some(key) = argument.path().get_ident() else {
        return true;
    };
    let name = key.to_string();
    let near = suggest(&name, KEYS).filter(|near| *near != name);
    if let Some(near) = near {
        errors.push(Error::new(
            key.span(),
            format!("unknown serde attribute `{name}`; did you mean `{near}`?"),
        ));
    }
    near.is_none()
}

/// serde takes paths, types and names in quotes.
fn is_quoted(argument: &Meta, errors: &mut Errors) -> bool {
    let Meta::NameValue(written) = argument else {
        return true;
    };
    let is_text =
        matches!(&written.value, Expr::Lit(literal) if matches!(literal.lit, Lit::Str(_)));
    // What a macro hands over is in a group.
    if is_text || matches!(written.value, Expr::Group(_) | Expr::Macro(_)) {
        return true;
    }
    let key = written.path.to_token_stream();
    let value = pretty_print(&written.value);
    let message = format!("serde takes this in quotes; write `{key} = \"{value}\"`");
    errors.push(Error::new_spanned(&written.value, message));
    false
}

/// Also the rules within `rename_all(deserialize = "..")`.
fn has_known_rules(argument: &Meta, errors: &mut Errors) -> bool {
    let names_rules = ["rename_all", "rename_all_fields"]
        .iter()
        .any(|key| argument.path().is_ident(key));
    let mut written = Vec::new();
    if names_rules {
        strings(argument.to_token_stream(), &mut written);
    }
    written.retain(|rule| !RULES.contains(&&*rule.value()));
    for rule in &written {
        let name = rule.value();
        let remedy = match suggest(&name, RULES) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the rules are {}", list(RULES)),
        };
        errors.push(Error::new(
            rule.span(),
            format!("unknown rule `{name}` for names; {remedy}"),
        ));
    }
    written.is_empty()
}

/// All texts, in brackets too.
fn strings(tokens: TokenStream, found: &mut Vec<LitStr>) {
    for token in tokens {
        match token {
            proc_macro2::TokenTree::Group(group) => strings(group.stream(), found),
            token => found.extend(syn::parse2::<LitStr>(token.into())),
        }
    }
}
