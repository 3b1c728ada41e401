//! Misspelt keys of serde's attributes. serde reports them too, but then the type has no impls, which is a second error
//! wherever it is an output.

use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DeriveInput, Error, Meta, Token, parse_quote};

use crate::diagnostics::{Errors, suggest};

/// All keys of serde 1. Keys that resemble none of them are left to serde.
const KEYS: [&str; 31] = [
    "alias",
    "borrow",
    "bound",
    "content",
    "crate",
    "default",
    "deny_unknown_fields",
    "deserialize_with",
    "expecting",
    "field_identifier",
    "flatten",
    "from",
    "getter",
    "into",
    "non_exhaustive",
    "other",
    "remote",
    "rename",
    "rename_all",
    "rename_all_fields",
    "serialize_with",
    "skip",
    "skip_deserializing",
    "skip_serializing",
    "skip_serializing_if",
    "tag",
    "transparent",
    "try_from",
    "untagged",
    "variant_identifier",
    "with",
];

pub(crate) fn check(input: &mut DeriveInput, errors: &mut Errors) {
    check_attributes(&mut input.attrs, errors);
    match &mut input.data {
        Data::Struct(data) => {
            data.fields.iter_mut().for_each(|field| check_attributes(&mut field.attrs, errors))
        }
        Data::Enum(data) => {
            for variant in &mut data.variants {
                check_attributes(&mut variant.attrs, errors);
                variant.fields.iter_mut().for_each(|field| check_attributes(&mut field.attrs, errors));
            }
        }
        Data::Union(_) => {}
    }
}

fn check_attributes(attributes: &mut [Attribute], errors: &mut Errors) {
    for attribute in attributes.iter_mut().filter(|attribute| attribute.path().is_ident("serde")) {
        let parse = Punctuated::<Meta, Token![,]>::parse_terminated;
        let Ok(arguments) = attribute.parse_args_with(parse) else { continue };
        let count = arguments.len();
        let kept: Vec<_> = arguments.into_iter().filter(|argument| is_known(argument, errors)).collect();
        if kept.len() < count {
            attribute.meta = parse_quote!(serde(#(#kept),*));
        }
    }
}

fn is_known(argument: &Meta, errors: &mut Errors) -> bool {
    let Some(key) = argument.path().get_ident() else { return true };
    let name = key.to_string();
    let near = suggest(&name, KEYS).filter(|near| *near != name);
    if let Some(near) = near {
        errors.push(Error::new(
            key.span(),
            format!("unknown serde attribute `{name}`; did you mean `{near}`?"),
        ));
    }
    near.is_none()
}
