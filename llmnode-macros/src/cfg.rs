//! `#[cfg]` and `#[cfg_attr]` inside an item. A macro sees them before they are evaluated, so nothing that it generates
//! can depend on them. Those on the item itself are evaluated first.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DataStruct, DeriveInput, Error, Fields, FnArg, GenericParam, Generics, ImplItem};
use syn::{Item, LitBool, Meta, MetaList, Token};

use crate::diagnostics::Errors;

const READ: [&str; 6] = ["cfg", "cfg_attr", "node", "prep", "schemars", "serde"];

/// Reports only the first condition; returns whether there was one.
pub(crate) fn refuse(item: &mut Item, name: &str, errors: &mut Errors) -> bool {
    let mut first = None;
    walk(item, &mut |attributes| {
        attributes.retain(|attribute| {
            let Some(error) = refusal(attribute, "an item", &format!("#[{name}]")) else { return true };
            first.get_or_insert(error);
            // A `cfg_attr` may add the macros' own attributes, which the compiler does not know.
            attribute.path().is_ident("cfg")
        });
    });
    let Some(error) = first else { return false };
    errors.push(error);
    true
}

/// `None` for a malformed condition, which the compiler reports.
pub(crate) fn refusal(attribute: &Attribute, inside: &str, by: &str) -> Option<Error> {
    let is_cfg = attribute.path().is_ident("cfg");
    if !is_cfg && !attribute.path().is_ident("cfg_attr") {
        return None;
    }
    let Condition { predicate, adds } = attribute.parse_args().ok()?;
    let reads = |meta: &Meta| READ.iter().any(|name| meta.path().is_ident(name));
    if is_cfg != adds.is_empty() || !is_cfg && !adds.iter().any(reads) {
        return None;
    }
    let name = attribute.path().to_token_stream();
    let thing = inside.rsplit(' ').next().unwrap_or_default();
    let otherwise = match syn::parse2::<MetaList>(predicate.clone()) {
        Ok(negated) if negated.path.is_ident("not") => negated.tokens,
        _ => quote!(not(#predicate)),
    };
    let message = format!(
        "`#[{name}]` inside {inside} is not evaluated when `{by}` sees it; write one {thing} below `#[cfg({predicate})]` and another below `#[cfg({otherwise})]`"
    );
    Some(Error::new_spanned(attribute.path(), message))
}

/// Without fields, the generated impls compile under any configuration.
pub(crate) fn without_fields(input: &DeriveInput) -> DeriveInput {
    let data = Data::Struct(DataStruct {
        struct_token: Token![struct](input.ident.span()),
        fields: Fields::Unit,
        semi_token: None,
    });
    DeriveInput { attrs: vec![], data, ..input.clone() }
}

struct Condition {
    predicate: TokenStream,
    adds: Punctuated<Meta, Token![,]>,
}

impl Parse for Condition {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let predicate = match input.parse::<Option<LitBool>>()? {
            Some(literal) => literal.into_token_stream(),
            None => input.parse::<Meta>()?.into_token_stream(),
        };
        let comma: Option<Token![,]> = input.parse()?;
        let adds = match comma {
            Some(_) => Punctuated::parse_terminated(input)?,
            None => Punctuated::new(),
        };
        Ok(Self { predicate, adds })
    }
}

type Visit<'v> = dyn FnMut(&mut Vec<Attribute>) + 'v;

fn walk(item: &mut Item, visit: &mut Visit<'_>) {
    match item {
        Item::Struct(item) => {
            parameters(&mut item.generics, visit);
            fields(&mut item.fields, visit);
        }
        Item::Enum(item) => {
            parameters(&mut item.generics, visit);
            for variant in &mut item.variants {
                visit(&mut variant.attrs);
                fields(&mut variant.fields, visit);
            }
        }
        Item::Impl(block) => {
            parameters(&mut block.generics, visit);
            for member in &mut block.items {
                // Members that cannot be validators may have conditions.
                let ImplItem::Fn(method) = member else { continue };
                visit(&mut method.attrs);
                parameters(&mut method.sig.generics, visit);
                for input in &mut method.sig.inputs {
                    match input {
                        FnArg::Receiver(receiver) => visit(&mut receiver.attrs),
                        FnArg::Typed(typed) => visit(&mut typed.attrs),
                    }
                }
            }
        }
        _ => {}
    }
}

fn fields(fields: &mut Fields, visit: &mut Visit<'_>) {
    fields.iter_mut().for_each(|field| visit(&mut field.attrs));
}

fn parameters(generics: &mut Generics, visit: &mut Visit<'_>) {
    for parameter in &mut generics.params {
        visit(match parameter {
            GenericParam::Lifetime(parameter) => &mut parameter.attrs,
            GenericParam::Type(parameter) => &mut parameter.attrs,
            GenericParam::Const(parameter) => &mut parameter.attrs,
        });
    }
}
