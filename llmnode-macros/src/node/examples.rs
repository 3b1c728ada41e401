//! `examples = [(input, output), …]`, or the path of a function that returns them.
//!
//! An example is a node and its answer. Both are expressions of the program,
//! checked by the compiler. The input is a node, whose fields are rendered by the
//! same prompt as the call's, so that an example cannot drift away from it; or a
//! text, where the node itself is of no interest. The list is written into a
//! closure, and made only when a prompt is rendered.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Error, Expr, ExprPath, Token, bracketed, parenthesized, token};

use crate::expression;
use crate::generics::{end_spans, respanned};
use crate::literals::unexpected;
use crate::macro_args::{comma_or_end, parse_list, skip_to_comma};

/// Pairs that are written in the attribute, or a function for examples that are
/// computed or long.
pub(crate) enum Examples {
    List(Vec<(Expr, Expr)>),
    Function(ExprPath),
}

impl Examples {
    /// A list in brackets or the path of a function; a call, which has parentheses,
    /// is told apart by reading ahead.
    pub(crate) fn parse(input: ParseStream<'_>, key: &Ident) -> syn::Result<Self> {
        if input.peek(token::Bracket) {
            return Self::list(input, key);
        }
        let ahead = input.fork();
        if ahead.parse::<ExprPath>().is_ok() && comma_or_end(&ahead, "argument").is_ok() {
            return Ok(Self::Function(input.parse()?));
        }
        let message = "`examples` takes a list of pairs, such as `examples = [(input, output)]`, \
                       or the path of a function that returns them";
        let error = unexpected(input, message);
        // Consumed, so that a called function is not taken for the next argument.
        let _: syn::Result<TokenTree> = input.parse();
        Err(error)
    }

    /// The list's faults are found together. A list of bare values is one mistake
    /// for the whole.
    fn list(input: ParseStream<'_>, key: &Ident) -> syn::Result<Self> {
        let content;
        bracketed!(content in input);
        if content.is_empty() {
            let message = "`examples` is empty; drop it or write `examples = [(input, output)]`";
            return Err(Error::new(key.span(), message));
        }
        let mut pairs = vec![];
        let mut has_other_values = false;
        parse_list(&content, |input| {
            let is_pair = input.peek(token::Paren);
            // A list of other values is one mistake, which is reported at the first.
            if !is_pair && has_other_values {
                skip_to_comma(input);
                return Ok(());
            }
            has_other_values |= !is_pair;
            pair(input).map(|pair| pairs.push(pair))
        })?;
        Ok(Self::List(pairs))
    }

    /// The compiler reports an output that cannot be serialized at the value.
    /// `__to.examples(self, state, || [..])`; the node is there for its other
    /// fields, such as the model.
    pub(crate) fn emit(&self, raw_text: bool, private: &Ident) -> TokenStream {
        let at = match self {
            Self::List(pairs) => end_spans(&pairs.first().map(|(_, output)| output)).0,
            Self::Function(path) => end_spans(path).0,
        };
        let node = Ident::new("self", at);
        let method = Ident::new("examples", at);
        let examples = match self {
            Self::List(pairs) => {
                let pairs = pairs
                    .iter()
                    .map(|(input, output)| example(input, output, raw_text, private));
                generated!([#(#pairs),*])
            }
            Self::Function(path) => quote_spanned!(at=> #path()),
        };
        generated!(__to.#method(#node, state, || #examples);)
    }
}

/// `asking` takes the input at its own span: one of a wrong type is reported there.
fn example(input: &Expr, output: &Expr, raw_text: bool, private: &Ident) -> TokenStream {
    let at = end_spans(input).0;
    let near = respanned(private, at);
    let input = quote_spanned!(at=> #near::Example::<Self>::asking(#input));
    let output = match raw_text {
        true => generated!(#private::ExampleText::into_text(#output)),
        false => output.to_token_stream(),
    };
    generated!(#private::Example::<Self> { input: #input, output: #output })
}

/// `(input, output)`. The number of parts is said, if there are others, since a
/// nested tuple is easily forgotten.
fn pair(input: ParseStream<'_>) -> syn::Result<(Expr, Expr)> {
    if !input.peek(token::Paren) {
        return Err(unexpected(
            input,
            "an example is a pair in parentheses: `(input, output)`",
        ));
    }
    let content;
    let parentheses = parenthesized!(content in input);
    // Parsed separately: unread tokens in parentheses would be a second error.
    let tokens: TokenStream = content.parse()?;
    reject_self(tokens.clone())?;
    let parts = Punctuated::<Expr, Token![,]>::parse_terminated
        .parse2(tokens)
        .map_err(|fault| {
            Error::new(
                fault.span(),
                "an example is two expressions: `(input, output)`",
            )
        })?;
    comma_or_end(input, "example")?;
    let count = parts.len();
    let mut parts = parts.into_iter();
    if let (Some(input), Some(output), None) = (parts.next(), parts.next(), parts.next()) {
        return Ok((input, output));
    }
    let message = format!("an example has two parts, `(input, output)`; this one has {count}");
    Err(Error::new(parentheses.span.join(), message))
}

/// As a value; a path may begin with `self`.
fn reject_self(tokens: TokenStream) -> syn::Result<()> {
    let message =
        "examples are the same for each call, so they cannot read `self`; write the value";
    expression::find_self(tokens).map_or(Ok(()), |at| Err(Error::new(at, message)))
}
