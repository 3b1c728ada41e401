//! `validate = path`, `validate = [path, path]`: functions that check an answer, in
//! addition to the validators of its type.

use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Error, ExprPath, Token, token};

use crate::generics::{end_spans, respanned};
use crate::literals::function_path;

/// One path, or a list of them; they run in the order in which they stand.
pub(crate) fn parse(input: ParseStream<'_>, key: &Ident) -> syn::Result<Vec<ExprPath>> {
    if !input.peek(token::Bracket) {
        return Ok(vec![function_path(input, key)?]);
    }
    let content;
    let brackets = syn::bracketed!(content in input);
    let mut paths = vec![];
    while !content.is_empty() {
        paths.push(function_path(&content, key)?);
        if !content.is_empty() {
            content.parse::<Token![,]>()?;
        }
    }
    if paths.is_empty() {
        let message = format!("`{key}` is empty; drop it or write `{key} = my_function`");
        return Err(Error::new(brackets.span.join(), message));
    }
    Ok(paths)
}

/// The compiler reports a wrong signature at the validator's path.
pub(crate) fn emit(
    validators: &[ExprPath],
    has_state: bool,
    is_text: bool,
    private: &Ident,
) -> Option<TokenStream> {
    if validators.is_empty() {
        return None;
    }
    let calls = validators.iter().map(|path| {
        let (at, end) = end_spans(path);
        let private = respanned(private, at);
        let validate = if has_state {
            "validate_with_state"
        } else {
            "validate"
        };
        let validate = Ident::new(validate, end);
        // A complaint names the validator, by its function.
        let name = path
            .path
            .segments
            .last()
            .map(|last| last.ident.unraw().to_string())
            .unwrap_or_default();
        // A validator of raw text takes a `&str`.
        let text = is_text.then(|| quote_spanned!(end=> .as_str()));
        quote_spanned!(end=> #private::#validate(__to, #name, __value #text, #path);)
    });
    Some(calls.collect())
}
