//! Values beside a tag: with `tag` and without `content`, a variant has to hold an
//! object, or no answer fits. Refuses only what is certain from the tokens.

use quote::ToTokens;
use syn::{Data, DeriveInput, Error, Fields, Type, Variant};

use super::fields::is_plain;
use super::serde_names::SerdeAttributes;
use crate::diagnostics::Errors;
use crate::generics::{bare, is_named, last_name, type_arguments};

/// Each variant is reported.
pub(crate) fn check(input: &DeriveInput, errors: &mut Errors) {
    let container = SerdeAttributes::read(&input.attrs);
    if let Data::Enum(data) = &input.data {
        let bare = data
            .variants
            .iter()
            .filter_map(|variant| Some((tag_on_non_object(&container, variant)?, variant)));
        bare.for_each(|(tag, variant)| errors.push(tag_error(tag, variant)));
    }
}

/// The tag, if the variant's value is not an object.
pub(crate) fn tag_on_non_object<'a>(
    container: &'a SerdeAttributes,
    variant: &Variant,
) -> Option<&'a str> {
    let attributes = SerdeAttributes::read(&variant.attrs);
    let tagged = !container.untagged && container.content.is_none() && !attributes.untagged;
    let judged = !container.custom && !attributes.custom && !attributes.skip;
    container
        .tag
        .as_deref()
        .filter(|_| tagged && judged && holds_non_object(variant))
}

/// One unnamed field is written as its value; other variants are objects already.
fn holds_non_object(variant: &Variant) -> bool {
    match &variant.fields {
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
            let field = &fields.unnamed[0];
            let attributes = SerdeAttributes::read(&field.attrs);
            !attributes.skip && !attributes.custom && is_non_object(&field.ty)
        }
        _ => false,
    }
}

/// Lists, tuples and plain values. An option or a box is what it holds.
fn is_non_object(ty: &Type) -> bool {
    let list = last_name(ty).is_some_and(|name| {
        ["Vec", "VecDeque", "HashSet", "BTreeSet"].contains(&&*name.to_string())
    });
    match bare(ty) {
        Type::Array(_) | Type::Slice(_) => true,
        Type::Tuple(tuple) => !tuple.elems.is_empty(),
        Type::Reference(reference) => is_non_object(&reference.elem),
        ty => match inner(ty) {
            Some(types) => list || types.into_iter().all(is_non_object),
            None => list || is_plain(ty),
        },
    }
}

/// The types within an option or a box.
fn inner(ty: &Type) -> Option<Vec<&Type>> {
    let Type::Path(path) = bare(ty) else {
        return None;
    };
    let holds = is_named(&path.path, "Option") || is_named(&path.path, "Box");
    Some(type_arguments(&path.path)).filter(|types| holds && !types.is_empty())
}

fn tag_error(tag: &str, variant: &Variant) -> Error {
    let ty = variant
        .fields
        .iter()
        .next()
        .map(|field| field.ty.to_token_stream())
        .unwrap_or_default();
    let name = &variant.ident;
    let message = format!(
        "the tag `{tag}` is a member of an object, and this value is not an object, so no answer \
         fits `{name}`; write `{name} {{ value: … }}`, or put `content = \"value\"` beside the tag"
    );
    Error::new_spanned(ty, message)
}

#[cfg(test)]
mod tests {
    use super::is_non_object;

    #[test]
    fn only_what_is_sure_is_refused() {
        for (ty, refused) in [
            ("String", true),
            ("&'a str", true),
            ("f64", true),
            ("Vec<Step>", true),
            ("Option<Vec<Step>>", true),
            ("Box<Option<u8>>", true),
            ("(Step, Step)", true),
            ("[Step; 2]", true),
            ("()", false),
            ("Option<()>", false),
            ("Step", false),
            ("Option<Step>", false),
            ("HashMap<String, u8>", false),
            ("T", false),
        ] {
            assert_eq!(is_non_object(&syn::parse_str(ty).unwrap()), refused, "{ty}");
        }
    }
}
