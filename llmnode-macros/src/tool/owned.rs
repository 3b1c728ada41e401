//! References within types that have to be owned. rustc would suggest a lifetime,
//! which a tool cannot have.

use syn::{Type, TypeReference};

use crate::generics::type_arguments;

/// `'static` references are allowed.
/// The first one, wherever it is in the type.
pub(super) fn reference(ty: &Type) -> Option<&TypeReference> {
    match ty {
        Type::Reference(found) => {
            let lasts = found
                .lifetime
                .as_ref()
                .is_some_and(|name| name.ident == "static");
            (!lasts).then_some(found)
        }
        Type::Group(group) => reference(&group.elem),
        Type::Paren(paren) => reference(&paren.elem),
        Type::Array(array) => reference(&array.elem),
        Type::Tuple(tuple) => tuple.elems.iter().find_map(reference),
        Type::Path(path) => type_arguments(&path.path).into_iter().find_map(reference),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use syn::Type;

    use super::reference;

    fn holds_one(ty: &str) -> bool {
        let ty: Type = syn::parse_str(ty).unwrap();
        reference(&ty).is_some()
    }

    #[test]
    fn what_borrows_is_found() {
        for ty in [
            "Option<&str>",
            "Vec<&'a str>",
            "Option<&[&str]>",
            "std::collections::HashMap<String, (u8, &T)>",
            "Result<&str, Fault>",
        ] {
            assert!(holds_one(ty), "{ty}");
        }
    }

    #[test]
    fn what_owns_its_values_stays() {
        for ty in [
            "String",
            "Vec<u8>",
            "&'static str",
            "Option<&'static str>",
            "Box<dyn Fn(&str)>",
        ] {
            assert!(!holds_one(ty), "{ty}");
        }
    }
}
