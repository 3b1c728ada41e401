//! The arguments of `#[llm_output(…)]` and of `#[validate(…)]`.

use proc_macro2::{Span, TokenStream};
use syn::spanned::Spanned;
use syn::{Error, Path, Type};

use crate::crate_path;
use crate::diagnostics::Errors;
use crate::keyed::{Grammar, Slot, fill_type, parse_arguments, value};

/// On a definition: `state = T` and `crate = path`.
#[derive(Default)]
pub(crate) struct DefinitionArgs {
    pub(crate) state: Slot<Type>,
    pub(crate) krate: Slot<Path>,
}

impl DefinitionArgs {
    pub(crate) fn parse(tokens: TokenStream, macro_name: &str, errors: &mut Errors) -> Self {
        let mut args = Self::default();
        let grammar = Grammar::of_values(macro_name, &["state", "crate"]);
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

/// On an impl block: `state`, which says nothing that the methods do not, and `crate = path`.
#[derive(Default)]
pub(crate) struct BlockArgs {
    pub(crate) krate: Slot<Path>,
}

impl BlockArgs {
    pub(crate) fn parse(tokens: TokenStream, errors: &mut Errors) -> Self {
        let mut args = Self::default();
        let (said, rest) = strip_state(tokens);
        if let Some(at) = said {
            let message =
                "on an impl block the parameters of the methods name the state; write `#[validate]`";
            errors.push(Error::new(at, message));
        }
        parse_arguments(rest, &Grammar::of_values("validate", &["crate"]), errors, |key, input| {
            crate_path::parse(input, key, &mut args.krate)
        });
        args
    }
}

/// The path of llmnode, whatever else the arguments say.
pub(crate) fn krate(arguments: &TokenStream) -> Path {
    let args = DefinitionArgs::parse(arguments.clone(), "validate", &mut Errors::default());
    crate_path::resolve(value(&args.krate))
}

/// Takes a leading `state` off; tells where it, or a type without a key, names the state.
fn strip_state(tokens: TokenStream) -> (Option<Span>, TokenStream) {
    use proc_macro2::TokenTree::{Ident, Punct};
    let mut rest = tokens.clone().into_iter();
    match (rest.next(), rest.next()) {
        (Some(Ident(state)), None) if state == "state" => (None, TokenStream::new()),
        (Some(Ident(state)), Some(Punct(comma))) if state == "state" && comma.as_char() == ',' => {
            (None, rest.collect())
        }
        (Some(Ident(state)), Some(Punct(equals))) if state == "state" && equals.as_char() == '=' => {
            (Some(state.span()), TokenStream::new())
        }
        (Some(Ident(_)), _) if syn::parse2::<Path>(tokens.clone()).is_ok() => {
            (Some(tokens.span()), TokenStream::new())
        }
        _ => (None, tokens),
    }
}
