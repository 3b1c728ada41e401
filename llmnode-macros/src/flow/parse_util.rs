//! Helpers for parsing the parts of a flow.

use proc_macro2::{Span, TokenTree};
use quote::ToTokens;
use syn::parse::ParseStream;
use syn::{Attribute, Error, Token, braced};

use crate::cfg::refusal;
use crate::diagnostics::Errors;
use crate::macro_args::{comma_or_end, skip_to_comma};

/// After a fault in one item, parsing continues behind the next comma.
pub(super) fn items(
    input: ParseStream<'_>,
    what: &str,
    errors: &mut Errors,
    mut item: impl FnMut(ParseStream<'_>, &mut Errors) -> syn::Result<()>,
) -> syn::Result<()> {
    while !input.is_empty() {
        if let Err(error) = item(input, errors) {
            errors.push(error);
            skip_to_comma(input);
        }
        // A `;` in place of a comma is a habit; it is reported, and read as the
        // comma.
        if let Err(error) = comma_or_end(input, what) {
            errors.push(error);
            input.parse::<Option<Token![;]>>()?;
        }
        input.parse::<Option<Token![,]>>()?;
    }
    Ok(())
}

/// Replaces syn's error by one that shows how attributes are written.
pub(super) fn attributes(input: ParseStream<'_>) -> syn::Result<Vec<Attribute>> {
    input.call(Attribute::parse_outer).map_err(|error: Error| {
        Error::new(
            error.span(),
            "an attribute is written `#[name]`, `#[name = value]` or `#[name(…)]`",
        )
    })
}

/// Attributes of a part of a flow, none of which may be a condition.
pub(super) fn unconditional(input: ParseStream<'_>) -> syn::Result<Vec<Attribute>> {
    let attributes = attributes(input)?;
    match attributes.iter().find_map(conditional) {
        Some(error) => Err(error),
        None => Ok(attributes),
    }
}

pub(super) fn conditional(attribute: &Attribute) -> Option<Error> {
    refusal(attribute, "a flow", "flow!")
}

/// A function, since syn's macro needs a variable that is declared before it.
pub(super) fn braces<'a>(input: ParseStream<'a>) -> syn::Result<syn::parse::ParseBuffer<'a>> {
    let content;
    braced!(content in input);
    Ok(content)
}

/// The place of the first lifetime that is not `'static`, by tokens: types that are
/// written as macros or with arguments of constants are seen, too.
pub(super) fn non_static_lifetime(ty: &impl ToTokens) -> Option<Span> {
    let mut after = None;
    for token in ty.to_token_stream() {
        // The token behind a quote is the lifetime's name.
        if let Some(at) = after.take_if(|_| token.to_string() != "static") {
            return Some(at);
        }
        after = match token {
            TokenTree::Punct(quote) if quote.as_char() == '\'' => Some(quote.span()),
            TokenTree::Group(group) => match non_static_lifetime(&group.stream()) {
                Some(at) => return Some(at),
                None => None,
            },
            _ => None,
        };
    }
    None
}
