//! Emits the impls of a checked node. The expansion states facts; behaviour is in the runtime.
//!
//! What a node with a prompt becomes, all in one anonymous constant:
//!
//! - `Node`: its output, its name, its settings and what else is known of it
//!   without a value (`FACTS`).
//! - `Exec<State>`: how it runs. One line, a call of the runtime.
//! - `LlmNode<State>`: what a call asks the node for, each a function: the messages
//!   (`render`), how its output is read and checked (`output`), and where it has
//!   them its choices, fallback, tools and model.
//! - Further impls, each in its file: as a tool, as a step, as a smart node, for a
//!   state in an `Arc`.
//!
//! The impls are as small as they can be, since they are compiled for every node.
//! Spans are chosen for the compiler's messages: a comment says what is reported at
//! each.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Field, Generics, LitStr, Type};

use super::arc_state;
use super::args::NodeArgs;
use super::bounds::{node_generics, with_state};
use super::field_values;
use super::model::{NodeModel, Part};
use super::recover;
use super::segments::{history, message};
use super::smart;
use super::step;
use super::tools;
use super::validators;
use super::with;
use crate::choices;
use crate::crate_path;
use crate::description::doc_text;
use crate::generics::{bare, end_spans, mentions_parameter, respanned, type_arguments};
use crate::macro_args::{Slot, items, value};
use crate::names::snake_case;
use crate::settings::{self, number};
use crate::time::Time;
use crate::validate::fields::is_plain;

