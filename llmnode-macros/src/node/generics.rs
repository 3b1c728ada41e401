//! The generics of the generated impls: the struct's own, the bounds its use as a prompt asks for, and the state.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{GenericParam, Generics, Lifetime, LifetimeParam, Path, Type, WherePredicate, parse_quote};

use super::model::{NodeModel, Part, Place};
use crate::prompt::template::Format;

/// A type parameter that none of `generics` is called.
pub(crate) fn fresh(name: &str, generics: &Generics) -> Ident {
    let mut fresh = Ident::new(name, Span::mixed_site());
    while generics.type_params().any(|param| param.ident == fresh)
        || generics.const_params().any(|param| param.ident == fresh)
    {
        fresh = format_ident!("{fresh}_");
    }
    fresh
}

/// A node can be sent and shared; of a generic one this depends on its parameters.
pub(crate) fn sendable(generics: &mut Generics) {
    if generics.type_params().next().is_some() {
        let predicate = parse_quote!(Self: ::core::marker::Send + ::core::marker::Sync);
        generics.make_where_clause().predicates.push(predicate);
    }
}

/// The struct's generics with what the node needs of its parameters.
pub(crate) fn of_node(model: &NodeModel<'_>) -> Generics {
    let mut generics = model.item.generics.clone();
    sendable(&mut generics);
    let bounds = prompt_bounds(model);
    if !bounds.is_empty() {
        generics.make_where_clause().predicates.extend(bounds);
    }
    if let Some(output) =
        model.output.as_ref().filter(|output| mentions_parameter(output, &model.item.generics))
    {
        let krate = &model.krate;
        generics.make_where_clause().predicates.push(parse_quote!(#output: #krate::__private::LlmOutput));
    }
    generics
}

/// The state of a node: its type and the generics with what the type adds to them.
pub(crate) fn with_state(model: &NodeModel<'_>, mut generics: Generics) -> (Type, Generics) {
    let Some(state) = &model.state else {
        let any_state = fresh("AnyState", &generics);
        generics.params.push(parse_quote!(#any_state: ?::core::marker::Sized + ::core::marker::Sync));
        return (parse_quote!(#any_state), generics);
    };
    let lifetime = fresh_lifetime(&generics);
    let mut replaced = false;
    let named = name_lifetimes(state.to_token_stream(), &lifetime, &mut replaced);
    if replaced {
        generics.params.insert(0, GenericParam::Lifetime(LifetimeParam::new(lifetime)));
    }
    (syn::parse2(named).unwrap_or_else(|_| state.clone()), generics)
}

/// Whether a type mentions a type parameter of `generics`, or `Self`.
pub(crate) fn mentions_parameter(ty: &Type, generics: &Generics) -> bool {
    mentions(ty.to_token_stream(), &|ident| {
        ident == "Self" || generics.type_params().any(|param| param.ident == *ident)
    })
}

fn mentions(tokens: TokenStream, wanted: &dyn Fn(&Ident) -> bool) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => wanted(&ident),
        TokenTree::Group(group) => mentions(group.stream(), wanted),
        _ => false,
    })
}

fn fresh_lifetime(generics: &Generics) -> Lifetime {
    let mut name = "'state".to_owned();
    while generics.lifetimes().any(|param| param.lifetime.to_string() == name) {
        name.push('_');
    }
    Lifetime::new(&name, Span::mixed_site())
}

/// Replaces `'_`: the type is also written where an anonymous lifetime is not allowed.
fn name_lifetimes(tokens: TokenStream, name: &Lifetime, replaced: &mut bool) -> TokenStream {
    let mut named = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(quote) if quote.as_char() == '\'' => match tokens.peek() {
                Some(TokenTree::Ident(ident)) if ident == "_" => {
                    tokens.next();
                    *replaced = true;
                    named.extend(name.to_token_stream());
                }
                _ => named.extend([TokenTree::Punct(quote)]),
            },
            TokenTree::Group(group) => {
                let stream = name_lifetimes(group.stream(), name, replaced);
                named.extend([TokenTree::Group(proc_macro2::Group::new(group.delimiter(), stream))]);
            }
            other => named.extend([other]),
        }
    }
    named
}

/// `FieldType: PromptValue` for each field whose type mentions a parameter, by how the prompts write it.
fn prompt_bounds(model: &NodeModel<'_>) -> Vec<WherePredicate> {
    let bound = |part: &Part| {
        let Part::Value { place: Place::Field(field), format } = part else { return None };
        let ty = field_type(model, field)?;
        let needed = needed(&model.krate, format);
        mentions_parameter(ty, &model.item.generics).then(|| parse_quote!(#ty: #needed))
    };
    model.system.iter().chain(&model.prompt).filter_map(bound).collect()
}

/// The type of a field of the node.
pub(crate) fn field_type<'a>(model: &NodeModel<'a>, name: &Ident) -> Option<&'a Type> {
    let mut fields = model.item.fields.iter();
    fields.find(|field| field.ident.as_ref() == Some(name)).map(|field| &field.ty)
}

fn needed(krate: &Path, format: &Format) -> TokenStream {
    let of_llmnode = |name: &str| {
        let name = Ident::new(name, Span::mixed_site());
        quote!(#krate::__private::#name)
    };
    let of_std = |name: &str| {
        let name = Ident::new(name, Span::mixed_site());
        quote!(::core::fmt::#name)
    };
    match format {
        Format::Plain => of_llmnode("PromptValue"),
        Format::List => of_llmnode("PromptList"),
        Format::Json => of_llmnode("PromptJson"),
        Format::Or(_) => of_llmnode("PromptOption"),
        Format::Spec(spec) => of_std(match spec.chars().last() {
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
