//! Emits the stacks as a constant.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{quote, quote_spanned};

use super::{Action, Stack, Step};

/// A named constant: a step may own a string, so a borrowed temporary would not be `'static`.
pub(crate) fn emit(stacks: &[Stack], private: &Ident) -> TokenStream {
    let rows = stacks.iter().map(|stack| {
        let failures = failures(&stack.key.to_string(), private);
        let steps = stack.steps.iter().flatten().map(|step| self::step(step, private));
        quote!((#failures, #private::Cow::Borrowed(&[#(#steps),*])))
    });
    quote_spanned!(Span::mixed_site()=> const { &[#(#rows),*] })
}

fn failures(key: &str, private: &Ident) -> TokenStream {
    let variant = Ident::new(&camel_case(key), Span::mixed_site());
    match key {
        "answer" | "transport" | "final" => quote!(#private::Failures::#variant),
        _ => quote!(#private::Failures::Category(#private::Category::#variant)),
    }
}

fn step(step: &Step, private: &Ident) -> TokenStream {
    let of = quote!(#private::Recovery);
    match &step.action {
        Action::Retry { times, wait: None } => {
            let times = Literal::u32_unsuffixed(*times);
            quote!(#of::retry(#times))
        }
        Action::Retry { times, wait: Some(wait) } => {
            let (times, wait) = (Literal::u32_unsuffixed(*times), wait.emit(private));
            quote!(#of::retry_with(#times, #wait))
        }
        Action::Repair { times } => {
            let times = Literal::u32_unsuffixed(*times);
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

fn camel_case(name: &str) -> String {
    let capitalize = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect::<String>()
    };
    name.split('_').map(capitalize).collect()
}
