//! Stub impls for a node with faults: its uses compile, so the faults are the only errors.
//!
//! A stub has the output, the name and the traits of the node, and functions that
//! never return. None of it is executed: there is an error. Bounds are left out, so
//! that a stub fits every use, and a state of any type does.

use proc_macro2::{Ident, TokenStream};
use syn::{Generics, Item, TypeGenerics, parse_quote};

use super::args::NodeArgs;
use super::bounds::require_sync;
use super::{smart, step};
use crate::crate_path;
use crate::generics::fresh;
use crate::macro_args::value;

/// For an item that is a type, but cannot be a node.
pub(crate) fn of_item(item: &Item, args: &NodeArgs) -> TokenStream {
    let (ident, generics) = match item {
        Item::Enum(item) => (&item.ident, &item.generics),
        Item::Union(item) => (&item.ident, &item.generics),
        _ => return TokenStream::new(),
    };
    let step = args.step.makes_step(&[]);
    stub(ident, generics, args, step)
}

/// Runs with any state. `step`: also as a step of flows.
pub(crate) fn stub(ident: &Ident, generics: &Generics, args: &NodeArgs, step: bool) -> TokenStream {
    let text = parse_quote!(::std::string::String);
    let output = value(&args.output).unwrap_or(&text);
    let name = ident.to_string();
    let any_state = fresh("AnyRunState", generics);
    let mut generics = generics.clone();
    require_sync(&mut generics);
    let mut stated = generics.clone();
    stated
        .params
        .push(parse_quote!(#any_state: ?::core::marker::Sized + ::core::marker::Sync));
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    let (stated_impl, _, _) = stated.split_for_impl();
    let private = crate_path::private();
    // Further traits that the node's uses may ask for, each where its argument is
    // there.
    let step = step.then(|| step::stub(&args.step, ident, &generics, &private));
    let tool = args
        .tool
        .is_some()
        .then(|| tool_stub(ident, &ty_generics, &stated, &any_state, &private));
    let smart = args
        .goal
        .is_some()
        .then(|| smart::stub(ident, &generics, &private))
        .flatten();
    let impls = generated! {
        #[automatically_derived]
        impl #impl_generics #private::Node for #ident #ty_generics #where_clause {
            type Output = #output;
            const NAME: &'static #private::str = #name;
        }
        #[automatically_derived]
        impl #stated_impl #private::Exec<#any_state> for #ident #ty_generics #where_clause {
            fn exec(
                &self,
                _: &#private::Cx<'_, #any_state>,
            ) -> impl #private::Future<Output = #private::Yield<Self>> + #private::Send {
                ::core::future::pending()
            }
        }
        #[automatically_derived]
        impl #stated_impl #private::LlmNode<#any_state> for #ident #ty_generics #where_clause {
            fn render(&self, _: &#any_state, _: &mut #private::Prompt) {}
            fn output(&self) -> #private::OutputSpec<Self::Output, #any_state> {
                ::core::unreachable!()
            }
        }
        #tool
        #smart
        #step
    };
    crate_path::scope(&crate_path::resolve(&args.krate), impls)
}

/// `stated`: the generics of the node, with any state.
/// `Send` and `'static`, since the model's arguments become the node and are
/// executed in a task.
fn tool_stub(
    ident: &Ident,
    ty_generics: &TypeGenerics<'_>,
    stated: &Generics,
    any_state: &Ident,
    private: &Ident,
) -> TokenStream {
    let mut generics = stated.clone();
    generics
        .make_where_clause()
        .predicates
        .push(parse_quote!(Self: ::core::marker::Send + 'static));
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    generated! {
        #[automatically_derived]
        impl #impl_generics #private::Tool<#any_state> for #ident #ty_generics #where_clause {
            fn arguments() -> #private::OutputSpec<Self, #any_state> {
                ::core::unreachable!()
            }
            fn reply(_: &Self::Output) -> #private::Replied {
                ::core::unreachable!()
            }
        }
    }
}
