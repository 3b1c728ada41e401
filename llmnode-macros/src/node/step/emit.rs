//! Emits the impl of `Step` for a checked step.
//!
//! A step and a batch have the same three functions with other types: one node or a
//! list of nodes, one output or a list. `Shape` has these differences, so that the
//! rest is written once. The user's functions are passed to a function of the
//! runtime and not called: its bounds say what the function should look like, and
//! the error is at the path.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::ext::IdentExt;
use syn::{Expr, ExprPath, Field, Generics, Type, parse_quote};

use super::store::StatePath;
use super::{Preparation, StepArgs};
use crate::expression;
use crate::generics::{end_spans, fresh, respanned};
use crate::macro_args::value;
use crate::node::model::NodeModel;

/// The tokens in which a step and a batch differ.
struct Shape {
    // The trait.
    kind: TokenStream,
    // What `prep` returns.
    prepared: TokenStream,
    // The name of what `post` gets first, as an argument and (`node`) as a
    // parameter.
    receiver: TokenStream,
    node: TokenStream,
    // What `post` gets as its output, and (`lent`) how `route` sees it.
    output: TokenStream,
    lent: TokenStream,
}

impl Shape {
    /// `many`: the name of the batch's nodes. Raw text is passed as `&str`.
    fn new(many: Option<TokenStream>, text: bool, private: &Ident) -> Self {
        let given = generated!(<Self as #private::Node>::Output);
        match many {
            None => Self {
                kind: generated!(Step),
                prepared: generated!(Self),
                receiver: generated!(self),
                node: generated!(self),
                output: given,
                lent: if text {
                    generated!(&*__output)
                } else {
                    generated!(&__output)
                },
            },
            Some(name) => Self {
                kind: generated!(BatchStep),
                prepared: generated!(::std::vec::Vec<Self>),
                node: generated!(#name: ::std::vec::Vec<Self>),
                receiver: name,
                output: generated!(::std::vec::Vec<#given>),
                lent: generated!(&__output),
            },
        }
    }
}

/// `stated`: the generics with those of the state.
pub(crate) fn emit(
    model: &NodeModel<'_>,
    preparation: &Preparation<'_>,
    state: &Type,
    stated: &Generics,
    private: &Ident,
) -> TokenStream {
    let ident = &model.item.ident;
    let mut stated = stated.clone();
    let step = &model.args.step;
    if !matches!(preparation, Preparation::Fields(_)) && stated.type_params().next().is_some() {
        // A future returns the node, and may move between threads.
        stated
            .make_where_clause()
            .predicates
            .push(parse_quote!(Self: ::core::marker::Send));
    }
    let ty_generics = model.item.generics.split_for_impl().1;
    let (impl_generics, _, where_clause) = stated.split_for_impl();
    // The nodes of a batch have no name where nothing reads them.
    let nodes = matches!(preparation, Preparation::Batch(..)).then(|| match &step.post {
        Some(_) => generated!(__nodes),
        None => generated!(_),
    });
    let shape = Shape::new(nodes, model.output.is_none(), private);
    let action = action(value(&step.action));
    let concurrency = concurrency(preparation);
    let prep = prep(preparation, &shape, state, private);
    let post = post(step, &shape, state, private);
    let kind = &shape.kind;
    generated! {
        #[automatically_derived]
        impl #impl_generics #private::#kind<#state> for #ident #ty_generics #where_clause {
            type Output = <Self as #private::Node>::Output;
            #action
            #concurrency
            #prep
            #post
        }
    }
}

/// The compiler reports an action that is less visible than the node at its type.
/// Without one, the step has the action `()`: its flow has an arrow.
fn action(action: Option<&Type>) -> TokenStream {
    match action {
        Some(action) => {
            let at = end_spans(action).0;
            quote_spanned!(at=> type Action = #action;)
        }
        None => generated! { type Action = (); },
    }
}

/// How many nodes of a batch run at once; without it the runtime's default.
fn concurrency(preparation: &Preparation<'_>) -> Option<TokenStream> {
    let Preparation::Batch(_, Some(most)) = preparation else {
        return None;
    };
    let most = Literal::u32_unsuffixed(*most);
    Some(generated!(const CONCURRENCY: ::core::primitive::usize = #most;))
}

/// A function that may fail and may wait; the fields' expressions do neither, and
/// are put into a future that is ready.
fn prep(
    preparation: &Preparation<'_>,
    shape: &Shape,
    state: &Type,
    private: &Ident,
) -> TokenStream {
    let here = Span::mixed_site();
    let (lent, node) = match preparation {
        Preparation::Function(path) => (
            true,
            call_user_function("prep", path, generated!(state), private),
        ),
        Preparation::Batch(path, _) => (
            true,
            call_user_function("batch", path, generated!(state), private),
        ),
        Preparation::Fields(fields) => {
            // The expressions' name for the state: with another one, rustc would
            // not suggest to clone what is moved.
            let named = fields
                .iter()
                .find_map(|(_, written)| expression::state(written.to_token_stream()));
            let (state, lent) = match named {
                Some(at) => (
                    generated!(state),
                    quote_spanned!(here.resolved_at(at)=> state),
                ),
                None => (generated!(&()), generated!(_)),
            };
            let forms = (!fields.is_empty()).then(|| generated!(use #private::forms::*;));
            let at = named.unwrap_or(here);
            let fields = fields
                .iter()
                .map(|(field, written)| self::field(field, written, at, private));
            let node = generated! {
                #forms
                #private::prepared(
                    #state,
                    |#lent| ::core::result::Result::Ok(Self { #(#fields),* })
                )
            };
            (named.is_some(), node)
        }
    };
    let lent = if lent {
        generated!(state)
    } else {
        generated!(_)
    };
    let prepared = &shape.prepared;
    generated! {
        fn prep(
            #lent: &#state,
        ) -> impl #private::Future<Output = #private::Prepared<#prepared>> + #private::Send {
            #node
        }
    }
}

/// Bound again with the spans of the expression's ends, to underline all of it.
/// `at`: where `state` resolves. `match (expression,) { .. }` keeps temporaries
/// alive as long as the field is made. The probe `__form` finds out whether the
/// expression is the value, an `Option` or a `Result` of it; the latter two may end
/// the step.
fn field(field: &Field, written: &Expr, at: Span, private: &Ident) -> Option<TokenStream> {
    let ident = field.ident.as_ref()?;
    let ty = &field.ty;
    let name = ident.unraw().to_string();
    let (first, last) = end_spans(written);
    let given = Ident::new("__given", first);
    let mut member = Literal::usize_unsuffixed(0);
    member.set_span(last);
    let given = quote_spanned!(first=> #given.#member);
    let near = respanned(private, first);
    let near = quote_spanned!(last=> #near::Field::<#ty>::given);
    let written = expression::resolve_names_at(written.to_token_stream(), at);
    Some(generated! {
        #ident: match (#written,) {
            __given => #near(#name, #given, |__it| (&&&__it).__form())?,
        }
    })
}

/// The order is fixed: the action first, since it looks at the output, then the
/// store, which moves it.
fn post(step: &StepArgs, shape: &Shape, state: &Type, private: &Ident) -> TokenStream {
    let (output, lent, body) = if let Some(path) = value(&step.post) {
        let node = &shape.receiver;
        let arguments = generated!(#node, __output, state);
        (
            true,
            true,
            call_user_function("post", path, arguments, private),
        )
    } else {
        let store = value(&step.store);
        let route = value(&step.route);
        // Without an action there is nothing to decide.
        let decided = decided(value(&step.action), route, shape, private);
        let stored = store.map(|place| self::store(place, private));
        let action = match &decided {
            Some(_) => generated!(__action),
            None => generated!(()),
        };
        let body = generated!(#decided #stored ::core::result::Result::Ok(#action));
        (
            decided.is_some() || store.is_some(),
            route.is_some() || store.is_some(),
            body,
        )
    };
    let output = if output {
        generated!(__output)
    } else {
        generated!(_)
    };
    let lent = if lent {
        generated!(state)
    } else {
        generated!(_)
    };
    let Shape {
        node,
        output: given,
        ..
    } = shape;
    generated! {
        fn post(#node, #output: #given, #lent: &mut #state) -> #private::Posted<Self::Action> {
            #body
        }
    }
}

/// Must come before the output is moved. The action by a function, or the output
/// itself: `decided` makes the action from the lent output.
fn decided(
    action: Option<&Type>,
    route: Option<&ExprPath>,
    shape: &Shape,
    private: &Ident,
) -> Option<TokenStream> {
    let action = action?;
    let decided = match route {
        Some(path) => {
            let lent = &shape.lent;
            let arguments = generated!(#lent, &*state);
            let route = call_user_function("route", path, arguments, private);
            generated!(#route?)
        }
        None => {
            let (first, last) = end_spans(action);
            let private = respanned(private, first);
            let output = &shape.output;
            quote_spanned!(last=> #private::decided::<#action, #output>(&__output))
        }
    };
    Some(generated!(let __action = #decided;))
}

/// Spans the path, to underline all of it if the field has another type.
/// `state.path = output.into()`, as a call whose bound has a message. The output
/// goes through a tuple so that it has two tokens, one at each end of the path.
fn store(place: &StatePath, private: &Ident) -> TokenStream {
    let here = Span::mixed_site();
    let first = place
        .steps()
        .first()
        .map_or(here, |first| end_spans(first).0);
    let last = place.steps().last().map_or(here, |last| end_spans(last).1);
    let state = Ident::new("state", first);
    let path = place.emit();
    let output = Ident::new("__output", here);
    let mut member = Literal::usize_unsuffixed(0);
    member.set_span(last);
    let output = quote_spanned!(first=> (#output,).#member);
    let private = respanned(private, first);
    quote_spanned!(last=> #private::store(&mut #state #path, #output);)
}

/// The compiler reports a wrong signature at the user's path.
/// One function of the runtime for each kind; the placeholders in the type
/// arguments are what the compiler infers.
fn call_user_function(
    name: &str,
    path: &ExprPath,
    arguments: TokenStream,
    private: &Ident,
) -> TokenStream {
    let (at, end) = end_spans(path);
    let private = respanned(private, at);
    let name = match name {
        "prep" => quote_spanned!(end=> prep::<Self, _, _, _>),
        "batch" => quote_spanned!(end=> batch::<Self, _, _, _>),
        "route" => quote_spanned!(end=> route::<Self::Action, _, _, _, _>),
        _ => quote_spanned!(end=> post::<Self::Action, _, _, _, _, _>),
    };
    quote_spanned!(end=> #private::#name(#arguments, #path))
}

/// With the action's type if it is known, so that a flow's `match` is checked
/// although the node has faults.
pub(crate) fn stub(
    step: &StepArgs,
    ident: &Ident,
    generics: &Generics,
    private: &Ident,
) -> TokenStream {
    let action_is_readable = value(&step.action).is_some() || !step.decides();
    let action = if action_is_readable {
        action(value(&step.action))
    } else {
        generated!(type Action = #private::ErrorAction;)
    };
    let any_state = fresh("AnyRunState", generics);
    let mut stated = generics.clone();
    stated
        .params
        .push(parse_quote!(#any_state: ::core::marker::Sync));
    let ty_generics = generics.split_for_impl().1;
    let (impl_generics, _, where_clause) = stated.split_for_impl();
    let nodes = step.batch.is_some().then(|| generated!(_));
    let Shape {
        kind,
        prepared,
        node,
        output,
        ..
    } = Shape::new(nodes, false, private);
    generated! {
        #[automatically_derived]
        impl #impl_generics #private::#kind<#any_state> for #ident #ty_generics #where_clause {
            type Output = <Self as #private::Node>::Output;
            #action
            fn prep(
                _: &#any_state,
            ) -> impl #private::Future<Output = #private::Prepared<#prepared>> + #private::Send {
                ::core::future::pending()
            }
            fn post(#node, _: #output, _: &mut #any_state) -> #private::Posted<Self::Action> {
                ::core::unreachable!()
            }
        }
    }
}
