//! Types that borrow, where a value has to live by itself: what to write instead.

use quote::ToTokens;
use syn::{GenericArgument, PathArguments, ReturnType, Type, TypeReference, parse_quote};

use crate::generics::bare;

/// The first reference in a type that does not last as long as the program, and the type without any, as it is written.
pub(super) fn owned(ty: &Type) -> Option<(TypeReference, String)> {
    let (mut own, mut first) = (ty.clone(), None);
    own_all(&mut own, &mut first);
    first.map(|first| (first, spelled(&own)))
}

/// The same for what a function returns.
pub(super) fn owned_return(output: &ReturnType) -> Option<(TypeReference, String)> {
    match output {
        ReturnType::Type(_, ty) => owned(ty),
        ReturnType::Default => None,
    }
}

fn own_all(ty: &mut Type, first: &mut Option<TypeReference>) {
    match ty {
        Type::Reference(reference)
            if reference.lifetime.as_ref().is_some_and(|name| name.ident == "static") => {}
        Type::Reference(reference) => {
            first.get_or_insert_with(|| reference.clone());
            let mut own = match bare(&reference.elem) {
                Type::Path(path) if path.path.is_ident("str") => parse_quote!(String),
                Type::Slice(slice) => {
                    let of = &slice.elem;
                    parse_quote!(Vec<#of>)
                }
                other => other.clone(),
            };
            own_all(&mut own, first);
            *ty = own;
        }
        Type::Group(group) => own_all(&mut group.elem, first),
        Type::Paren(paren) => own_all(&mut paren.elem, first),
        Type::Array(array) => own_all(&mut array.elem, first),
        Type::Tuple(tuple) => tuple.elems.iter_mut().for_each(|ty| own_all(ty, first)),
        Type::Path(path) => {
            let last = path.path.segments.last_mut().map(|last| &mut last.arguments);
            let Some(PathArguments::AngleBracketed(arguments)) = last else { return };
            for argument in &mut arguments.args {
                if let GenericArgument::Type(ty) = argument {
                    own_all(ty, first);
                }
            }
        }
        _ => {}
    }
}

/// A type as one writes it.
pub(crate) fn spelled(written: &impl ToTokens) -> String {
    let text = written.to_token_stream().to_string();
    [
        (" :: ", "::"),
        (":: ", "::"),
        (" < ", "<"),
        (" <", "<"),
        ("< ", "<"),
        (" >", ">"),
        (" ,", ","),
        ("& ", "&"),
    ]
    .iter()
    .fold(text, |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::{owned, spelled};

    #[test]
    fn what_to_write_instead() {
        for (borrowed, own) in [
            ("Option<&str>", "Option<String>"),
            ("Vec<&'a str>", "Vec<String>"),
            ("Option<&[&str]>", "Option<Vec<String>>"),
            ("std::collections::HashMap<&String, (u8, &T)>", "std::collections::HashMap<String, (u8, T)>"),
            ("Result<&str, Fault>", "Result<String, Fault>"),
        ] {
            assert_eq!(owned(&syn::parse_str(borrowed).unwrap()).map(|(_, own)| own).as_deref(), Some(own));
        }
    }

    #[test]
    fn what_owns_its_values_stays() {
        for ty in ["String", "Vec<u8>", "&'static str", "Option<&'static str>", "Box<dyn Fn(&str)>"] {
            assert!(owned(&syn::parse_str(ty).unwrap()).is_none(), "{ty}");
        }
    }

    #[test]
    fn types_are_spelled_as_they_are_written() {
        for ty in ["tools::Search", "a::b::Own<c::D<u8>, E>"] {
            let parsed: syn::Type = syn::parse_str(ty).unwrap();
            assert_eq!(spelled(&parsed), ty);
        }
    }
}
