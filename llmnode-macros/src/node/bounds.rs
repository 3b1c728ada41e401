//! The generics of the generated impls: the struct's own, the bounds that its
//! prompts require, and the state.
//!
//! A node's struct may be generic over its fields' types and over its output. Then
//! the compiler must be told in bounds what it finds out by itself for concrete
//! types: that a field can be inserted, an output read and validated. For concrete
//! types there are no bounds: they would be checked again at each use, and what is
//! reported about them is reported in generated code.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::{Generics, Type, WherePredicate, parse_quote};

use super::model::{NodeModel, Part, ValueOrigin};
use crate::crate_path;
use crate::generics::{fresh, mentions_parameter, with_named_lifetimes};
use crate::prompt::template::Format;

/// Nodes are `Sync`; whether generic ones are depends on their parameters.
pub(crate) fn require_sync(generics: &mut Generics) {
    if generics.type_params().next().is_some() {
        let predicate = parse_quote!(Self: ::core::marker::Sync);
        generics.make_where_clause().predicates.push(predicate);
    }
}

/// Those of the impl of `Node`, which has nothing of a state.
pub(crate) fn node_generics(model: &NodeModel<'_>) -> Generics {
    let mut generics = model.item.generics.clone();
    require_sync(&mut generics);
    let bounds = prompt_bounds(model);
    if !bounds.is_empty() {
        generics.make_where_clause().predicates.extend(bounds);
    }
    // `LlmOutput` is what an output needs to be read from JSON.
    if let Some(output) = generic_output(model) {
        let private = crate_path::private();
        generics
            .make_where_clause()
            .predicates
            .push(parse_quote!(#output: #private::LlmOutput));
    }
    generics
}

/// Extended by the bounds of the state and of the output's validators.
/// Those of the impls that are for a state, with the state's type. A node without
/// one runs with any: the parameter may be unsized, so that a run may lend a `dyn
/// Trait`.
pub(crate) fn with_state(model: &NodeModel<'_>, mut generics: Generics) -> (Type, Generics) {
    let state = match model.state {
        Some(state) => with_named_lifetimes(state, &mut generics),
        None => {
            let any_state = fresh("AnyRunState", &generics);
            generics
                .params
                .push(parse_quote!(#any_state: ?::core::marker::Sized + ::core::marker::Sync));
            parse_quote!(#any_state)
        }
    };
    if let Some(output) = generic_output(model) {
        let private = crate_path::private();
        let predicate =
            parse_quote!(#output: #private::ValidateAll<#state> + #private::ValidatedFields);
        generics.make_where_clause().predicates.push(predicate);
        // An example's output is written as JSON, too.
        if model.args.examples.is_some() {
            generics
                .make_where_clause()
                .predicates
                .push(parse_quote!(#output: #private::ExampleOutput));
        }
    }
    (state, generics)
}

/// The output, if it depends on a parameter.
fn generic_output<'a>(model: &'a NodeModel<'_>) -> Option<&'a Type> {
    model
        .output
        .filter(|output| mentions_parameter(output, &model.item.generics))
}

/// For fields whose type mentions a parameter; the trait depends on how the prompts
/// format the field.
fn prompt_bounds(model: &NodeModel<'_>) -> Vec<WherePredicate> {
    let mut bounds = vec![];
    for part in model.system.iter().chain(&model.prompt) {
        bounds.extend(part_bound(model, part));
    }
    if let Some(field) = model.history {
        bounds.extend(bound(model, &field.ty, &private_trait("PromptHistory")));
    }
    if let Some(field) = model.held_model {
        bounds.extend(bound(model, &field.ty, &private_trait("ChatModel")));
    }
    bounds
}

fn part_bound(model: &NodeModel<'_>, part: &Part) -> Option<WherePredicate> {
    match part {
        Part::Value {
            origin: ValueOrigin::Field(field),
            format,
        } => bound(model, field_type(model, field)?, &required_trait(format)),
        _ => None,
    }
}

/// `None` for a concrete type, about which the compiler finds out by itself.
fn bound(model: &NodeModel<'_>, ty: &Type, required_trait: &TokenStream) -> Option<WherePredicate> {
    let is_generic = mentions_parameter(ty, &model.item.generics);
    is_generic.then(|| parse_quote!(#ty: #required_trait))
}

/// A trait of `__private` by its name.
fn private_trait(name: &str) -> TokenStream {
    let name = Ident::new(name, Span::mixed_site());
    let private = crate_path::private();
    quote!(#private::#name)
}

/// Names are compared without `r#`: a prompt never writes it.
pub(crate) fn field_type<'a>(model: &NodeModel<'a>, name: &Ident) -> Option<&'a Type> {
    let mut fields = model.item.fields.iter();
    fields
        .find(|field| {
            field
                .ident
                .as_ref()
                .is_some_and(|ident| ident.unraw() == name.unraw())
        })
        .map(|field| &field.ty)
}

/// The formatting trait of the letter at the end of a format spec.
fn std_format(name: &str) -> TokenStream {
    let name = Ident::new(name, Span::mixed_site());
    quote!(::core::fmt::#name)
}

/// Each trait exists for the message that the compiler gives at the field, see
/// `docs/probes.md`.
fn required_trait(format: &Format) -> TokenStream {
    match format {
        Format::Plain | Format::Raw => private_trait("PromptValue"),
        Format::List => private_trait("PromptList"),
        Format::Json => private_trait("PromptJson"),
        Format::Fence => private_trait("PromptFence"),
        Format::Attach => private_trait("PromptAttachment"),
        Format::Or(_) => private_trait("PromptOption"),
        Format::Spec(spec) => std_format(match spec.chars().last() {
            Some('?') => "Debug",
            Some('x') => "LowerHex",
            Some('X') => "UpperHex",
            Some('o') => "Octal",
            Some('b') => "Binary",
            Some('e') => "LowerExp",
            Some('E') => "UpperExp",
            _ => "Display",
        }),
    }
}