/// The item comes first, as it was written. Only the attributes of derives that it
/// does not have are taken off, for a node that is a tool.
pub(crate) fn emit(model: &NodeModel<'_>) -> TokenStream {
    let private = crate_path::private();
    let generics = node_generics(model);
    let node_impl = node_impl(model, &generics, &private);
    let exec_impls = exec_impls(model, generics.clone(), &private);
    let files = files(model);
    let impls = crate_path::scope(&model.krate, quote!(#node_impl #exec_impls #files));
    let item = tools::item(model);
    quote!(#item #impls)
}

/// The compiler tracks these files, so that an edit rebuilds the crate.
/// `include_bytes!` of a file makes it a dependency of the build. A type is named
/// after each file in which the state is read, since the messages about such a
/// variable name a type: that is how they say where it stands.
fn files(model: &NodeModel<'_>) -> TokenStream {
    let files = &model.files;
    let places = model
        .system
        .iter()
        .chain(&model.prompt)
        .filter_map(Part::file);
    let mut types: Vec<&Ident> = places.collect();
    types.sort_unstable();
    types.dedup();
    generated! {
        #(const _: &[::core::primitive::u8] = ::core::include_bytes!(#files);)*
        #(#[allow(non_camel_case_types)] enum #types {})*
    }
}

/// The name of a record is the struct's in snake case, unless the attribute says
/// otherwise.
fn node_impl(model: &NodeModel<'_>, generics: &Generics, private: &Ident) -> TokenStream {
    let ident = &model.item.ident;
    let raw_text: Type = syn::parse_quote!(::std::string::String);
    let output = model.output.unwrap_or(&raw_text);
    // The compiler reports an output that is less visible than the node at this span.
    let at = end_spans(output).0;
    let answer = quote_spanned!(at=> type Output = #output;);
    let name = value(&model.args.name)
        .map_or_else(|| snake_case(&ident.unraw().to_string()), LitStr::value);
    let constants = constants(model, private);
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    generated! {
        #[automatically_derived]
        impl #impl_generics #private::Node for #ident #ty_generics #where_clause {
            #answer
            const NAME: &'static #private::str = #name;
            #constants
        }
    }
}

/// All that is implemented for a state.
fn exec_impls(model: &NodeModel<'_>, generics: Generics, private: &Ident) -> TokenStream {
    let (state, stated) = with_state(model, generics);
    let exec_impl = exec_impl(model, &state, &stated, private);
    let llm_node_impl = llm_node_impl(model, &state, &stated, private);
    let behind = arc_state::emit(model, &state, &stated, private);
    let as_tool = tools::as_tool(model, &state, &stated, private);
    let smart = smart::emit(model, private);
    let step = model
        .preparation
        .as_ref()
        .map(|prep| step::emit(model, prep, &state, &stated, private));
    quote!(#exec_impl #llm_node_impl #behind #as_tool #smart #step)
}

/// Not an `async fn`, which for a generic node meets the compiler's limits on lifetimes and `Send`.
/// The future is declared as `Send` here: a run may move it between threads, and
/// the compiler reports what is not `Send` in a node here and not where it is
/// called.
fn exec_impl(
    model: &NodeModel<'_>,
    state: &Type,
    stated: &Generics,
    private: &Ident,
) -> TokenStream {
    let ident = &model.item.ident;
    let is_smart = model.args.goal.is_some();
    // A smart node asks through the crate that looks for its program.
    let run = if is_smart {
        generated!(smart::exec)
    } else {
        generated!(exec)
    };
    // A smart node looks for its program first, so it asks in a future of its own.
    let asks = (!is_smart)
        .then(|| generated!(const ASKS: #private::Asks<Self, #state> = #private::asks();));
    // The compiler reports a state that cannot be shared between threads at this span.
    let at = end_spans(state).0;
    let near = respanned(private, at);
    let exec = quote_spanned!(at=> #near::Exec<#state>);
    let ty_generics = model.item.generics.split_for_impl().1;
    let (impl_generics, _, where_clause) = stated.split_for_impl();
    generated! {
        #[automatically_derived]
        impl #impl_generics #exec for #ident #ty_generics #where_clause {
            #asks
            fn exec(
                &self,
                __cx: &#private::Cx<'_, #state>,
            ) -> impl #private::Future<Output = #private::Yield<Self>> + #private::Send {
                #private::#run(self, __cx)
            }
        }
    }
}

/// The functions of a call. Those that a node does not need are left to the trait's
/// defaults.
fn llm_node_impl(
    model: &NodeModel<'_>,
    state: &Type,
    stated: &Generics,
    private: &Ident,
) -> TokenStream {
    let ident = &model.item.ident;
    // The function gets the node, the state and the prompt to write to. There is no
    // allocation in it beyond the texts.
    let (lent, messages) = messages(model, private);
    let held_model = held_model(model, private);
    let output_spec = output_spec(model, state, private);
    let choices = model.output.and_then(|output| {
        choices::emit(
            items(&model.args.choices),
            Some(model.item),
            output,
            state,
            private,
        )
    });
    let fallback = fallback(model, state, private);
    let own_values = field_values::emit(model, state, private);
    let tools = tools::emit(model, state, private);
    let ty_generics = model.item.generics.split_for_impl().1;
    let (impl_generics, _, where_clause) = stated.split_for_impl();
    generated! {
        #[automatically_derived]
        impl #impl_generics #private::LlmNode<#state> for #ident #ty_generics #where_clause {
            fn render(&self, #lent: &#state, __to: &mut #private::Prompt) {
                #messages
            }
            #own_values
            #held_model
            #[inline]
            fn output(&self) -> #private::OutputSpec<Self::Output, #state> {
                #output_spec
            }
            #choices
            #fallback
            #tools
        }
    }
}

/// With the name of the state, which is `_` if they do not read it.
/// In the order of the request: system, examples, history, user. A provider keeps
/// what is the same from the beginning in its cache, and these are ordered by how
/// seldom they change.
fn messages(model: &NodeModel<'_>, private: &Ident) -> (TokenStream, TokenStream) {
    if model.args.goal.is_some() {
        return (
            generated!(_),
            generated!(#private::smart::render(self, __to);),
        );
    }
    let with = items(&model.args.with);
    let examples = value(&model.args.examples);
    // Examples get the state, because their inputs are rendered by this very
    // function.
    let reads_state = model
        .system
        .iter()
        .chain(&model.prompt)
        .any(Part::reads_state)
        || with::state(with).is_some()
        || examples.is_some();
    let lent = if reads_state {
        generated!(state)
    } else {
        generated!(_)
    };
    let system =
        (!model.system.is_empty()).then(|| message("system", &model.system, model, private));
    let examples = examples.map(|examples| examples.emit(model.output.is_none(), private));
    let history = history(model, private);
    let user = message("user", &model.prompt, model, private);
    (
        lent,
        with::with_bindings(with, quote!(#system #examples #history #user)),
    )
}

/// Settings and facts are `const`, so that a call borrows them and never copies.
fn constants(model: &NodeModel<'_>, private: &Ident) -> TokenStream {
    let args = model.args;
    let settings = settings::settings(&settings_calls(args, private), private);
    let facts = facts(model, private);
    quote!(#settings #facts)
}

/// Those that every node with a model has, and what the attribute states.
/// `ASKS_MODEL` is the facts of a node with a model; what the attribute states is
/// put on top.
fn facts(model: &NodeModel<'_>, private: &Ident) -> TokenStream {
    let args = model.args;
    settings::facts(
        generated!(#private::ASKS_MODEL),
        [
            ("description", doc_text(&model.item.attrs)),
            (
                "limits",
                value(&args.limits).map(|limits| limits.emit(private)),
            ),
            (
                "idempotent",
                args.step.non_idempotent().then(|| quote!(false)),
            ),
            ("fallback", args.fallback.as_ref().map(|_| quote!(true))),
        ],
        private,
    )
}

/// The value of a text argument, as tokens.
fn text(text: &Slot<LitStr>) -> Option<TokenStream> {
    value(text).map(|text| text.value().to_token_stream())
}

/// The value of a time argument, as tokens.
fn time(time: &Slot<Time>) -> Option<TokenStream> {
    value(time).map(|time| time.emit())
}

/// By the names of the setters of `Settings`. Those that begin with `stated_` take
/// what only an attribute may set, in a form that is `const`.
fn settings_calls(args: &NodeArgs, private: &Ident) -> TokenStream {
    let temperature =
        value(&args.temperature).map(|t| Literal::f64_unsuffixed(*t).to_token_stream());
    let recover = Some(items(&args.recover)).filter(|recover| !recover.is_empty());
    settings::calls([
        ("retries", number(&args.retries)),
        ("transport_retries", number(&args.transport_retries)),
        ("backoff", value(&args.wait).map(|wait| wait.emit(private))),
        ("max_wait", time(&args.max_wait)),
        ("attempt_timeout", time(&args.attempt_timeout)),
        ("deadline", time(&args.deadline)),
        ("stated_model", text(&args.model)),
        ("temperature", temperature),
        ("max_tokens", number(&args.max_tokens)),
        (
            "reasoning",
            value(&args.reasoning).map(|word| quote!(#private::Reasoning::#word)),
        ),
        (
            "cache",
            value(&args.cache).map(|word| quote!(#private::Cache::#word)),
        ),
        ("window", number(&args.window)),
        (
            "stated_recover",
            recover.map(|recover| recover::emit(recover, private)),
        ),
        ("stated_fallback_model", text(&args.fallback_model)),
        (
            "calls_in_text",
            value(&args.calls_in_text).map(|reads| quote!(#reads)),
        ),
        (
            "thoughts_in_text",
            value(&args.thoughts_in_text).map(|reads| quote!(#reads)),
        ),
        ("exact", args.exact.as_ref().map(|_| quote!(true))),
    ])
}

/// The compiler reports missing traits at the output's type.
/// Three forms: raw text, a generic output, for which bounds do what probes do
/// otherwise, and a concrete one. A validator function of the attribute runs behind
/// those of the type.
fn output_spec(model: &NodeModel<'_>, state: &Type, private: &Ident) -> TokenStream {
    let validators = items(&model.args.validate);
    let is_text = model.output.is_none();
    let functions = validators::emit(validators, model.state.is_some(), is_text, private);
    let Some(output) = model.output else {
        return match functions {
            None => generated!(#private::OutputSpec::text()),
            Some(functions) => {
                generated!(#private::OutputSpec::checked_text(|__value, __to| { #functions }))
            }
        };
    };
    let at = end_spans(output).0;
    if mentions_parameter(output, &model.item.generics) {
        // The probes below find nothing in generic code, which needs bounds.
        let of_type =
            quote_spanned!(at=> <#output as #private::ValidateAll<#state>>::all(__value, __to));
        // `&&&`: as many references as the probe has choices, see `docs/probes.md`.
        let collect = all_checks(of_type, functions);
        return quote_spanned! {at=>
            #private::OutputSpec::json(|__to| __to.validated::<#output>(), |__value, __to| #collect)
        };
    }
    let walk = quote_spanned!(at=> (&&&#private::Traverse(__value)).__walk::<#state>(__to));
    let collect = all_checks(walk, functions);
    // The type parameter of the reader is spanned by the part of the type that is
    // the program's: in `Page<Book>`, a missing derive is nearly always that of
    // `Book`.
    let json = match &model.args.goal {
        Some(_) => quote_spanned!(at=> smart::answers::<Self, #state>),
        None => match innermost(output) {
            // The compiler names it, and reports a missing trait at its span.
            Some(part) => {
                let (at, end) = end_spans(part);
                let spec = quote_spanned!(at=> OutputSpec::json_of);
                quote_spanned!(end=> #spec::<#part>)
            }
            None => quote_spanned!(at=> OutputSpec::json),
        },
    };
    quote_spanned! {at=>
        use #private::probes::*;
        #private::#json(
            |__to| (&&&&#private::CoverageProbe::<#output>::new()).__coverage(__to),
            |__value, __to| #collect,
        )
    }
}

/// `Book` of `Page<Option<Book>>`; `None` of a type without arguments, and of plain ones.
/// The checks of the output's type, then those that the attribute names.
fn all_checks(of_type: TokenStream, functions: Option<TokenStream>) -> TokenStream {
    match functions {
        None => of_type,
        Some(functions) => generated!({ #of_type; #functions }),
    }
}

/// The last type argument that may be a struct of the program, from the outside in.
fn innermost(output: &Type) -> Option<&Type> {
    let Type::Path(path) = bare(output) else {
        return None;
    };
    let part = type_arguments(&path.path)
        .into_iter()
        .find(|part| !is_plain(part) && !may_be_constant(part))?;
    innermost(part).or_else(|| matches!(bare(part), Type::Path(_)).then_some(part))
}

/// The `N` of `Row<u8, N>` is read as a type, and its name alone tells that it is none.
fn may_be_constant(part: &Type) -> bool {
    let Type::Path(path) = bare(part) else {
        return false;
    };
    path.path
        .get_ident()
        .is_some_and(|name| !name.to_string().contains(char::is_lowercase))
}

/// The compiler reports a field that is not a model at its type.
/// A field `#[node(model)]`: the model that this very node asks.
fn held_model(model: &NodeModel<'_>, private: &Ident) -> Option<TokenStream> {
    let Field { ident, ty, .. } = model.held_model?;
    let at = end_spans(ty).0;
    Some(quote_spanned! {at=>
        fn model(&self) -> ::core::option::Option<&dyn #private::ChatModel> {
            ::core::option::Option::Some(&self.#ident)
        }
    })
}

/// The compiler reports a wrong signature at the path.
/// Boxed by the runtime and filled by `__to`: the attempt loop, which calls it,
/// knows no types. A fallback's value may have to be shown as text in a
/// conversation, for which there is a second function.
fn fallback(model: &NodeModel<'_>, state: &Type, private: &Ident) -> Option<TokenStream> {
    let path = value(&model.args.fallback)?;
    let (at, end) = end_spans(path);
    let private = respanned(private, at);
    let (lent, value) = match model.state {
        Some(_) => (
            quote_spanned!(at=> __state),
            quote_spanned! {end=>
                #private::fallback_with_state(self, __state, __error, #path, __to)
            },
        ),
        None => (
            quote_spanned!(at=> _),
            quote_spanned!(end=> #private::fallback(self, __error, #path, __to)),
        ),
    };
    Some(quote_spanned! {at=>
        fn fallback<'__llmnode>(
            &'__llmnode self,
            #lent: &'__llmnode #state,
            __error: &'__llmnode #private::NodeError,
            __to: &'__llmnode mut ::core::option::Option<Self::Output>,
        ) -> ::core::option::Option<#private::FallbackFuture<'__llmnode>> {
            ::core::option::Option::Some(#value)
        }
        fn fallback_text(
            &self,
            __value: &Self::Output,
        ) -> ::core::option::Option<::std::string::String> {
            use #private::probes::*;
            (&&#private::FallbackProbe(__value)).__fallback_text()
        }
    })
}
