//! Dates, money and ids of other crates, whose schemas come with a feature of llmnode.
//!
//! Without the feature, the derive of `JsonSchema` would list all types that have a
//! schema. So such a type, known by its name, lends its schema through a wrapper
//! whose bound says which feature is missing. A type of the program that has such a
//! name has a schema of its own, and lends that.

use proc_macro2::Span;
use quote::{ToTokens, quote};
use syn::{
    Attribute, Data, DeriveInput, Field, GenericArgument, Generics, LitStr, Path, PathArguments,
    Type, parse_quote,
};

use crate::generics::mentions_parameter;
use crate::validate::serde_names::SerdeAttributes;

/// Types of `chrono`, `jiff`, `time`, `rust_decimal`, `url` and `uuid`.
const NAMES: [&str; 13] = [
    "Date",
    "DateTime",
    "Decimal",
    "NaiveDate",
    "NaiveDateTime",
    "NaiveTime",
    "SignedDuration",
    "Span",
    "Time",
    "Timestamp",
    "Url",
    "Uuid",
    "Zoned",
];

/// Adds `#[schemars(with = ..)]` to the fields that hold such a type, in whatever
/// it is wrapped.
pub(crate) fn lend_schemas(input: &mut DeriveInput, krate: &Path) {
    let generics = input.generics.clone();
    let fields: Vec<&mut Field> = match &mut input.data {
        Data::Struct(data) => data.fields.iter_mut().collect(),
        Data::Enum(data) => data
            .variants
            .iter_mut()
            .flat_map(|variant| &mut variant.fields)
            .collect(),
        Data::Union(_) => vec![],
    };
    for field in fields {
        let lent = lent(field, &generics, krate);
        field.attrs.extend(lent);
    }
}

/// Fields with attributes of their own say how they are read; a generic field's
/// type is not known here.
fn lent(field: &Field, generics: &Generics, krate: &Path) -> Option<Attribute> {
    let read = SerdeAttributes::read(&field.attrs);
    if read.custom || read.skip || read.flatten || mentions_parameter(&field.ty, generics) {
        return None;
    }
    let mut ty = field.ty.clone();
    let span = wrap(&mut ty, krate)?;
    let written = LitStr::new(&ty.to_token_stream().to_string(), span);
    Some(parse_quote!(#[schemars(with = #written)]))
}

/// Where the first such type stands, if there is one.
fn wrap(ty: &mut Type, krate: &Path) -> Option<Span> {
    match ty {
        Type::Group(group) => wrap(&mut group.elem, krate),
        Type::Paren(paren) => wrap(&mut paren.elem, krate),
        Type::Array(array) => wrap(&mut array.elem, krate),
        Type::Tuple(tuple) => {
            // Collected, since all have to be wrapped and not only up to the first.
            let found: Vec<_> = tuple
                .elems
                .iter_mut()
                .filter_map(|one| wrap(one, krate))
                .collect();
            found.into_iter().next()
        }
        Type::Path(path) => {
            // The path is resolved once more from the text, and an unknown crate is then one error with that of the field.
            let span = path.path.segments.first()?.ident.span();
            let last = path.path.segments.last_mut()?;
            if path.qself.is_none() && NAMES.iter().any(|name| last.ident == name) {
                let inner = quote!(#path);
                *ty = parse_quote!(#krate::__private::Foreign<#inner>);
                return Some(span);
            }
            let PathArguments::AngleBracketed(arguments) = &mut last.arguments else {
                return None;
            };
            let found: Vec<_> = arguments
                .args
                .iter_mut()
                .filter_map(|one| wrap_argument(one, krate))
                .collect();
            found.into_iter().next()
        }
        _ => None,
    }
}

/// `Vec<Date>` lends the schema of a list.
fn wrap_argument(argument: &mut GenericArgument, krate: &Path) -> Option<Span> {
    match argument {
        GenericArgument::Type(ty) => wrap(ty, krate),
        _ => None,
    }
}
