//! `flow!`: parse, check, emit. On a fault it emits the flow's type with stub
//! impls, so that uses of the flow compile.
//!
//! 1. `parse.rs` and `step.rs` read the steps into the tree of `syntax.rs`. A fault
//!    in one step does not hide those of the next.
//! 2. `check.rs` knows labels and targets: one that is twice there or nowhere, a
//!    step that no path reaches, a circle without an end (`reachability.rs`). Which
//!    actions a step has is not known here: an arm for each is a `match` that the
//!    compiler checks.
//! 3. `emit.rs` writes the flow as data, a list of steps with their labels, and a
//!    function for each step that turns an action into the next place of this list.
//!    What runs them is in `llmnode-flow`, once.

mod check;
mod emit;
mod parameter;
mod parse;
mod parse_util;
mod pattern;
mod reachability;
mod step;
mod stub;
mod syntax;

use proc_macro2::TokenStream;
use quote::quote;
use syn::Error;
use syn::parse::{ParseStream, Parser};

use crate::diagnostics::Errors;
use crate::item;
use syntax::Flow;

/// Three ways out: not even a name (errors alone), a fault of grammar (a stub, so
/// that uses of the flow compile), or the flow. Faults that `check.rs` finds do not
/// lead to a stub: the tree is complete, so the real impls are emitted without the
/// steps that are wrong, and the compiler checks the rest of them in the same run.
pub(crate) fn expand(tokens: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Some(flow) = read(tokens, &mut errors) else {
        return quote!(#errors);
    };
    if !errors.is_empty() {
        let stub = stub::stub(&flow);
        return quote!(#stub #errors);
    }
    let checked = check::check(&flow, &mut errors);
    let flow = emit::emit(&flow, &checked);
    quote!(#flow #errors)
}

/// The flow as it is written. `None`: not even its name can be read.
pub(crate) fn read(tokens: TokenStream, errors: &mut Errors) -> Option<Flow> {
    if let Err(error) = item::check_depth(&tokens) {
        errors.push(error);
        return None;
    }
    // The flow goes out by this variable and not by the parser's result: syn's
    // parsers fail if tokens are left over, and then what was read before them
    // would be lost.
    let mut flow = None;
    let parsed = Parser::parse2(
        |input: ParseStream<'_>| {
            flow = Some(parse::flow(input, errors)?);
            Ok(())
        },
        tokens,
    );
    // After a fault, unread tokens in brackets are not a second error.
    if let Err(error) = parsed
        && errors.is_empty()
    {
        let message = if flow.is_some() {
            "nothing can follow here; drop it, or correct what comes before".to_owned()
        } else {
            error.to_string()
        };
        errors.push(Error::new(error.span(), message));
    }
    flow
}
