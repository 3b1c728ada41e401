//! `#[llm_node]`: parse → check → emit; on a fault, the item with stub impls, so that nothing else fails.

mod args;
mod behind;
mod bounds;
mod check;
pub(crate) mod description;
mod emit;
mod examples;
pub(crate) mod expression;
mod field;
mod limits;
mod model;
mod recover;
mod segments;
mod smart;
mod step;
mod stub;
mod textless;
pub(crate) mod time;
mod tools;
mod unshared;
mod validators;
mod variables;
mod with;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Item};

use crate::diagnostics::Errors;
use crate::keyed::value;
use crate::{configured, crate_path, item};

use args::NodeArgs;
#[cfg(test)]
pub(crate) use args::keys;

/// What was found wrong: errors, and probes, which are errors that the compiler words.
#[derive(Default)]
pub(crate) struct Faults {
    errors: Errors,
    probes: TokenStream,
}

impl Faults {
    fn push(&mut self, error: Error) {
        self.errors.push(error);
    }

    fn probe(&mut self, tokens: TokenStream) {
        self.probes.extend(tokens);
    }

    fn none(&self) -> bool {
        self.errors.is_empty() && self.probes.is_empty()
    }

    fn into_tokens(self) -> TokenStream {
        let errors = self.errors.into_tokens();
        let probes = self.probes;
        quote!(#errors #probes)
    }
}

/// Expands `#[llm_node(arguments)] item`.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let parsed = match item::parse(item) {
        Ok(parsed) => parsed,
        Err(answer) => return answer,
    };
    let mut faults = Faults::default();
    let mut args = NodeArgs::parse(arguments.clone(), &mut faults.errors);
    let krate = crate_path::resolve(value(&args.krate));
    if let Some(branches) = configured::branches(&parsed, &krate, "llm_node", &arguments) {
        return branches;
    }
    let mut item = match parsed {
        Item::Struct(parsed) => parsed,
        other => {
            let wanted = "`#[llm_node]` goes on a struct with named fields";
            faults.push(item::misplaced(wanted, &other));
            let stub = stub::of_item(&other, &args);
            let faults = faults.into_tokens();
            return quote!(#other #stub #faults);
        }
    };
    args.left_out = configured::take_left_out(&mut item.attrs);
    tools::refuse_attribute(&mut item, &mut faults);
    let marks = field::take_attributes(&mut item, &mut faults);
    let preps = step::take_attributes(&mut item, args.step.makes_step(&[]), &mut faults);
    match check::check(&args, &item, &marks, &preps, &mut faults) {
        Some(model) => emit::emit(&model),
        None => {
            let step = args.step.makes_step(&preps);
            let stub = stub::stub(&krate, &item.ident, &item.generics, &args, step);
            let faults = faults.into_tokens();
            if args.tool.is_some() {
                tools::strip(&mut item);
            }
            quote!(#item #stub #faults)
        }
    }
}
