//! Emits the impls of a checked flow: its facts, and what follows each action.
//!
//! Out comes, in an anonymous constant, a table of the steps, built once when the
//! flow is used first:
//!
//! ```text
//! Table::new("research", None)
//!     .step::<Decide>("Decide", [edges], |action| match .. { Search => Arm::to(0), .. })
//!     .step_in::<Search, _>(..)
//! ```
//!
//! The edges are data: for outlines, pages and checks, which never run the flow.
//! The closure behind them is what runs: it maps an action to the number of an arm,
//! whose edge says where the flow goes. The two are written from the same arms, in
//! the same order, so that the number of an arm is its place in the edges.
//!
//! Spans decide what is underlined. A step is spanned by the name of its type, so
//! that a type which is no step, or takes another state, is reported there. The
//! arms are spanned by the type as well: the compiler reports an action without an
//! arm where the `match` is, and proposes to add one behind the last arm.

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

/// The state and the action are type aliases: they stand in many places of the
/// impls, and an error in one is reported once.
pub(super) fn emit(flow: &Flow, checked: &CheckedFlow) -> TokenStream {
    let definition = definition(flow);
    let private = crate_path::private();
    let unit = syn::parse_quote!(());
    let state = &flow.state;
    let action = flow.action.as_ref().unwrap_or(&unit);
    let flow_type_impl = flow_type_impl(flow, checked, &private);
    let run_impls = run_impls(flow, &private);
    // An import that no step needs would be a warning.
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

/// The struct of the flow. Without `{ }` in the flow it is a unit struct, which is
/// its own value.
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
             vis: stated_vis,
             ident,
             ty,
             ..
         }| {
            // A parameter is as visible as the flow, unless it says otherwise: it
            // is set by whoever starts the flow.
            let vis = if matches!(stated_vis, Visibility::Inherited) {
                vis
            } else {
                stated_vis
            };
            quote!(#(#attrs)* #vis #ident: #ty)
        },
    );
    quote!(#(#attrs)* #vis #keyword #ident { #(#fields,)* })
}

/// The name, the limit of steps, the parameters and the table.
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
    // Faulty steps are left out, since the compiler would report their faults
    // again.
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
                // In a `static` of the function: the table is the same for each
                // run, and a flow has no generics that a static could not have.
                static TABLE: #private::OnceLock<#private::Table<__State, __Action>> =
                    #private::OnceLock::new();
                ::std::sync::OnceLock::get_or_init(
                    &TABLE,
                    || #private::Table::<__State, __Action>::new(#name, #limit)#(#steps)*
                )
            }
            #enter
        }
    }
}

/// For an arrow the edge has no name, for a `match` that of its pattern.
fn edges(stop: &FlowStep, checked: &CheckedFlow, private: &Ident) -> Vec<TokenStream> {
    match &stop.exit {
        Exit::Arrow(target) => vec![edge("", target, checked, private)],
        Exit::Match(arms) => {
            let mut edges = vec![];
            for arm in arms {
                let label = edge_label(&arm.pattern);
                edges.push(edge(&label, &arm.target, checked, private));
            }
            edges
        }
    }
}

/// `action`: the edge's name. A target that does not exist was reported; `Todo` in its
/// place keeps the numbers of the arms.
fn edge(action: &str, target: &Target, checked: &CheckedFlow, private: &Ident) -> TokenStream {
    let target = match target {
        Target::Step(label) => match checked.index(label) {
            Some(index) => {
                let index = Literal::usize_unsuffixed(index);
                generated!(Step(#index))
            }
            None => generated!(Todo),
        },
        Target::End(..) => generated!(End),
        Target::Todo(_) => generated!(Todo),
    };
    generated!(#private::Edge::new(#action, #private::Target::#target))
}

/// What a parameter is written to: the field of the state that it names, or that of
/// its own name. Without parameters there is nothing to write, and the trait's
/// default does nothing.
fn enter(flow: &Flow, private: &Ident) -> Option<TokenStream> {
    let parameters = flow
        .parameters
        .as_ref()
        .filter(|parameters| !parameters.is_empty())?;
    let writes = parameters.iter().map(|Parameter { ident, to, .. }| {
        let of_same_name = StateField {
            root: ident.clone(),
            members: vec![ident.clone().into()],
        };
        // Spanned by the parameter, so that a field of another type is reported
        // there.
        let state_field = state_field(to.as_ref().unwrap_or(&of_same_name));
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

/// One call of the table's builder. The three methods are one more general than the
/// other; the plainest that does is emitted, since a closure for nothing costs the
/// compiler time and its messages are longer.
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
    // `Step::<T> { .. }`: in an expression, type arguments need the colons.
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

/// The type as the path of a struct expression.
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
/// For a tuple of steps there is no name; its first token stands for it.
fn step_span(stop: &FlowStep) -> Span {
    let at = match last_name(&stop.ty) {
        Some(name) => Some(name.span()),
        None => {
            let first = stop.ty.to_token_stream().into_iter().next();
            first.map(|token| token.span())
        }
    };
    Span::mixed_site().located_at(at.unwrap_or_else(Span::call_site))
}

/// The compiler reports actions without an arm at this span.
/// The closure from an action to an arm.
fn action_dispatch(stop: &FlowStep, private: &Ident) -> TokenStream {
    let at = step_span(stop);
    let private_there = respanned(private, at);
    let action = format_ident!("__action", span = at);
    match &stop.exit {
        Exit::Arrow(target) => {
            let arm = arm(0, target, private);
            // A step with an arrow decides nothing. `plain_arrow` takes only `()`,
            // and its message says that a `match` is missing.
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
            // `MatchOn` gives the action in the type of the arms, so that arms of
            // another type are one error and not one for each.
            let decided = quote_spanned!(at=> #private_there::MatchOn(#action).__action());
            quote_spanned!(at=> |#action| match #decided { #(#arms)* })
        }
    }
}

/// `Arm::end` carries the flow's own action, `Arm::to` the number of the edge. A
/// `todo!()` is an edge as well, which says so in the table.
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

/// What makes the flow runnable, as a flow of its own and as a step of another one.
/// All three impls hand over to a function of `llmnode-flow`, which is compiled
/// once for a state.
fn run_impls(flow: &Flow, private: &Ident) -> TokenStream {
    let ident = &flow.ident;
    // Only a flow without parameters can be started by its type alone.
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
