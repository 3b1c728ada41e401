//! The generics of the generated impls: the struct's own, the bounds that its prompts require, and the state.

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

pub(crate) fn node_generics(model: &NodeModel<'_>) -> Generics {
    let mut generics = model.item.generics.clone();
    require_sync(&mut generics);
    let bounds = prompt_bounds(model);
    if !bounds.is_empty() {
        generics.make_where_clause().predicates.extend(bounds);
    }
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
        if model.args.examples.is_some() {
            generics
                .make_where_clause()
                .predicates
                .push(parse_quote!(#output: #private::ExampleOutput));
        }
    }
    (state, generics)
}

fn generic_output<'a>(model: &'a NodeModel<'_>) -> Option<&'a Type> {
    model
        .output
        .filter(|output| mentions_parameter(output, &model.item.generics))
}

/// For fields whose type mentions a parameter; the trait depends on how the prompts format the field.
fn prompt_bounds(model: &NodeModel<'_>) -> Vec<WherePredicate> {
    let bound = |ty: &Type, required_trait: TokenStream| {
        mentions_parameter(ty, &model.item.generics).then(|| parse_quote!(#ty: #required_trait))
    };
    let of_part = |part: &Part| match part {
        Part::Value {
            origin: ValueOrigin::Field(field),
            format,
        } => bound(field_type(model, field)?, required_trait(format)),
        _ => None,
    };
    let of_history = model
        .history
        .and_then(|field| bound(&field.ty, private_trait("PromptHistory")));
    let of_model = model
        .held_model
        .and_then(|field| bound(&field.ty, private_trait("ChatModel")));
    model
        .system
        .iter()
        .chain(&model.prompt)
        .filter_map(of_part)
        .chain(of_history)
        .chain(of_model)
        .collect()
}

fn private_trait(name: &str) -> TokenStream {
    let name = Ident::new(name, Span::mixed_site());
    let private = crate_path::private();
    quote!(#private::#name)
}

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

fn std_format(name: &str) -> TokenStream {
    let name = Ident::new(name, Span::mixed_site());
    quote!(::core::fmt::#name)
}

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
