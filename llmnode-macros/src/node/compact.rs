//! `compact` and `compact(keep = 6, at = 0.8)`: how a long conversation is kept short.
//!
//! In: the list's contents, which may be empty. Out: the rules as a call of
//! `Compact::new()`, and the node that sums up as a closure, which is apart,
//! because its type is the program's and the rules are a constant of none.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Error, Lit, Path};

use crate::diagnostics::Errors;
use crate::literals::integer;
use crate::macro_args::{Grammar, Slot, fill, parse_arguments, value};
use crate::settings;

/// A smaller number of tokens is meant as a share, or is a mistake: no model has such a window.
const FEWEST_TOKENS: u32 = 256;

const AT: &str = "`at` is a share of the model's window, such as `at = 0.8`, or a number of \
                  tokens, such as `at = 100_000`";

#[derive(Default)]
pub(crate) struct Compact {
    keep: Slot<u32>,
    at: Slot<Mark>,
    with: Slot<Path>,
}

/// At which size a conversation is compacted. A number with a decimal point is a
/// share, any other one tokens.
#[derive(Clone, Copy)]
enum Mark {
    Share(f64),
    Tokens(u32),
}

impl Compact {
    pub(crate) fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let tokens: TokenStream = input.parse()?;
        let mut compact = Self::default();
        let mut errors = Errors::default();
        let grammar = Grammar {
            hint,
            ..Grammar::of_values("compact", &["keep", "at", "with"])
        };
        parse_arguments(tokens, &grammar, &mut errors, |key, input| {
            compact.argument(key, input)
        });
        errors.into_result().map(|()| compact)
    }

    fn argument(&mut self, key: Ident, input: ParseStream<'_>) -> syn::Result<()> {
        match key.to_string().as_str() {
            "keep" => fill(&mut self.keep, key.clone(), integer(input, &key, 1)),
            "with" => fill(&mut self.with, key, node(input)),
            _ => fill(&mut self.at, key, mark(input)),
        }
    }

    /// Only what is written becomes a call: the defaults are the runtime's.
    pub(crate) fn emit(&self, private: &Ident) -> TokenStream {
        let at = value(&self.at).map(|mark| match *mark {
            Mark::Share(share) => Literal::f64_suffixed(share).into_token_stream(),
            Mark::Tokens(tokens) => Literal::u32_suffixed(tokens).into_token_stream(),
        });
        let calls = settings::calls([("keep", settings::number(&self.keep)), ("at", at)]);
        quote!(#private::Compact::new()#calls)
    }
}

impl Compact {
    /// The compiler reports a node that does not fit at its name.
    pub(crate) fn emit_summariser(&self) -> Option<TokenStream> {
        let node = value(&self.with)?;
        // Its names are ours, its place is the user's.
        let at = Span::mixed_site().located_at(node.span());
        Some(quote_spanned!(at=> __to.summed_up_by(|part| #node { part });))
    }
}

/// A type by its path, since generated code writes `Summarise { part }`.
fn node(input: ParseStream<'_>) -> syn::Result<Path> {
    let at = input.span();
    input.parse().map_err(|_| {
        Error::new(
            at,
            "`with` takes the type of a node with a field `part: Transcript`, such as `with = \
             Summarise`",
        )
    })
}

/// Suffixes are refused: `0.8f32` is a number of Rust, and no share.
fn mark(input: ParseStream<'_>) -> syn::Result<Mark> {
    let at = input.span();
    let literal: Lit = input.parse().map_err(|_| Error::new(at, AT))?;
    read_mark(&literal).map_err(|message| Error::new_spanned(&literal, message))
}

fn read_mark(literal: &Lit) -> Result<Mark, &'static str> {
    match literal {
        Lit::Float(share) if share.suffix().is_empty() => match share.base10_parse::<f64>() {
            Ok(share) if share > 0.0 && share <= 1.0 => Ok(Mark::Share(share)),
            _ => Err("a share of the window is above 0 and at most 1.0; write `at = 0.8`"),
        },
        Lit::Int(tokens) if tokens.suffix().is_empty() => match tokens.base10_parse::<u32>() {
            Ok(tokens) if tokens >= FEWEST_TOKENS => Ok(Mark::Tokens(tokens)),
            _ => Err(AT),
        },
        _ => Err(AT),
    }
}

/// Words of other libraries for the same rules.
fn hint(name: &str) -> Option<String> {
    let remedy = match name {
        "rounds" | "turns" | "last" => "write `keep = 6` for how many of the last rounds stay",
        "max_tokens" | "tokens" | "trigger" | "threshold" | "limit" => {
            "write `at = 100_000` for the tokens at which the conversation is compacted"
        }
        "summary" | "summarize" | "summariser" | "node" | "model" => {
            "write `with = Summarise` for the node that sums up"
        }
        "window" => "write `window = 8_192` beside `compact`, for the model's window",
        _ => return None,
    };
    Some(format!(
        "`{name}` is not an argument of `compact`; {remedy}"
    ))
}
