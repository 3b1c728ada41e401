//! `#[llm_node]`: parse, check, emit. On a fault it emits the item with stub impls,
//! so that its uses compile.
//!
//! In this order, of which each step may add faults and none stops the next:
//!
//! 1. The item is parsed. If `cfg` decides about arguments or fields, there is one
//!    expansion for each build, and the rest is done in it.
//! 2. The arguments are parsed (`args.rs`). What is known of them by then is enough for stubs.
//! 3. Helper attributes are taken off the fields (`field.rs`, `step.rs`), since the
//!    compiler does not know them.
//! 4. `check.rs`: combinations of arguments that make no sense, then the variables
//!    of the prompts against fields and state (`variables.rs`). It makes a
//!    `NodeModel` (`model.rs`) only if there is no fault so far.
//! 5. `emit.rs` writes the impls of that model, or `stub.rs` those of a node with faults.

mod arc_state;
mod args;
mod bounds;
mod check;
mod compact;
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
            let expected = "`#[llm_node]` goes on a struct with named fields";
            faults.push(item::wrong_item_kind(expected, &other));
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
