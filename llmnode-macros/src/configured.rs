//! `#[cfg]` and `#[cfg_attr]` inside an item. An attribute macro sees them before they are evaluated, and what it
//! generates depends on their outcome. So the item is written twice, as it is under the first condition and as it is
//! without, each time below the macro itself: the compiler keeps one, and the macro goes on with the next condition.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Fields, FnArg, Generics, ImplItem, Item, LitBool, Meta, Path, Token};

/// `#[node(left_out(field, …))]` on a branch of a node.
const LEFT_OUT: &str = "left_out";

/// Both ways of the item, if a condition stands in it. `name` and `arguments` are those of the macro.
pub(crate) fn branches(
    item: &Item,
    krate: &Path,
    name: &str,
    arguments: &TokenStream,
) -> Option<TokenStream> {
    let mut first = None;
    walk(&mut item.clone(), &mut |attributes, _| {
        first = first.take().or_else(|| attributes.iter().find_map(condition));
        true
    });
    let Conditional { predicate, .. } = first?;
    let name = Ident::new(name, Span::call_site());
    let left_out = Ident::new(LEFT_OUT, Span::mixed_site());
    let branch = |holds: bool| {
        let mut item = item.clone();
        let mut gone = vec![];
        let keeps = walk(&mut item, &mut |attributes, field| {
            let keeps = assume(attributes, &predicate, holds);
            gone.extend(field.filter(|_| !keeps).cloned());
            keeps
        });
        let when = if holds { predicate.clone() } else { quote!(not(#predicate)) };
        // A prompt that names one of them gets an error that says why there is none.
        let gone = (name == "llm_node" && !gone.is_empty()).then(|| quote!(#[node(#left_out(#(#gone),*))]));
        keeps.then(|| quote!(#[cfg(#when)] #[#krate::#name(#arguments)] #gone #item))
    };
    let (with, without) = (branch(true), branch(false));
    Some(quote!(#with #without))
}

/// Whether an expansion is nothing but branches, of which the compiler goes on with one, or with none.
pub(crate) fn are_branches(expansion: &TokenStream) -> bool {
    let attribute = expansion.clone().into_iter().nth(1);
    attribute.is_none_or(|attribute| attribute.to_string().starts_with("[cfg"))
}

/// Takes off what names the fields that a branch of a node is without.
pub(crate) fn take_left_out(attributes: &mut Vec<Attribute>) -> Vec<String> {
    let mut left_out = vec![];
    attributes.retain(|attribute| {
        let names = attribute.path().is_ident("node").then(|| attribute.parse_args_with(left_out_names).ok());
        let Some(names) = names.flatten() else { return true };
        left_out.extend(names.iter().map(|name| name.unraw().to_string()));
        false
    });
    left_out
}

fn left_out_names(input: ParseStream<'_>) -> syn::Result<Punctuated<Ident, Token![,]>> {
    let marker: Ident = input.parse()?;
    if marker != LEFT_OUT {
        return Err(input.error(""));
    }
    let names;
    syn::parenthesized!(names in input);
    names.parse_terminated(Ident::parse_any, Token![,])
}

/// What stands in `#[cfg(…)]` or `#[cfg_attr(…)]`.
pub(crate) struct Conditional {
    pub(crate) predicate: TokenStream,
    /// The attributes of a `cfg_attr`.
    attributes: Punctuated<Meta, Token![,]>,
}

impl Parse for Conditional {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let predicate = match input.parse::<Option<LitBool>>()? {
            Some(literal) => literal.into_token_stream(),
            None => input.parse::<Meta>()?.into_token_stream(),
        };
        let comma: Option<Token![,]> = input.parse()?;
        let attributes = match comma {
            Some(_) => Punctuated::parse_terminated(input)?,
            None => Punctuated::new(),
        };
        Ok(Self { predicate, attributes })
    }
}

/// The condition of an attribute. A malformed one is the compiler's to report.
pub(crate) fn condition(attribute: &Attribute) -> Option<Conditional> {
    let is_cfg = attribute.path().is_ident("cfg");
    if !is_cfg && !attribute.path().is_ident("cfg_attr") {
        return None;
    }
    attribute.parse_args::<Conditional>().ok().filter(|parsed| !is_cfg || parsed.attributes.is_empty())
}

/// The attributes as they are if the predicate holds or does not; tells whether what they stand on is there.
pub(crate) fn assume(attributes: &mut Vec<Attribute>, predicate: &TokenStream, holds: bool) -> bool {
    let predicate = predicate.to_string();
    let mut keeps = true;
    let mut assumed = vec![];
    for attribute in attributes.drain(..) {
        match condition(&attribute) {
            Some(parsed) if parsed.predicate.to_string() == predicate => {
                keeps &= holds || !attribute.path().is_ident("cfg");
                let metas = parsed.attributes.into_iter().filter(|_| holds);
                assumed.extend(metas.map(|meta| Attribute { meta, ..attribute.clone() }));
            }
            _ => assumed.push(attribute),
        }
    }
    *attributes = assumed;
    keeps
}

/// Takes what has attributes, and the name of a field, and tells whether it stays.
type Visit<'v> = dyn FnMut(&mut Vec<Attribute>, Option<&Ident>) -> bool + 'v;

/// Visits all of an item that the macros look at; tells whether the item itself stays.
fn walk(item: &mut Item, visit: &mut Visit<'_>) -> bool {
    let attributes = match item {
        Item::Struct(item) => {
            parameters(&mut item.generics, visit);
            fields(&mut item.fields, visit);
            &mut item.attrs
        }
        Item::Enum(item) => {
            parameters(&mut item.generics, visit);
            retain(&mut item.variants, |variant| {
                fields(&mut variant.fields, visit);
                visit(&mut variant.attrs, None)
            });
            &mut item.attrs
        }
        Item::Impl(block) => {
            parameters(&mut block.generics, visit);
            block.items.retain_mut(|item| member(item, visit));
            &mut block.attrs
        }
        _ => return true,
    };
    visit(attributes, None)
}

fn member(item: &mut ImplItem, visit: &mut Visit<'_>) -> bool {
    match item {
        ImplItem::Fn(method) => {
            parameters(&mut method.sig.generics, visit);
            retain(&mut method.sig.inputs, |input| match input {
                FnArg::Receiver(receiver) => visit(&mut receiver.attrs, None),
                FnArg::Typed(typed) => visit(&mut typed.attrs, None),
            });
            visit(&mut method.attrs, None)
        }
        // What is no validator, the compiler evaluates.
        _ => true,
    }
}

fn fields(fields: &mut Fields, visit: &mut Visit<'_>) {
    let list = match fields {
        Fields::Named(fields) => &mut fields.named,
        Fields::Unnamed(fields) => &mut fields.unnamed,
        Fields::Unit => return,
    };
    retain(list, |field| visit(&mut field.attrs, field.ident.as_ref()));
}

fn parameters(generics: &mut Generics, visit: &mut Visit<'_>) {
    use syn::GenericParam::{Const, Lifetime, Type};
    retain(&mut generics.params, |parameter| match parameter {
        Lifetime(parameter) => visit(&mut parameter.attrs, None),
        Type(parameter) => visit(&mut parameter.attrs, None),
        Const(parameter) => visit(&mut parameter.attrs, None),
    });
}

fn retain<T, P: Default>(list: &mut Punctuated<T, P>, mut keeps: impl FnMut(&mut T) -> bool) {
    *list = std::mem::take(list).into_iter().filter_map(|mut one| keeps(&mut one).then_some(one)).collect();
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::are_branches;
    use crate::node::expand;

    #[test]
    fn branches_are_told_from_what_is_compiled() {
        let prompt = || quote!(prompt = "{a}");
        for conditional in [
            quote!(
                struct A {
                    #[cfg(b)]
                    a: u8,
                }
            ),
            quote!(
                #[cfg_attr(b, derive(C))]
                struct A {
                    a: u8,
                }
            ),
            quote!(
                #[doc = "d"]
                #[cfg(b)]
                struct A {
                    a: u8,
                }
            ),
        ] {
            assert!(are_branches(&expand(prompt(), conditional)));
        }
        for plain in [
            quote!(
                struct A {
                    a: u8,
                }
            ),
            quote!(
                #[doc = "d"]
                struct A {
                    a: u8,
                }
            ),
        ] {
            assert!(!are_branches(&expand(prompt(), plain)));
        }
    }
}
