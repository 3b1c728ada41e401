//! `limits(requests = 5, tokens = 2_000, money = 0.05)`.
//!
//! Limits of one call of the node. They are a fact of the node and no setting; how
//! they join those of a run, the runtime says. Time is no limit but a `deadline`,
//! since it ends a call where a limit forbids the next request.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::ToTokens;
use syn::parse::ParseStream;
use syn::{Error, Token};

use crate::diagnostics::Errors;
use crate::literals::{integer, number, unexpected};
use crate::macro_args::{Grammar, Slot, fill, parse_arguments, value};
use crate::settings;

/// Each at least 1, or more than 0: a node that may make no request is a mistake.
#[derive(Default)]
pub(crate) struct Limits {
    pub(crate) requests: Slot<u32>,
    pub(crate) tokens: Slot<u32>,
    pub(crate) money: Slot<f64>,
}

impl Limits {
    pub(crate) fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let tokens: TokenStream = input.parse()?;
        let mut limits = Self::default();
        let mut errors = Errors::default();
        let grammar = Grammar {
            hint,
            ..Grammar::of_values("limits", &["requests", "tokens", "money"])
        };
        parse_arguments(tokens, &grammar, &mut errors, |key, input| {
            limits.limit(key, input)
        });
        errors.into_result().map(|()| limits)
    }

    /// A minus is refused before the number is read, since it is no part of a
    /// literal.
    fn limit(&mut self, key: Ident, input: ParseStream<'_>) -> syn::Result<()> {
        let at = input.span();
        if input.peek(Token![-]) {
            return Err(unexpected(input, &above_zero_message(&key)));
        }
        match key.to_string().as_str() {
            "requests" => fill(&mut self.requests, key.clone(), integer(input, &key, 1)),
            "tokens" => fill(&mut self.tokens, key.clone(), integer(input, &key, 1)),
            _ => {
                let money = number(input, &key).and_then(|money| match money > 0.0 {
                    true => Ok(money),
                    false => Err(Error::new(at, above_zero_message(&key))),
                });
                fill(&mut self.money, key, money)
            }
        }
    }

    pub(crate) fn emit(&self, private: &Ident) -> TokenStream {
        let money =
            value(&self.money).map(|money| Literal::f64_unsuffixed(*money).into_token_stream());
        let calls = settings::calls([
            ("requests", settings::number(&self.requests)),
            ("tokens", settings::number(&self.tokens)),
            ("money", money),
        ]);
        generated!(#private::Limits::new()#calls)
    }
}

fn hint(name: &str) -> Option<String> {
    matches!(name, "time" | "timeout" | "deadline").then(|| {
        format!(
            "`{name}` is not a limit of a node; write `deadline = 10s` beside `limits`, for the \
                 longest time of a call"
        )
    })
}

fn above_zero_message(key: &Ident) -> String {
    format!("`{key}` must be more than 0")
}
