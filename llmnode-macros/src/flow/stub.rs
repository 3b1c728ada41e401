//! Stub impls for a flow with faults: its uses compile, so the faults are the only errors.

use proc_macro2::TokenStream;

use super::emit::definition;
use super::syntax::Flow;
use crate::crate_path;

/// As `emit`, without anything that depends on the steps. The state is a parameter:
/// which one the flow takes may be what is wrong.
pub(super) fn stub(flow: &Flow) -> TokenStream {
    let definition = definition(flow);
    let ident = &flow.ident;
    let private = crate_path::private();
    let unit = syn::parse_quote!(());
    let action = flow.action.as_ref().unwrap_or(&unit);
    // Names the types, whose imports would otherwise be unused.
    let named = flow
        .state
        .iter()
        .chain(flow.step_list.iter().map(|stop| &stop.ty));
    let impls = generated! {
        #[allow(dead_code)]
        fn named(#(_: ::core::marker::PhantomData<#named>),*) {}
        type Action = #action;
        #[automatically_derived]
        impl<S> #private::Runnable<S> for #ident {
            type Action = Action;
            fn advance<'f>(
                _: #private::FlowCursor<'f, S>,
                _: ::core::option::Option<Self>,
            ) -> impl #private::Future<Output = #private::Advanced<Action>> + #private::Send {
                ::core::future::pending()
            }
            fn outline_within(_: #private::OuterFlows<'_>) -> #private::Outline {
                ::core::unreachable!()
            }
        }
        #[automatically_derived]
        impl<S> #private::Startable<S> for #ident {}
        #[automatically_derived]
        impl<'r, S> #private::RunFlow<'r, S> for #ident {
            type Action = Action;
            fn runner(self) -> #private::Runner<'r, S, Action> {
                ::core::unreachable!()
            }
        }
    };
    let impls = crate_path::scope(&crate_path::resolve(&flow.krate), impls);
    generated!(#definition #impls)
}
