//! `limits(requests = 5, tokens = 2_000, money = 0.05, time = 30s)`.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::parse::ParseStream;
use syn::{Error, Token};

use super::time::Time;
use crate::diagnostics::Errors;
use crate::keyed::{Grammar, Slot, fill, parse_arguments, value};
use crate::values::{number, other_than, whole};

/// What all calls of the node in one run may take together.
#[derive(Default)]
pub(crate) struct Limits {
    pub(crate) requests: Slot<u32>,
    pub(crate) tokens: Slot<u32>,
    pub(crate) money: Slot<f64>,
    pub(crate) time: Slot<Time>,
}

impl Limits {
    /// Parses what the parentheses hold.
    pub(crate) fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let tokens: TokenStream = input.parse()?;
        let (mut limits, mut errors) = (Self::default(), Errors::default());
        let grammar = Grammar::of_values("limits", &["requests", "tokens", "money", "time"]);
        parse_arguments(tokens, &grammar, &mut errors, |key, input| limits.limit(key, input));
        errors.into_result().map(|()| limits)
    }

    fn limit(&mut self, key: Ident, input: ParseStream<'_>) -> syn::Result<()> {
        let at = input.span();
        if input.peek(Token![-]) {
            return Err(other_than(input, &above(&key)));
        }
        match key.to_string().as_str() {
            "requests" => fill(&mut self.requests, key.clone(), whole(input, &key, 1)),
            "tokens" => fill(&mut self.tokens, key.clone(), whole(input, &key, 1)),
            "money" => {
                let money = number(input, &key).and_then(|money| above_zero(money, money > 0.0, &key, at));
                fill(&mut self.money, key, money)
            }
            _ => {
                let time =
                    Time::parse_alone(input).and_then(|time| above_zero(time, !time.is_zero(), &key, at));
                fill(&mut self.time, key, time)
            }
        }
    }

    /// The `Limits`.
    pub(crate) fn emit(&self, private: &Ident) -> TokenStream {
        let whole = |slot: &Slot<u32>| value(slot).map(|whole| Literal::u32_unsuffixed(*whole));
        let requests = whole(&self.requests).map(|requests| quote!(.requests(#requests)));
        let tokens = whole(&self.tokens).map(|tokens| quote!(.tokens(#tokens)));
        let money = value(&self.money).map(|money| {
            let money = Literal::f64_unsuffixed(*money);
            quote!(.money(#money))
        });
        let time = value(&self.time).map(|time| {
            let time = time.emit();
            quote!(.time(#time))
        });
        quote_spanned!(Span::mixed_site()=> #private::Limits::new()#requests #tokens #money #time)
    }
}

fn above_zero<T>(limit: T, is_above: bool, key: &Ident, at: Span) -> syn::Result<T> {
    if is_above { Ok(limit) } else { Err(Error::new(at, above(key))) }
}

fn above(key: &Ident) -> String {
    format!("`{key}` is more than 0")
}
