//! `#[cfg]` and `#[cfg_attr]` inside an item. A macro sees them before they are evaluated, and what it generates depends on
//! them. So it writes the item twice, below `#[cfg(P)]` and below `#[cfg(not(P))]`, each without what the other build has, and
//! each with the macro's own attribute: the compiler strips one, and the macro meets the other with one condition less.
//!
//! Derives would see an item that is already stripped, but they cannot stand on an impl block or a function.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Error, Fields, FnArg, GenericParam, Generics, ImplItem, Item, LitBool, Meta,
    MetaList,
};
use syn::{Signature, Token};

use crate::crate_path;

/// What a `#[cfg_attr]` may add that a macro reads.
const READ: [&str; 7] = [
    "cfg", "cfg_attr", "doc", "node", "prep", "schemars", "serde",
];

/// The item once for each build, if it differs.
pub(crate) fn split(name: &str, arguments: &TokenStream, item: &Item) -> Option<TokenStream> {
    let mut first = None;
    walk(&mut item.clone(), &mut |attributes| {
        first = first.take().or_else(|| attributes.iter().find_map(read));
        true
    });
    let base = first?.base;
    let krate = crate_path::written(arguments);
    let name = format_ident!("{name}");
    let arguments = (!arguments.is_empty()).then(|| quote!((#arguments)));
    let [with, without] = [true, false].map(|holds| resolved(item.clone(), &base, holds));
    Some(quote! {
        #[cfg(#base)]
        #[#krate::#name #arguments]
        #with
        #[cfg(not(#base))]
        #[#krate::#name #arguments]
        #without
    })
}

fn resolved(mut item: Item, base: &TokenStream, holds: bool) -> Item {
    let base = base.to_string();
    walk(&mut item, &mut |attributes| {
        let mut is_there = true;
        let mut kept = vec![];
        for attribute in attributes.drain(..) {
            match read(&attribute).filter(|condition| condition.base.to_string() == base) {
                None => kept.push(attribute),
                Some(condition) if condition.adds.is_empty() => {
                    is_there &= condition.negated != holds
                }
                Some(condition) if condition.negated == holds => {}
                Some(condition) => {
                    kept.extend(condition.adds.into_iter().map(|meta| Attribute {
                        meta,
                        ..attribute.clone()
                    }));
                }
            }
        }
        *attributes = kept;
        is_there
    });
    item
}

/// `None` for a malformed condition, which the compiler reports, and for one that changes nothing here.
fn read(attribute: &Attribute) -> Option<Condition> {
    let is_cfg = attribute.path().is_ident("cfg");
    if !is_cfg && !attribute.path().is_ident("cfg_attr") {
        return None;
    }
    let condition: Condition = attribute.parse_args().ok()?;
    let counts = if is_cfg {
        condition.adds.is_empty()
    } else {
        condition
            .adds
            .iter()
            .any(|meta: &Meta| READ.iter().any(|name| meta.path().is_ident(name)))
    };
    counts.then_some(condition)
}

/// Of a part of a flow, which is not written twice.
pub(crate) fn refusal(attribute: &Attribute, inside: &str, by: &str) -> Option<Error> {
    let Condition { base, negated, .. } = read(attribute)?;
    let name = attribute.path().to_token_stream();
    let thing = inside.rsplit(' ').next().unwrap_or_default();
    let this = quote!(#base);
    let other = quote!(not(#base));
    let (this, other) = if negated {
        (other, this)
    } else {
        (this, other)
    };
    let message = format!(
        "`#[{name}]` inside {inside} is not evaluated when `{by}` sees it; write one {thing} below `#[cfg({this})]` and another below `#[cfg({other})]`"
    );
    Some(Error::new_spanned(attribute.path(), message))
}

/// `not(base)` or `base`, and what a `#[cfg_attr]` adds.
struct Condition {
    base: TokenStream,
    negated: bool,
    adds: Punctuated<Meta, Token![,]>,
}

impl Parse for Condition {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut base = match input.parse::<Option<LitBool>>()? {
            Some(literal) => literal.into_token_stream(),
            None => input.parse::<Meta>()?.into_token_stream(),
        };
        let mut negated = false;
        while let Ok(not) = syn::parse2::<MetaList>(base.clone())
            && not.path.is_ident("not")
        {
            (base, negated) = (not.tokens, !negated);
        }
        let comma: Option<Token![,]> = input.parse()?;
        let adds = match comma {
            Some(_) => Punctuated::parse_terminated(input)?,
            None => Punctuated::new(),
        };
        Ok(Self {
            base,
            negated,
            adds,
        })
    }
}

/// Answers whether what has the attributes stays.
type Visit<'v> = dyn FnMut(&mut Vec<Attribute>) -> bool + 'v;

fn walk(item: &mut Item, visit: &mut Visit<'_>) {
    match item {
        Item::Struct(item) => {
            parameters(&mut item.generics, visit);
            fields(&mut item.fields, visit);
        }
        Item::Enum(item) => {
            parameters(&mut item.generics, visit);
            item.variants = retained(&mut item.variants, |variant| {
                fields(&mut variant.fields, visit);
                visit(&mut variant.attrs)
            });
        }
        Item::Fn(function) => signature(&mut function.sig, visit),
        Item::Impl(block) => {
            parameters(&mut block.generics, visit);
            // Members that cannot be validators may have conditions.
            block.items.retain_mut(|member| match member {
                ImplItem::Fn(method) => {
                    signature(&mut method.sig, visit);
                    visit(&mut method.attrs)
                }
                _ => true,
            });
        }
        _ => {}
    }
}

fn signature(signature: &mut Signature, visit: &mut Visit<'_>) {
    parameters(&mut signature.generics, visit);
    signature.inputs = retained(&mut signature.inputs, |input| match input {
        FnArg::Receiver(receiver) => visit(&mut receiver.attrs),
        FnArg::Typed(typed) => visit(&mut typed.attrs),
    });
}

fn fields(fields: &mut Fields, visit: &mut Visit<'_>) {
    let list = match fields {
        Fields::Named(fields) => &mut fields.named,
        Fields::Unnamed(fields) => &mut fields.unnamed,
        Fields::Unit => return,
    };
    *list = retained(list, |field| visit(&mut field.attrs));
}

fn parameters(generics: &mut Generics, visit: &mut Visit<'_>) {
    generics.params = retained(&mut generics.params, |parameter| {
        visit(match parameter {
            GenericParam::Lifetime(parameter) => &mut parameter.attrs,
            GenericParam::Type(parameter) => &mut parameter.attrs,
            GenericParam::Const(parameter) => &mut parameter.attrs,
        })
    });
}

fn retained<T>(
    list: &mut Punctuated<T, Token![,]>,
    mut stays: impl FnMut(&mut T) -> bool,
) -> Punctuated<T, Token![,]> {
    let all = std::mem::take(list).into_iter();
    all.filter_map(|mut one| stays(&mut one).then_some(one))
        .collect()
}
