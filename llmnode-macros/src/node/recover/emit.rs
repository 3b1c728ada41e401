//! Emits the stacks as a constant.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote;

use super::{Action, Stack, Step};
use crate::names::camel_case;

/// A named constant: a step may own a string, so a borrowed temporary would not be `'static`.
pub(crate) fn emit(stacks: &[Stack], private: &Ident) -> TokenStream {
    let rows = stacks.iter().map(|stack| {
        let failures = failures(&stack.key.to_string(), private);
        let steps = stack
            .steps
            .iter()
            .flatten()
            .map(|step| self::step(step, private));
        quote!((#failures, #private::Cow::Borrowed(&[#(#steps),*])))
    });
    generated!(const { &[#(#rows),*] })
}

/// A group is a variant of `Failures`, a category is one within it. A variant is
/// the key in camel case.
fn failures(key: &str, private: &Ident) -> TokenStream {
    let variant = Ident::new(&camel_case(key), Span::mixed_site());
    match key {
        "answer" | "transport" | "final" => quote!(#private::Failures::#variant),
        _ => quote!(#private::Failures::Category(#private::Category::#variant)),
    }
}

fn number(times: &u32) -> Literal {
    Literal::u32_unsuffixed(*times)
}

/// A call of the constructor that is `const`.
fn step(step: &Step, private: &Ident) -> TokenStream {
    let of = quote!(#private::Recovery);
    match &step.action {
        Action::Retry { times, wait } => {
            let times = number(times);
            match wait.map(|wait| wait.emit(private)) {
                None => quote!(#of::retry(#times)),
                Some(wait) => quote!(#of::retry_with(#times, #wait)),
            }
        }
        Action::Repair { times } => {
            let times = number(times);
            quote!(#of::repair(#times))
        }
        Action::Model(model) => {
            let model = model.value();
            quote!(#of::model(#model))
        }
        Action::Fallback => quote!(#of::Fallback),
        Action::Bubble => quote!(#of::Bubble),
    }
}
