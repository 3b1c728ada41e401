//! The arguments of `#[llm_output(…)]` and of `#[validate(…)]`.

use proc_macro2::{Span, TokenStream};
use syn::spanned::Spanned;
use syn::{Error, Path, Type};

use crate::crate_path;
use crate::diagnostics::Errors;
use crate::literals::fill_type;
use crate::macro_args::{Grammar, Slot, parse_arguments};

/// `state`: of the validators of the fields.
#[derive(Default)]
pub(crate) struct DefinitionArgs {
    pub(crate) state: Slot<Type>,
    pub(crate) krate: Slot<Path>,
}

impl DefinitionArgs {
    pub(crate) fn parse(tokens: TokenStream, macro_name: &str, errors: &mut Errors) -> Self {
        let mut args = Self::default();
        let mut grammar = Grammar::of_values(macro_name, &["state", "crate"]);
        if macro_name == "llm_output" {
            grammar.hint = hint_for_output;
        }
        parse_arguments(tokens, &grammar, errors, |key, input| {
            if key == "state" {
                fill_type(&mut args.state, key, input)
            } else {
                crate_path::parse(input, key, &mut args.krate)
            }
        });
        args
    }
}

/// What stands in the attributes of others, or of a node.
fn hint_for_output(name: &str) -> Option<String> {
    let remedy = match name {
        "rename_all"
        | "deny_unknown_fields"
        | "tag"
        | "content"
        | "untagged"
        | "transparent"
        | "default"
        | "rename" => {
            format!(
                "`{name}` is an argument of serde's attribute; write `#[serde({name} …)]` below"
            )
        }
        "title" | "description" | "doc" => {
            format!(
                "`{name}` is not an argument of an output; write a doc comment above the type, \
                 which the model reads"
            )
        }
        "prompt" | "system" | "retries" | "output" | "tools" | "validate" => {
            format!("`{name}` is an argument of a node; write it in `#[llm_node(…)]`")
        }
        _ if name.starts_with(char::is_uppercase) => {
            format!(
                "`#[llm_output]` derives what an answer needs; write `#[derive({name})]` below for \
                 more"
            )
        }
        _ => return None,
    };
    Some(remedy)
}

/// `state` is a flag, at its place.
#[derive(Default)]
pub(crate) struct BlockArgs {
    pub(crate) state: Option<Span>,
    pub(crate) krate: Slot<Path>,
}

impl BlockArgs {
    /// The flag is taken off first: the grammar knows `state` as a key with a
    /// value.
    pub(crate) fn parse(tokens: TokenStream, errors: &mut Errors) -> Self {
        let mut args = Self::default();
        let (state, rest) = strip_state(tokens);
        state.map_or_else(|error| errors.push(error), |state| args.state = state);
        parse_arguments(
            rest,
            &Grammar::of_values("validate", &["crate"]),
            errors,
            |key, input| crate_path::parse(input, key, &mut args.krate),
        );
        args
    }
}

/// For `#[validate(World)]` and `#[validate(state = World)]` on a block.
fn names_a_type(at: Span) -> Error {
    let message =
        "the methods of an impl block name the state in their parameters; write `#[validate]`";
    Error::new(at, message)
}

/// The flag `state`. A type in its place is a fault.
fn strip_state(tokens: TokenStream) -> (syn::Result<Option<Span>>, TokenStream) {
    use proc_macro2::TokenTree::{Ident, Punct};
    let mut rest = tokens.clone().into_iter();
    match (rest.next(), rest.next()) {
        (Some(Ident(state)), None) if state == "state" => {
            (Ok(Some(state.span())), TokenStream::new())
        }
        (Some(Ident(state)), Some(Punct(comma))) if state == "state" && comma.as_char() == ',' => {
            (Ok(Some(state.span())), rest.collect())
        }
        (Some(Ident(state)), Some(Punct(equals)))
            if state == "state" && equals.as_char() == '=' =>
        {
            (Err(names_a_type(state.span())), TokenStream::new())
        }
        (Some(Ident(_)), _) if syn::parse2::<Path>(tokens.clone()).is_ok() => {
            (Err(names_a_type(tokens.span())), TokenStream::new())
        }
        _ => (Ok(None), tokens),
    }
}
