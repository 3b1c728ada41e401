//! Emits the impls of a checked flow: its facts, and what follows each action.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{PathArguments, Type, Visibility};

use super::check::CheckedFlow;
use super::pattern::{edge_label, strict};
use super::step::text;
use super::syntax::{Exit, Flow, FlowStep, Parameter, StateField, Target};
use crate::crate_path;
use crate::expression::resolve_names;
use crate::generics::{bare, end_spans, last_name, respanned};
use crate::macro_args::value;
use crate::names::snake_case;

pub(super) fn emit(flow: &Flow, checked: &CheckedFlow) -> TokenStream {
    let definition = definition(flow);
    let private = crate_path::private();
    let unit = syn::parse_quote!(());
    let state = &flow.state;
    let action = flow.action.as_ref().unwrap_or(&unit);
    let flow_type_impl = flow_type_impl(flow, checked, &private);
    let run_impls = run_impls(flow, &private);
    let decides = flow
        .step_list
        .iter()
        .any(|stop| matches!(stop.exit, Exit::Match(_)));
    let decides = decides.then(|| generated!(use #private::MatchAction as _;));
    let impls = generated! {
        #decides
        type __State = #state;
        type __Action = #action;
        #flow_type_impl
        #run_impls
    };
    let impls = crate_path::scope(&crate_path::resolve(&flow.krate), impls);
    quote!(#definition #impls)
}

pub(super) fn definition(flow: &Flow) -> TokenStream {
    let Flow {
        attrs,
        vis,
        ident,
        parameters,
        ..
    } = flow;
    // Lints underline the item's name.
    let keyword = quote_spanned!(ident.span()=> struct);
    let Some(parameters) = parameters else {
        let semicolon = quote_spanned!(ident.span()=> ;);
        return quote!(#(#attrs)* #vis #keyword #ident #semicolon);
    };
    let fields = parameters.iter().map(
        |Parameter {
             attrs,
             vis: own,
             ident,
             ty,
             ..
         }| {
            let vis = if matches!(own, Visibility::Inherited) {
                vis
            } else {
                own
            };
            quote!(#(#attrs)* #vis #ident: #ty)
        },
    );
    quote!(#(#attrs)* #vis #keyword #ident { #(#fields,)* })
}

fn flow_type_impl(flow: &Flow, checked: &CheckedFlow, private: &Ident) -> TokenStream {
    let ident = &flow.ident;
    let name = value(&flow.name).map_or_else(|| snake_case(&text(ident)), syn::LitStr::value);
    let limit = match value(&flow.steps) {
        Some(steps) => {
            let steps = Literal::u32_unsuffixed(*steps);
            generated!(::core::option::Option::Some(#steps))
        }
        None => generated!(::core::option::Option::None),
    };
    let enter = enter(flow, private);
    let steps = flow
        .step_list
        .iter()
        .zip(&checked.labels)
        .zip(&checked.faulty)
        .filter(|(_, faulty)| !**faulty);
    let steps = steps.map(|((stop, label), _)| step(stop, label, checked, private));
    generated! {
        #[automatically_derived]
        impl #private::FlowType<__State> for #ident {
            type Action = __Action;
            fn table() -> &'static #private::Table<__State, __Action> {
                static TABLE: #private::OnceLock<#private::Table<__State, __Action>> = #private::OnceLock::new();
                ::std::sync::OnceLock::get_or_init(&TABLE, || #private::Table::<__State, __Action>::new(#name, #limit)#(#steps)*)
            }
            #enter
        }
    }
}

fn edges(stop: &FlowStep, checked: &CheckedFlow, private: &Ident) -> Vec<TokenStream> {
    let edge = |action: String, target: &Target| {
        let target = match target {
            Target::Step(label) => match checked.index(label).map(Literal::usize_unsuffixed) {
                Some(index) => generated!(Step(#index)),
                None => generated!(Todo),
            },
            Target::End(..) => generated!(End),
            Target::Todo(_) => generated!(Todo),
        };
        generated!(#private::Edge::new(#action, #private::Target::#target))
    };
    match &stop.exit {
        Exit::Arrow(target) => vec![edge(String::new(), target)],
        Exit::Match(arms) => arms
            .iter()
            .map(|arm| edge(edge_label(&arm.pattern), &arm.target))
            .collect(),
    }
}

fn enter(flow: &Flow, private: &Ident) -> Option<TokenStream> {
    let parameters = flow
        .parameters
        .as_ref()
        .filter(|parameters| !parameters.is_empty())?;
    let writes = parameters.iter().map(|Parameter { ident, to, .. }| {
        let own = StateField {
            root: ident.clone(),
            members: vec![ident.clone().into()],
        };
        let state_field = state_field(to.as_ref().unwrap_or(&own));
        let at = end_spans(ident).0;
        let private = respanned(private, at);
        quote_spanned!(at=> #private::write(self.#ident, &mut #state_field);)
    });
    Some(generated!(fn enter(self, state: &mut __State) { #(#writes)* }))
}

fn state_field(StateField { root, members }: &StateField) -> TokenStream {
    let state = Ident::new("state", end_spans(root).0);
    quote!(#state #(.#members)*)
}

fn step(stop: &FlowStep, label: &str, checked: &CheckedFlow, private: &Ident) -> TokenStream {
    let here = step_span(stop);
    let ty = &stop.ty;
    let edges = edges(stop, checked, private);
    let then = action_dispatch(stop, private);
    let label = quote_spanned!(here=> #label, [#(#edges),*]);
    if stop.values.is_none() && stop.part.is_none() {
        return quote_spanned!(here=> .step::<#ty>(#label, #then));
    }
    let part = match &stop.part {
        Some(part) => {
            let part = state_field(part);
            quote_spanned!(here=> |state| &mut #part)
        }
        None => quote_spanned!(here=> |state| state),
    };
    let Some(values) = &stop.values else {
        return quote_spanned!(here=> .step_in::<#ty, _>(#label, #part, #then));
    };
    let ty = in_expression(ty);
    let values = resolve_names(values.clone());
    // The expression already names the type: an error in it would be reported twice.
    let over = if stop.part.is_none() {
        quote_spanned!(here=> __State)
    } else {
        quote_spanned!(here=> _)
    };
    quote_spanned!(here=> .step_with::<_, #over>(#label, |state| #ty { #values }, #part, #then))
}

fn in_expression(ty: &Type) -> TokenStream {
    let Type::Path(path) = bare(ty) else {
        return ty.to_token_stream();
    };
    let mut path = path.clone();
    for segment in &mut path.path.segments {
        if let PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
            arguments.colon2_token = Some(Default::default());
        }
    }
    path.to_token_stream()
}

/// The compiler reports faults of the step at its type's name.
fn step_span(stop: &FlowStep) -> Span {
    let first = || {
        stop.ty
            .to_token_stream()
            .into_iter()
            .next()
            .map(|first| first.span())
    };
    let at = last_name(&stop.ty).map(Ident::span).or_else(first);
    Span::mixed_site().located_at(at.unwrap_or_else(Span::call_site))
}

/// The compiler reports actions without an arm at this span.
fn action_dispatch(stop: &FlowStep, private: &Ident) -> TokenStream {
    let at = step_span(stop);
    let private_there = respanned(private, at);
    let action = format_ident!("__action", span = at);
    match &stop.exit {
        Exit::Arrow(target) => {
            let arm = arm(0, target, private);
            let plain_arrow = quote_spanned!(at=> #private_there::plain_arrow);
            quote_spanned!(at=> |#action| #plain_arrow(#action, #arm))
        }
        // `MatchOn` needs an arm to infer the action's type.
        Exit::Match(arms) if arms.is_empty() => quote_spanned!(at=> |#action| match #action {}),
        Exit::Match(arms) => {
            let arms = arms.iter().enumerate().map(|(index, arm)| {
                let pattern = strict(&arm.pattern);
                let arm = self::arm(index, &arm.target, private);
                quote_spanned!(at=> #pattern => #arm,)
            });
            let decided = quote_spanned!(at=> #private_there::MatchOn(#action).__action());
            quote_spanned!(at=> |#action| match #decided { #(#arms)* })
        }
    }
}

fn arm(index: usize, target: &Target, private: &Ident) -> TokenStream {
    // The compiler suggests to add a missing arm behind this span.
    let here = Span::mixed_site().located_at(target.to_token_stream().span());
    let index = Literal::usize_unsuffixed(index);
    let private = respanned(private, here);
    match target {
        Target::End(_, None) => quote_spanned!(here=> #private::Arm::end(#index, ())),
        Target::End(_, Some(action)) => quote_spanned!(here=> #private::Arm::end(#index, #action)),
        Target::Step(_) | Target::Todo(_) => quote_spanned!(here=> #private::Arm::to(#index)),
    }
}

fn run_impls(flow: &Flow, private: &Ident) -> TokenStream {
    let ident = &flow.ident;
    let starts = flow.parameters.is_none().then(|| {
        generated! {
            #[automatically_derived]
            impl #private::Startable<__State> for #ident {}
        }
    });
    generated! {
        #[automatically_derived]
        impl #private::Runnable<__State> for #ident {
            type Action = __Action;
            fn advance<'f>(
                __flow: #private::FlowCursor<'f, __State>,
                __prepared: ::core::option::Option<Self>,
            ) -> impl #private::Future<Output = #private::Advanced<__Action>> + #private::Send {
                #private::advance(__flow, __prepared)
            }
            fn outline_within(__around: #private::OuterFlows<'_>) -> #private::Outline {
                #private::outline::<Self, __State>(__around)
            }
        }
        #starts
        #[automatically_derived]
        impl<'r> #private::RunFlow<'r, __State> for #ident {
            type Action = __Action;
            fn runner(self) -> #private::Runner<'r, __State, __Action> {
                #private::runner(self)
            }
        }
    }
}
