//! `#[step]`: a step written by hand in one impl, whose items go to the traits that they belong to.
//!
//! A step is a node that runs and then decides, so the runtime has three traits for
//! it: `Node` (output and name), `Exec` (the work), `Step` (before and after). By
//! hand that is three impls, with types named several times. The attribute takes
//! one impl in which all items stand side by side, and sorts them by their names.
//! What is left out gets a default that does nothing; what may not be left out is
//! reported by the compiler.
//!
//! Items stay the user's tokens, but for `Self::Output`: it is the node's in an
//! impl of `Node`, and ambiguous in one of `Step`, which has a type of that name.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    AngleBracketedGenericArguments, Error, GenericArgument, GenericParam, Generics, ImplItem, Item,
    ItemImpl, Path, PathArguments, PathSegment, ReturnType, Type, TypePath, parse_quote,
};

use crate::diagnostics::Errors;
use crate::generics::{is_named, last_name, mentions, regrouped};
use crate::macro_args::{Grammar, parse_arguments};
use crate::names::snake_case;
use crate::{crate_path, item};

const WANTED: &str = "`#[step]` goes on `impl Step<World> for Node`, or on one of `BatchStep`, \
                      with those of `prep`, `exec` and `post` that the node needs";

/// `impl Step<State> for Node` or one of `BatchStep`; another trait is left as it
/// is.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let parsed = match item::parse(item) {
        Ok(parsed) => parsed,
        Err(answer) => return answer,
    };
    let mut errors = Errors::default();
    let mut krate = None;
    parse_arguments(
        arguments,
        &Grammar::of_values("step", &["crate"]),
        &mut errors,
        |key, input| crate_path::parse(input, key, &mut krate),
    );
    let impls = match parsed {
        Item::Impl(written) => match state(&written) {
            Some(state) => impls(&written, &state, &crate_path::resolve(&krate)),
            None => {
                errors.push(Error::new_spanned(written.impl_token, WANTED));
                quote!(#written)
            }
        },
        other => {
            errors.push(item::wrong_item_kind(WANTED, &other));
            quote!(#other)
        }
    };
    quote!(#impls #errors)
}

/// The trait's argument with its brackets, for the impls of the other traits.
fn state(written: &ItemImpl) -> Option<AngleBracketedGenericArguments> {
    let PathSegment { ident, arguments } = written.trait_.as_ref()?.0.segments.last()?;
    match arguments {
        PathArguments::AngleBracketed(state) if ident == "Step" || ident == "BatchStep" => {
            Some(state.clone())
        }
        _ => None,
    }
}

/// Which trait an item belongs to.
enum TraitKind {
    Node,
    Exec,
    Step,
}

/// By its name; an unknown one goes to the step, where the compiler reports it.
fn trait_of(item: &ImplItem) -> TraitKind {
    let name = match item {
        ImplItem::Type(item) => &item.ident,
        ImplItem::Const(item) => &item.ident,
        ImplItem::Fn(item) => &item.sig.ident,
        _ => return TraitKind::Step,
    };
    match name.to_string().as_str() {
        "Output" | "NAME" | "SETTINGS" | "FACTS" | "name" => TraitKind::Node,
        "exec" | "exec_fallback" => TraitKind::Exec,
        _ => TraitKind::Step,
    }
}

/// Three impls with the generics of the one.
fn impls(written: &ItemImpl, state: &AngleBracketedGenericArguments, krate: &Path) -> TokenStream {
    let mut node = written.clone();
    let mut exec = written.clone();
    let mut step = written.clone();
    for written in [&mut node, &mut exec, &mut step] {
        written.items.clear();
        // One impl keeps the docs.
        written
            .attrs
            .retain(|attribute| !attribute.path().is_ident("doc"));
    }
    step.attrs = written.attrs.clone();
    let defaults = default_items(written, state, &quote!(#krate::__private));
    for item in written.items.iter().cloned().chain(defaults) {
        match trait_of(&item) {
            TraitKind::Node => node.items.push(item),
            TraitKind::Exec => exec.items.push(item),
            TraitKind::Step => step.items.push(item),
        }
    }
    if !has(&node, "NAME") {
        let name = snake_case(&type_name(&written.self_ty));
        node.items
            .push(parse_quote!(const NAME: &'static ::core::primitive::str = #name;));
    }
    // `Node` is not for a state: a parameter that is only the state's would be
    // unconstrained.
    node.generics = without_state(&node.generics, &node.self_ty);
    let output_type = quote!(<Self as #krate::__private::Node>::Output);
    let written_output = node.items.iter().find_map(|item| match item {
        ImplItem::Type(item) if item.ident == "Output" => Some(item.ty.to_token_stream()),
        _ => None,
    });
    let ty = written_output.unwrap_or_else(|| output_type.clone());
    step.items = step
        .items
        .iter()
        .map(|item| output_of_node(item, &output_type, &ty))
        .collect();
    step.items.push(parse_quote!(type Output = #output_type;));
    set_trait(&mut node, parse_quote!(#krate::__private::Node));
    set_trait(&mut exec, parse_quote!(#krate::__private::Exec #state));
    quote!(#node #exec #step)
}

/// `Self::Output` becomes the node's: the step has a type of that name. `ty`: for a
/// pattern or a struct expression. Parsed anew after the replacement; an item that
/// does not parse stays.
fn output_of_node(item: &ImplItem, output_type: &TokenStream, ty: &TokenStream) -> ImplItem {
    syn::parse2(replace_self_output(item.to_token_stream(), output_type, ty))
        .unwrap_or_else(|_| item.clone())
}

/// `made`: the tokens so far. In front of a brace stands the type itself, as an
/// associated type cannot begin a struct expression.
fn replace_self_output(
    tokens: TokenStream,
    output_type: &TokenStream,
    ty: &TokenStream,
) -> TokenStream {
    let mut tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for token in &mut tokens {
        if let TokenTree::Group(group) = token {
            *group = regrouped(group, replace_self_output(group.stream(), output_type, ty));
        }
    }
    let mut replaced = TokenStream::new();
    let mut rest = tokens.as_slice();
    while let Some(first) = rest.first() {
        let length = [
            &["Self", ":", ":", "Output"][..],
            &["<", "Self", ">", ":", ":", "Output"],
        ]
        .into_iter()
        .find(|texts| begins_with(rest, texts))
        .map_or(0, <[_]>::len);
        if length == 0 {
            replaced.extend([first.clone()]);
            rest = &rest[1..];
            continue;
        }
        rest = &rest[length..];
        let is_literal = match rest.first() {
            Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Brace,
            _ => false,
        };
        replaced.extend(if is_literal {
            ty.clone()
        } else {
            output_type.clone()
        });
    }
    replaced
}

/// Whether the tokens begin with these.
fn begins_with(tokens: &[TokenTree], texts: &[&str]) -> bool {
    let Some(beginning) = tokens.get(..texts.len()) else {
        return false;
    };
    let mut pairs = beginning.iter().zip(texts);
    pairs.all(|(token, text)| token.to_string() == **text)
}

/// Whether the impl has an item of the name.
fn has(written: &ItemImpl, name: &str) -> bool {
    written.items.iter().any(|item| match item {
        ImplItem::Const(item) => item.ident == name,
        ImplItem::Type(item) => item.ident == name,
        ImplItem::Fn(item) => item.sig.ident == name,
        _ => false,
    })
}

/// The compiler reports items that may not be left out: an `exec` with an output, a
/// `post` with an `Action`. A `prep` by `Default`, an `exec` without work, a `post`
/// without a decision. A batch needs a `prep`: an empty list would be no default.
fn default_items(
    written: &ItemImpl,
    state: &AngleBracketedGenericArguments,
    private: &TokenStream,
) -> Vec<ImplItem> {
    let state = &state.args;
    let node = &written.self_ty;
    let batch = written
        .trait_
        .as_ref()
        .is_some_and(|(path, _)| is_named(path, "BatchStep"));
    let mut parts: Vec<ImplItem> = vec![];
    if !has(written, "prep") && !batch {
        let default = quote_spanned!(node.span()=> <Self as ::core::default::Default>::default());
        parts.push(parse_quote!(
            async fn prep(_: &#state) -> #private::Prepared<Self> {
                ::core::result::Result::Ok(#default)
            }
        ));
    }
    if !has(written, "exec") && !has(written, "Output") {
        parts.push(parse_quote!(
            type Output = ();
        ));
        parts.push(parse_quote!(
            async fn exec(&self, _: &#private::Cx<'_, #state>) -> #private::Yield<Self> {
                ::core::result::Result::Ok(())
            }
        ));
    }
    if has(written, "Action") {
        return parts;
    }
    let action = returned_by_post(written).unwrap_or_else(|| parse_quote!(()));
    parts.push(parse_quote!(
        type Action = #action;
    ));
    if !has(written, "post") {
        let (receiver, outputs) = if batch {
            (
                quote!(_: ::std::vec::Vec<Self>),
                quote!(::std::vec::Vec<<Self as #private::Node>::Output>),
            )
        } else {
            (quote!(self), quote!(<Self as #private::Node>::Output))
        };
        parts.push(parse_quote!(
            fn post(#receiver, _: #outputs, _: &mut #state) -> #private::Posted<Self::Action> {
                ::core::result::Result::Ok(())
            }
        ));
    }
    parts
}

/// The action, as the first argument of the `Result` that `post` returns.
fn returned_by_post(written: &ItemImpl) -> Option<Type> {
    let post = written.items.iter().find_map(|item| match item {
        ImplItem::Fn(item) if item.sig.ident == "post" => Some(item),
        _ => None,
    })?;
    let ReturnType::Type(_, returned) = &post.sig.output else {
        return None;
    };
    let Type::Path(TypePath { path, .. }) = &**returned else {
        return None;
    };
    let PathSegment {
        ident,
        arguments: PathArguments::AngleBracketed(arguments),
    } = path.segments.last()?
    else {
        return None;
    };
    match arguments.args.first()? {
        GenericArgument::Type(action) if ident == "Result" => Some(action.clone()),
        _ => None,
    }
}

/// The trait that the impl is of; its other parts stay.
fn set_trait(written: &mut ItemImpl, path: Path) {
    if let Some((of, _)) = &mut written.trait_ {
        *of = path;
    }
}

fn type_name(ty: &Type) -> String {
    last_name(ty).map_or_else(|| ty.to_token_stream().to_string(), ToString::to_string)
}

/// Without the parameters that the node's type does not mention, and without bounds
/// on them.
fn without_state(generics: &Generics, node: &Type) -> Generics {
    let mut kept = generics.clone();
    let mut of_node = syn::punctuated::Punctuated::new();
    let mut left = vec![];
    for param in std::mem::take(&mut kept.params) {
        let name = match &param {
            GenericParam::Type(param) => &param.ident,
            GenericParam::Const(param) => &param.ident,
            GenericParam::Lifetime(param) => &param.lifetime.ident,
        };
        if mentions(node.to_token_stream(), &|found| found == name) {
            of_node.push(param);
        } else {
            left.push(name.clone());
        }
    }
    kept.params = of_node;
    if let Some(clause) = &mut kept.where_clause {
        let bounds = std::mem::take(&mut clause.predicates);
        clause.predicates = bounds
            .into_iter()
            .filter(|bound: &syn::WherePredicate| {
                !mentions(bound.to_token_stream(), &|found| left.contains(found))
            })
            .collect();
    }
    kept
}
