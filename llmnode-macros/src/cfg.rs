//! `#[cfg]` and `#[cfg_attr]` inside an item. A macro sees them before they are
//! evaluated, and what it generates depends on them. So it writes the item twice,
//! below `#[cfg(P)]` and below `#[cfg(not(P))]`, each without what the other build
//! has, and each with the macro's own attribute: the compiler strips one, and the
//! macro meets the other with one condition less.
//!
//! Derives would see an item that is already stripped, but they cannot stand on an
//! impl block or a function.
//!
//! The order matters: this is the first thing that a macro does with an item,
//! before arguments are parsed. Each copy has one condition less, so the number of
//! expansions is two to the power of the *different* conditions in the item, which
//! are few. Conditions that are the negation of each other count as one.
//!
//! Flows are the exception: `flow!` is no attribute, its tokens are no item that
//! could be written twice with one part less, so `refusal` says what to write in
//! its place.

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
    // The first condition in the item is the one that is decided in this expansion.
    let mut first = None;
    walk(&mut item.clone(), &mut |attributes| {
        first = first.take().or_else(|| attributes.iter().find_map(read));
        true
    });
    let base = first?.base;
    // The arguments are not parsed yet. Of them only the path of the crate is
    // needed, since the copies name the macro by it: `llm_node` may be imported by
    // another name.
    let krate = crate_path::written(arguments);
    let name = format_ident!("{name}");
    let arguments = (!arguments.is_empty()).then(|| quote!((#arguments)));
    // Two copies: in the first, the condition holds.
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

/// The item as the compiler would see it if `base` were true (`holds`), or false.
/// Other conditions stay, and are met by the next expansion.
fn resolved(mut item: Item, base: &TokenStream, holds: bool) -> Item {
    let base = base.to_string();
    walk(&mut item, &mut |attributes| {
        // An attribute is one of three: of another condition (kept), a `cfg`
        // (decides whether its owner stays), or a `cfg_attr` (replaced by what it
        // adds, or dropped).
        let mut is_there = true;
        let mut kept = vec![];
        for attribute in attributes.drain(..) {
            // Conditions are compared as texts: there is no equality of tokens, and
            // the same condition is written the same way nearly always. If not, it
            // costs one more expansion, nothing else.
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

/// `None` for a malformed condition, which the compiler reports, and for one that
/// changes nothing here.
fn read(attribute: &Attribute) -> Option<Condition> {
    let is_cfg = attribute.path().is_ident("cfg");
    if !is_cfg && !attribute.path().is_ident("cfg_attr") {
        return None;
    }
    let condition: Condition = attribute.parse_args().ok()?;
    // A `cfg_attr` that adds an attribute no macro reads changes nothing in the
    // expansion, so the compiler may evaluate it afterwards. Otherwise every
    // `cfg_attr(test, derive(..))` would double the item.
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
    // The message calls the part by its last word: "an arm of a flow" becomes
    // "flow".
    let thing = inside.rsplit(' ').next().unwrap_or_default();
    let this = quote!(#base);
    let other = quote!(not(#base));
    let (this, other) = if negated {
        (other, this)
    } else {
        (this, other)
    };
    let message = format!(
        "`#[{name}]` inside {inside} is not evaluated when `{by}` sees it; write one {thing} below \
         `#[cfg({this})]` and another below `#[cfg({other})]`"
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
        // `not(not(x))` is `x`. Reduced to its base, a condition and its negation
        // are recognised as the same decision.
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

/// Calls `visit` for the attributes of all that a condition may take away within an
/// item. The item's own attributes are left out: the compiler evaluates those
/// before it calls the macro.
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

/// `Punctuated` has no `retain`, since it would not know what to do with the
/// separators; the list is built anew with those that stay.
fn retained<T>(
    list: &mut Punctuated<T, Token![,]>,
    mut stays: impl FnMut(&mut T) -> bool,
) -> Punctuated<T, Token![,]> {
    let all = std::mem::take(list).into_iter();
    all.filter_map(|mut one| stays(&mut one).then_some(one))
        .collect()
}
