//! Fields that no answer fills: those that borrow, and bare values beside a tag. Only what the tokens say for sure is
//! refused.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use syn::{
    Data, DeriveInput, Error, Field, Fields, GenericArgument, GenericParam, Lifetime, PathArguments, Type,
    Variant,
};

use crate::diagnostics::Errors;
use crate::generics::{bare, last_name};
use crate::validate::fields::is_plain;
use crate::validate::serde_names::SerdeAttributes;

/// Reports such fields. Whether one borrows: the type then owns its lifetimes, and it cannot be read.
pub(crate) fn check(input: &mut DeriveInput, errors: &mut Errors) -> bool {
    let container = SerdeAttributes::read(&input.attrs);
    if container.own_way {
        return false;
    }
    let mut borrows = false;
    match &mut input.data {
        Data::Struct(data) => borrows = lent(&mut data.fields, errors),
        Data::Enum(data) => {
            for variant in &mut data.variants {
                let attributes = SerdeAttributes::read(&variant.attrs);
                if attributes.skip || attributes.own_way {
                    continue;
                }
                let tag = container.tag.as_ref().filter(|_| container.content.is_none());
                match tag.filter(|_| !container.untagged && !attributes.untagged) {
                    Some(tag) if is_bare(variant) => errors.push(beside(tag, variant)),
                    _ => borrows |= lent(&mut variant.fields, errors),
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

/// Whether the variant is a value in parentheses that is no object, so that it has no place for a tag.
fn is_bare(variant: &Variant) -> bool {
    match &variant.fields {
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
            let field = &fields.unnamed[0];
            is_read(field) && is_no_object(&field.ty)
        }
        _ => false,
    }
}

fn is_read(field: &Field) -> bool {
    let attributes = SerdeAttributes::read(&field.attrs);
    !attributes.skip && !attributes.own_way
}

fn is_no_object(ty: &Type) -> bool {
    let list = last_name(ty)
        .is_some_and(|name| ["Vec", "VecDeque", "HashSet", "BTreeSet"].contains(&&*name.to_string()));
    let held = |ty: &Type| inner(ty).is_some_and(|types| types.into_iter().all(is_no_object));
    match bare(ty) {
        Type::Array(_) | Type::Slice(_) => true,
        Type::Tuple(tuple) => !tuple.elems.is_empty(),
        Type::Reference(reference) => is_no_object(&reference.elem),
        ty => list || held(ty) || (inner(ty).is_none() && is_plain(ty)),
    }
}

/// What an `Option` or a `Box` holds.
fn inner(ty: &Type) -> Option<Vec<&Type>> {
    let Type::Path(path) = bare(ty) else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Option" || last.ident == "Box")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    Some(types.collect())
}

fn beside(tag: &str, variant: &Variant) -> Error {
    let ty = variant.fields.iter().next().map(|field| field.ty.to_token_stream()).unwrap_or_default();
    let name = &variant.ident;
    let message = format!(
        "the tag `{tag}` is a member of an object, and this value is no object, so no answer fits `{name}`; write \
         `{name} {{ value: … }}`, or put `content = \"value\"` beside the tag"
    );
    Error::new_spanned(ty, message)
}

/// Reports the references of fields, which live as long as the program from then on.
fn lent(fields: &mut Fields, errors: &mut Errors) -> bool {
    let mut any = false;
    for field in fields.iter_mut().filter(|field| is_read(field)) {
        any |= owned(&mut field.ty, errors);
    }
    any
}

fn owned(ty: &mut Type, errors: &mut Errors) -> bool {
    match ty {
        Type::Reference(reference) => {
            let own = match bare(&reference.elem) {
                Type::Path(path) if path.path.is_ident("str") => "`String`",
                Type::Slice(_) => "a `Vec`",
                _ => "the type without `&`",
            };
            let message = format!("an answer owns its values, and this field borrows; write {own}");
            errors.push(Error::new_spanned(&*reference, message));
            reference.lifetime = Some(lasting());
            true
        }
        Type::Group(group) => owned(&mut group.elem, errors),
        Type::Paren(paren) => owned(&mut paren.elem, errors),
        Type::Array(array) => owned(&mut array.elem, errors),
        Type::Tuple(tuple) => tuple.elems.iter_mut().fold(false, |any, ty| owned(ty, errors) | any),
        Type::Path(path) => {
            let Some(last) = path.path.segments.last_mut() else { return false };
            let known = ["Option", "Vec", "Box"].iter().any(|known| last.ident == known);
            match &mut last.arguments {
                PathArguments::AngleBracketed(arguments) if known => {
                    arguments.args.iter_mut().fold(false, |any, argument| match argument {
                        GenericArgument::Type(ty) => owned(ty, errors) | any,
                        _ => any,
                    })
                }
                _ => false,
            }
        }
        _ => false,
    }
}

fn lasting() -> Lifetime {
    Lifetime::new("'static", proc_macro2::Span::mixed_site())
}

/// Leaves out the type's lifetimes, so that whoever names it without them gets no error of its own.
fn without_lifetimes(input: &mut DeriveInput) {
    let names: Vec<_> = input.generics.lifetimes().map(|param| param.lifetime.ident.to_string()).collect();
    if names.is_empty() {
        return;
    }
    let params = std::mem::take(&mut input.generics.params);
    input.generics.params =
        params.into_iter().filter(|param| !matches!(param, GenericParam::Lifetime(_))).collect();
    let lasting = lasted(input.to_token_stream(), &names);
    if let Ok(lasting) = syn::parse2(lasting) {
        *input = lasting;
    }
}

/// The tokens with `'static` in the place of these lifetimes.
fn lasted(tokens: TokenStream, names: &[String]) -> TokenStream {
    let mut quoted = false;
    let token = |token| {
        let behind = std::mem::replace(
            &mut quoted,
            matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '\''),
        );
        match token {
            TokenTree::Ident(name) if behind && names.iter().any(|lifetime| name == lifetime) => {
                TokenTree::Ident(format_ident!("static", span = name.span()))
            }
            TokenTree::Group(group) => {
                let mut lasting = proc_macro2::Group::new(group.delimiter(), lasted(group.stream(), names));
                lasting.set_span(group.span());
                TokenTree::Group(lasting)
            }
            other => other,
        }
    };
    tokens.into_iter().map(token).collect()
}
