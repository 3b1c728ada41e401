//! `#[llm_node]`: parse, check, emit. On a fault it emits the item with stub impls, so that its uses compile.

mod arc_state;
mod args;
mod bounds;
mod check;
mod editor;
mod emit;
mod examples;
mod faults;
mod field;
mod field_values;
mod limits;
mod model;
mod recover;
mod segments;
mod smart;
mod step;
mod stub;
mod tools;
mod validators;
mod variables;
mod with;
mod without_display;

use proc_macro2::TokenStream;
use quote::quote;
use syn::Item;

use crate::{cfg, item};

use args::NodeArgs;
#[cfg(test)]
pub(crate) use args::keys;
use faults::Faults;

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let parsed = match item::parse(item) {
        Ok(parsed) => parsed,
        Err(answer) => return answer,
    };
    if let Some(of_builds) = cfg::split("llm_node", &arguments, &parsed) {
        return of_builds;
    }
    let mut faults = Faults::default();
    let args = NodeArgs::parse(arguments, &mut faults.errors);
    let mut item = match parsed {
        Item::Struct(parsed) => parsed,
        other => {
            let wanted = "`#[llm_node]` goes on a struct with named fields";
            faults.push(item::wrong_item_kind(wanted, &other));
            let stub = stub::of_item(&other, &args);
            return quote!(#other #stub #faults);
        }
    };
    tools::refuse_attribute(&mut item, &mut faults);
    let fault = "`#[llm_node]` stands above already; keep one, with the arguments of both";
    if let Some(error) = item::take_doubled(&mut item.attrs, &["llm_node"], fault) {
        faults.push(error);
    }
    let marks = field::take_attributes(&mut item, &mut faults);
    let preps = step::take_attributes(&mut item, args.step.makes_step(&[]), &mut faults);
    let prompts = crate::ide::is_editor().then(|| editor::prompts(&args, &item));
    match check::check(&args, &item, &marks, &preps, &mut faults) {
        Some(model) => {
            let node = emit::emit(&model);
            quote!(#node #prompts)
        }
        None => {
            let step = args.step.makes_step(&preps);
            let stub = stub::stub(&item.ident, &item.generics, &args, step);
            if args.tool.is_some() {
                tools::strip_derive_attributes(&mut item);
            }
            quote!(#item #stub #faults #prompts)
        }
    }
}
