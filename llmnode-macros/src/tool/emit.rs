//! Emits the arguments and the impls of a checked tool.
//!
//! Three things beside the function: a struct with its arguments (`SearchFiles` for
//! `search_files`), its traits, and the validators of its arguments. `exec` calls
//! the function: values that it takes are cloned out of the struct, as the tool may
//! be executed again, references are lent.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Path, ReturnType, Type, parse_quote};

use super::arguments::{Argument, Arguments, without_lints};
use super::model::ToolModel;
use super::parameter::Parameter;
use crate::choices;
use crate::crate_path;
use crate::description::doc_text;
use crate::generics::{bare, end_spans, last_name, respanned, type_arguments};
use crate::macro_args::{items, value};
use crate::settings::{self, number};

/// Each part is spanned by the function's own tokens.
pub(super) fn emit(model: &ToolModel<'_>) -> TokenStream {
    let private = crate_path::private();
    let (definition, arguments) = arguments(model);
    let (header, state) = state(model);
    let alone = model
        .args
        .alone
        .as_ref()
        .map(|_| settings::flag("ALONE", true));
    let approval = model
        .args
        .require_approval
        .as_ref()
        .map(|_| settings::flag("REQUIRE_APPROVAL", true));
    let choices = choices::emit(
        items(&model.args.choices),
        None,
        &model.ident,
        &state,
        &private,
    );
    let tool = arguments.tool(&header, &state, quote!(#alone #approval #choices), &private);
    let node = node(model, &private);
    let exec = exec(model, &private);
    let validation = arguments.validation(model.state());
    let impls = crate_path::scope(&model.krate, quote!(#node #exec #tool));
    quote!(#definition #validation #impls)
}

/// Has the function's name: types are another namespace.
fn arguments<'a>(model: &'a ToolModel<'_>) -> (TokenStream, Arguments<'a>) {
    let visibility = &model.function.vis;
    let ident = &model.ident;
    let docs: Vec<_> = model
        .function
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("doc"))
        .collect();
    // Parameters that come from the program are no arguments.
    let list: Vec<_> = model.parameters.iter().filter_map(argument).collect();
    let fields = list.iter().map(
        |Argument {
             name,
             ty,
             attributes,
         }| {
            let docs = attributes
                .iter()
                .filter(|attribute| attribute.path().is_ident("doc"));
            let name = without_lints(name);
            quote!(#(#docs)* pub #name: #ty)
        },
    );
    let definition = quote! {
        #(#docs)*
        #[allow(missing_docs, clippy::exhaustive_structs)]
        #visibility struct #ident { #(#fields),* }
    };
    let fields = list
        .iter()
        .map(|Argument { name, ty, .. }| quote!(#name: #ty));
    let input = parse_quote!(#(#docs)* struct #ident { #(#fields),* });
    // What the model reads is the `Ok` of a result.
    let output = match &model.function.sig.output {
        ReturnType::Type(_, ty) => part_of_result(ty, 0).map_or_else(|| end_spans(ty), end_spans),
        ReturnType::Default => end_spans(ident),
    };
    (
        definition,
        Arguments {
            input,
            list,
            output,
            krate: &model.krate,
        },
    )
}

/// `None` for the state and the context.
fn argument(parameter: &Parameter) -> Option<Argument<'_>> {
    match parameter {
        Parameter::Argument {
            name,
            ty,
            attributes,
            ..
        } => Some(Argument {
            name,
            ty,
            attributes: attributes.iter().collect(),
        }),
        _ => None,
    }
}

/// The impl of `Node`: a tool is a node whose caller is a model.
fn node(model: &ToolModel<'_>, private: &Ident) -> TokenStream {
    let ident = &model.ident;
    let name = &model.name;
    let output = match &model.function.sig.output {
        ReturnType::Default => quote!(()),
        // By the runtime's trait, since the type may be an alias with one argument.
        ReturnType::Type(_, ty) if is_result(ty) => {
            quote_spanned!(end_spans(ty).0=> <#ty as #private::ResultOf>::Value)
        }
        ReturnType::Type(_, ty) => ty.to_token_stream(),
    };
    let args = model.args;
    let calls = settings::calls([
        ("attempts", number(&args.attempts)),
        ("backoff", value(&args.wait).map(|wait| wait.emit(private))),
        (
            "deadline",
            value(&args.deadline).map(|deadline| deadline.emit()),
        ),
    ]);
    let settings = settings::settings(&calls, private);
    // The runtime then executes it at most once, whatever fails.
    let is_once = value(&args.idempotent) == Some(&false);
    let facts = settings::facts(
        generated!(#private::NodeFacts::new()),
        [
            ("description", doc_text(&model.function.attrs)),
            ("idempotent", is_once.then(|| quote!(false))),
        ],
        private,
    );
    generated! {
        #[automatically_derived]
        impl #private::Node for #ident {
            type Output = #output;
            const NAME: &'static #private::str = #name;
            #settings
            #facts
        }
    }
}

/// Without a state, a type parameter for the impls.
fn state(model: &ToolModel<'_>) -> (TokenStream, TokenStream) {
    match model.state() {
        Some(state) => (TokenStream::new(), state.to_token_stream()),
        None => (
            generated!(<AnyState: ?::core::marker::Sized + ::core::marker::Sync>),
            generated!(AnyState),
        ),
    }
}

/// Whether the function is async or not, fallible or not, the future has one form.
fn exec(model: &ToolModel<'_>, private: &Ident) -> TokenStream {
    let here = Span::mixed_site();
    let signature = &model.function.sig;
    let ident = &model.ident;
    let function = &signature.ident;
    // In the order of the function. Cloning is asked by a probe at the argument's
    // type, which reports a type that has no `Clone`.
    let arguments = model.parameters.iter().map(|one| match one {
        Parameter::Argument {
            name,
            by_reference: true,
            ..
        } => generated!(&self.#name),
        Parameter::Argument { name, ty, .. } => {
            quote_spanned!(end_spans(ty).0=> (&&&#private::CloneProbe(&self.#name)).__cloned())
        }
        Parameter::State(_) => generated!(#private::Cx::state(__cx)),
        Parameter::Context(Some(_)) => generated!(__cx),
        Parameter::Context(None) => generated!(&#private::Cx::with_state(__cx, &())),
    });
    // The compiler reports an error type that cannot be passed to the model at this span.
    let (at, end) = match &signature.output {
        ReturnType::Type(_, ty) => part_of_result(ty, 1).map_or_else(|| end_spans(ty), end_spans),
        ReturnType::Default => (here, here),
    };
    let wait = signature.asyncness.map(|_| quote_spanned!(end=> .await));
    let function_there = respanned(function, at);
    let call = quote_spanned!(end=> #function_there(#(#arguments),*)#wait);
    let value = match &signature.output {
        ReturnType::Default => generated!({ #call; ::core::result::Result::Ok(()) }),
        ReturnType::Type(_, ty) if is_result(ty) => {
            let private = respanned(private, at);
            quote_spanned!(at=> #private::fallible(#call))
        }
        ReturnType::Type(..) => generated!(::core::result::Result::Ok(#call)),
    };
    let uses_context = model.parameters.iter().any(|one| !one.is_argument());
    let cx = if uses_context {
        generated!(__cx)
    } else {
        generated!(_)
    };
    let (generics, state) = state(model);
    // The compiler reports a future that is not `Send` at this span.
    let at = end_spans(function).0;
    let future =
        quote_spanned!(at=> #private::Future<Output = #private::Yield<Self>> + #private::Send);
    generated! {
        #[automatically_derived]
        impl #generics #private::Exec<#state> for #ident {
            fn exec(&self, #cx: &#private::Cx<'_, #state>) -> impl #future {
                #[allow(unused_imports)]
                use #private::probes::*;
                async move { #value }
            }
        }
    }
}

/// The struct without fields: nobody but the model makes one.
pub(super) fn stub_of_function(model: &ToolModel<'_>) -> TokenStream {
    let visibility = &model.function.vis;
    let ident = &model.ident;
    let impls = stub(ident, &model.name, &model.krate);
    quote!(#[allow(missing_docs, dead_code)] #visibility struct #ident {} #impls)
}

/// For any state, with an output of nothing.
pub(super) fn stub(ident: &Ident, name: &str, krate: &Path) -> TokenStream {
    let private = crate_path::private();
    let any = generated!(<AnyState: ?::core::marker::Sized + ::core::marker::Sync>);
    let impls = generated! {
        impl #private::Node for #ident {
            type Output = ();
            const NAME: &'static #private::str = #name;
        }
        impl #any #private::Exec<AnyState> for #ident {
            async fn exec(&self, _: &#private::Cx<'_, AnyState>) -> #private::Yield<Self> {
                ::core::unreachable!()
            }
        }
        impl #any #private::Tool<AnyState> for #ident {
            fn arguments() -> #private::OutputSpec<Self, AnyState> {
                ::core::unreachable!()
            }
            fn reply(_: &()) -> #private::Replied {
                ::core::unreachable!()
            }
        }
    };
    crate_path::scope(krate, impls)
}

/// By name; aliases are called so, too.
fn is_result(ty: &Type) -> bool {
    last_name(ty).is_some_and(|name| name == "Result")
}

/// The value (0) or the error (1) of a result that is written with its arguments.
fn part_of_result(ty: &Type, at: usize) -> Option<&Type> {
    let Type::Path(path) = bare(ty) else {
        return None;
    };
    type_arguments(&path.path)
        .get(at)
        .copied()
        .filter(|_| is_result(ty))
}
