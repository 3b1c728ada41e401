//! `examples = [(input, output), …]`, or the path of a function that gives them.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Error, Expr, ExprPath, Token, bracketed, parenthesized, token};

use crate::diagnostics::Errors;
use crate::keyed::end;
use crate::values::other_than;

/// What the examples are made of.
pub(crate) enum Examples {
    /// Inputs and outputs, each an expression.
    List(Vec<(Expr, Expr)>),
    /// A function without parameters.
    Function(ExprPath),
}

impl Examples {
    pub(crate) fn parse(input: ParseStream<'_>, key: &Ident) -> syn::Result<Self> {
        if input.peek(token::Bracket) {
            return Self::list(input, key);
        }
        let ahead = input.fork();
        if ahead.parse::<ExprPath>().is_ok() && end(&ahead, "argument").is_ok() {
            return Ok(Self::Function(input.parse()?));
        }
        let message = "`examples` takes a list of pairs, such as `examples = [(input, output)]`, or the path of a function \
                       that returns them";
        Err(other_than(input, message))
    }

    fn list(input: ParseStream<'_>, key: &Ident) -> syn::Result<Self> {
        let content;
        bracketed!(content in input);
        if content.is_empty() {
            let message = "`examples` is empty; drop it or write `examples = [(input, output)]`";
            return Err(Error::new(key.span(), message));
        }
        let (mut pairs, mut errors) = (vec![], Errors::default());
        while !content.is_empty() {
            match pair(&content) {
                Ok(pair) => pairs.push(pair),
                Err(error) => {
                    errors.push(error);
                    skip(&content);
                }
            }
            let _: Option<Token![,]> = content.parse()?;
        }
        errors.into_result().map(|()| Self::List(pairs))
    }

    /// The line of `render` that writes them. Its tokens stand at the value, so that an output that cannot be shown is
    /// reported there.
    pub(crate) fn emit(&self, raw_text: bool, private: &Ident) -> TokenStream {
        let here = Span::mixed_site();
        let first = match self {
            Self::List(pairs) => pairs.first().map(|(_, output)| output.to_token_stream()),
            Self::Function(path) => Some(path.to_token_stream()),
        };
        let token = first.and_then(|tokens| tokens.into_iter().next());
        let at = token.map_or(here, |token| here.located_at(token.span()));
        let method = Ident::new("examples", at);
        let examples = match self {
            Self::List(pairs) => {
                let pairs = pairs.iter().map(|(input, output)| {
                    let output = match raw_text {
                        true => quote_spanned!(here=> #private::ExampleText::into_text(#output)),
                        false => output.to_token_stream(),
                    };
                    quote_spanned! {here=>
                        #private::Example::<Self> { input: #private::Example::<Self>::asking(#input), output: #output }
                    }
                });
                quote_spanned!(here=> [#(#pairs),*])
            }
            Self::Function(path) => quote_spanned!(at=> #path()),
        };
        quote_spanned!(here=> to.#method(self, state, || #examples);)
    }
}

/// One example.
fn pair(input: ParseStream<'_>) -> syn::Result<(Expr, Expr)> {
    let wanted = "an example is a pair in parentheses: `(input, output)`";
    if !input.peek(token::Paren) {
        return Err(other_than(input, wanted));
    }
    let content;
    let parentheses = parenthesized!(content in input);
    let parts = Punctuated::<Expr, Token![,]>::parse_terminated(&content).map_err(|fault| {
        Error::new(fault.span(), "no expression; an example is a pair of two: `(input, output)`")
    })?;
    let count = parts.len();
    let mut parts = parts.into_iter();
    if let (Some(input_of_pair), Some(output), None) = (parts.next(), parts.next(), parts.next()) {
        end(input, "example")?;
        return Ok((input_of_pair, output));
    }
    Err(Error::new(
        parentheses.span.join(),
        format!("an example is a pair, `(input, output)`, and this has {count} parts"),
    ))
}

/// Goes to the next comma.
fn skip(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) {
        if input.parse::<proc_macro2::TokenTree>().is_err() {
            return;
        }
    }
}
