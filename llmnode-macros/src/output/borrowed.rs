//! Fields of an answer that borrow. Refuses only what is certain from the tokens.
//!
//! An answer is read from text that is gone when the call returns, so its fields
//! own what they hold. serde could read a `&str` from a text that lives on, and its
//! error for an output would be about lifetimes of generated code.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use syn::{
    Data, DeriveInput, Error, Fields, GenericArgument, GenericParam, Lifetime, PathArguments, Type,
    TypePath,
};

use crate::diagnostics::Errors;
use crate::generics::{bare, regrouped};
use crate::validate::serde_names::SerdeAttributes;
use crate::validate::tagged::tag_on_non_object;

/// Returns whether any field borrows. The type then loses its lifetimes.
pub(crate) fn check(input: &mut DeriveInput, errors: &mut Errors) -> bool {
    let container = SerdeAttributes::read(&input.attrs);
    let declared: Vec<_> = input
        .generics
        .lifetimes()
        .map(|param| param.lifetime.clone())
        .collect();
    let mut borrows = false;
    match &mut input.data {
        // The type is read by another one, or by a function: what it holds is its
        // own affair.
        _ if container.custom => {}
        Data::Struct(data) => borrows = check_fields(&mut data.fields, &declared, errors),
        Data::Enum(data) => {
            for variant in &mut data.variants {
                let attributes = SerdeAttributes::read(&variant.attrs);
                if !attributes.skip
                    && !attributes.custom
                    && tag_on_non_object(&container, variant).is_none()
                {
                    borrows |= check_fields(&mut variant.fields, &declared, errors);
                }
            }
        }
        Data::Union(_) => {}
    }
    if borrows {
        without_lifetimes(input);
    }
    borrows
}

/// Reported references become `'static`.
fn check_fields(fields: &mut Fields, declared: &[Lifetime], errors: &mut Errors) -> bool {
    let mut any = false;
    for field in fields.iter_mut() {
        let attributes = SerdeAttributes::read(&field.attrs);
        any |=
            !attributes.skip && !attributes.custom && check_type(&mut field.ty, declared, errors);
    }
    any
}

/// `own`: lifetimes that the answer's type declares.
/// Into lists, options, boxes, arrays and tuples. Types of other crates may borrow
/// nothing although they have a lifetime, so only lifetimes of the answer's own are
/// faults.
fn check_type(ty: &mut Type, declared: &[Lifetime], errors: &mut Errors) -> bool {
    match ty {
        Type::Reference(reference) => {
            let instead = match bare(&reference.elem) {
                Type::Path(path) if path.path.is_ident("str") => "`String`",
                Type::Slice(_) => "a `Vec`",
                _ => "the type without `&`",
            };
            let message =
                format!("an answer owns its values, and this field borrows; write {instead}");
            errors.push(Error::new_spanned(&*reference, message));
            reference.lifetime = Some(Lifetime::new("'static", Span::mixed_site()));
            true
        }
        Type::Group(group) => check_type(&mut group.elem, declared, errors),
        Type::Paren(paren) => check_type(&mut paren.elem, declared, errors),
        Type::Array(array) => check_type(&mut array.elem, declared, errors),
        Type::Tuple(tuple) => tuple
            .elems
            .iter_mut()
            .fold(false, |any, ty| check_type(ty, declared, errors) | any),
        Type::Path(path) => {
            if borrows(path, declared) {
                let message = "an answer owns its values, and this field borrows; write `String`, \
                               or another type without a lifetime";
                errors.push(Error::new_spanned(&*path, message));
                return true;
            }
            let Some(last) = path.path.segments.last_mut() else {
                return false;
            };
            let is_container = ["Option", "Vec", "Box"]
                .iter()
                .any(|name| last.ident == name);
            match &mut last.arguments {
                PathArguments::AngleBracketed(arguments) if is_container => arguments
                    .args
                    .iter_mut()
                    .fold(false, |any, argument| match argument {
                        GenericArgument::Type(ty) => check_type(ty, declared, errors) | any,
                        _ => any,
                    }),
                _ => false,
            }
        }
        _ => false,
    }
}

/// Whether one of its arguments is a lifetime of the answer.
fn borrows(path: &TypePath, declared: &[Lifetime]) -> bool {
    let Some(PathArguments::AngleBracketed(arguments)) =
        path.path.segments.last().map(|last| &last.arguments)
    else {
        return false;
    };
    arguments.args.iter().any(|argument| match argument {
        GenericArgument::Lifetime(lifetime) => declared.contains(lifetime),
        _ => false,
    })
}

/// Uses that omit these lifetimes would be further errors.
fn without_lifetimes(input: &mut DeriveInput) {
    let names: Vec<_> = input
        .generics
        .lifetimes()
        .map(|param| param.lifetime.ident.to_string())
        .collect();
    if names.is_empty() {
        return;
    }
    let params = std::mem::take(&mut input.generics.params);
    input.generics.params = params
        .into_iter()
        .filter(|param| !matches!(param, GenericParam::Lifetime(_)))
        .collect();
    let lasting = with_static_lifetimes(input.to_token_stream(), &names);
    if let Ok(lasting) = syn::parse2(lasting) {
        *input = lasting;
    }
}

/// Replaces the lifetimes everywhere in the item, bounds included.
fn with_static_lifetimes(tokens: TokenStream, names: &[String]) -> TokenStream {
    let mut lasting = TokenStream::new();
    let mut is_behind_quote = false;
    for token in tokens {
        let is_quote = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '\'');
        let replaced: TokenTree = match token {
            TokenTree::Ident(name) if is_behind_quote && names.iter().any(|one| name == one) => {
                format_ident!("static", span = name.span()).into()
            }
            TokenTree::Group(group) => {
                regrouped(&group, with_static_lifetimes(group.stream(), names)).into()
            }
            other => other,
        };
        is_behind_quote = is_quote;
        lasting.extend([replaced]);
    }
    lasting
}
