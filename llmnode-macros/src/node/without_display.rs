//! Fields whose types have no `Display`, judged by their tokens, and how a prompt inserts them.
//!
//! Judged by tokens: types of the standard library by their names, if they are
//! written without a path or with one of std. A type of the program of that name
//! would be judged wrong; it would be a struct called `Vec`.

use quote::ToTokens;
use syn::{Generics, Path, PathSegment, Type, TypePath};

use crate::diagnostics::any_of;
use crate::generics::{bare, last_name, mentions, mentions_parameter, type_arguments};
use crate::prompt::template::Format;

/// What the type is, with its article, and the formats that it can be inserted by,
/// the best one first.
pub(crate) struct WithoutDisplay {
    kind: String,
    filters: &'static [&'static str],
}

impl WithoutDisplay {
    pub(crate) fn of(ty: &Type) -> Option<Self> {
        match bare(ty) {
            Type::Reference(reference) => Self::of(&reference.elem),
            Type::Slice(slice) => Self::new("a slice", list_filters(&slice.elem)),
            Type::Array(array) => Self::new("an array", list_filters(&array.elem)),
            ty => {
                let path = std_path(ty)?;
                let inside = *type_arguments(path).first()?;
                match last_name(ty)?.to_string().as_str() {
                    "Vec" => Self::new("a `Vec`", list_filters(inside)),
                    "VecDeque" => Self::new("a `VecDeque`", collection_filters(inside)),
                    "HashSet" => Self::new("a `HashSet`", collection_filters(inside)),
                    "BTreeSet" => Self::new("a `BTreeSet`", collection_filters(inside)),
                    "HashMap" => Self::new("a `HashMap`", &["json"]),
                    "BTreeMap" => Self::new("a `BTreeMap`", &["json"]),
                    // What an option can be inserted by depends on what is in it.
                    "Option" if is_attachment(inside) => Self::new("an `Option`", &["attach"]),
                    "Option" if Self::of(inside).is_some() => Self::new("an `Option`", &["json"]),
                    "Option" => Self::new("an `Option`", &["or(none)"]),
                    _ => None,
                }
            }
        }
    }

    fn new(kind: &str, filters: &'static [&'static str]) -> Option<Self> {
        Some(Self {
            kind: kind.to_owned(),
            filters,
        })
    }

    pub(crate) fn message(&self, name: &str) -> String {
        let mends: Vec<_> = self
            .filters
            .iter()
            .map(|filter| format!("{{{name}:{filter}}}"))
            .collect();
        let mends = any_of(mends.iter().map(String::as_str));
        format!(
            "`{{{name}}}` is {}, which has no text of its own; write {mends}",
            self.kind
        )
    }
}

/// The placeholder to propose for a field that is not used.
pub(crate) fn placeholder_for(name: &str, ty: &Type) -> String {
    let textless = WithoutDisplay::of(ty);
    let filter = textless
        .as_ref()
        .and_then(|textless| textless.filters.first().copied());
    match filter.or_else(|| is_attachment(ty).then_some("attach")) {
        Some(filter) => format!("{{{name}:{filter}}}"),
        None => format!("{{{name}}}"),
    }
}

/// Whether the format needs `Display`; `{:?}` needs `Debug`.
pub(crate) fn takes_text(format: &Format) -> bool {
    match format {
        Format::Plain => true,
        Format::Spec(spec) => !spec.ends_with('?'),
        _ => false,
    }
}

/// By name only.
fn is_attachment(ty: &Type) -> bool {
    last_name(ty).is_some_and(|name| {
        ["Image", "File", "Audio", "Attachment"]
            .iter()
            .any(|one| name == one)
    })
}

/// By name only. The type must also be usable where `generics` are unknown and
/// `name` is another type.
pub(crate) fn may_be_attachment(ty: &Type, name: &str, generics: &Generics) -> bool {
    let Type::Path(path) = bare(ty) else {
        return false;
    };
    let plain = path.qself.is_none()
        && path
            .path
            .segments
            .iter()
            .all(|segment: &PathSegment| segment.arguments.is_none() && segment.ident != name);
    plain && is_attachment(ty) && !mentions_parameter(ty, generics)
}

/// Whether the field may be the history of a conversation.
pub(crate) fn holds_messages(ty: &Type) -> bool {
    mentions(ty.to_token_stream(), &|ident| ident == "Message")
}

/// A slice or a `Vec` of attachments is attached as a whole.
fn list_filters(element: &Type) -> &'static [&'static str] {
    if is_attachment(element) {
        &["attach"]
    } else {
        collection_filters(element)
    }
}

/// A list of values that have a text is written line by line.
fn collection_filters(element: &Type) -> &'static [&'static str] {
    if WithoutDisplay::of(element).is_some() {
        &["json"]
    } else {
        &["list", "json"]
    }
}

/// `None` if the path leads elsewhere than into the standard library.
fn std_path(ty: &Type) -> Option<&Path> {
    let Type::Path(TypePath {
        qself: None, path, ..
    }) = ty
    else {
        return None;
    };
    let first = &path.segments.first()?.ident;
    let leads =
        path.segments.len() == 1 || ["std", "core", "alloc"].iter().any(|krate| first == krate);
    leads.then_some(path)
}

#[cfg(test)]
mod tests {
    use super::{WithoutDisplay, may_be_attachment, placeholder_for};

    #[test]
    fn types_without_a_text() {
        for (written, message) in [
            (
                "Vec<String>",
                "a `Vec`, which has no text of its own; write `{x:list}` or `{x:json}`",
            ),
            (
                "&'a [u8]",
                "a slice, which has no text of its own; write `{x:list}` or `{x:json}`",
            ),
            (
                "[[u8; 2]; 2]",
                "an array, which has no text of its own; write `{x:json}`",
            ),
            (
                "Option<u8>",
                "an `Option`, which has no text of its own; write `{x:or(none)}`",
            ),
            (
                "Option<Vec<u8>>",
                "an `Option`, which has no text of its own; write `{x:json}`",
            ),
            (
                "std::vec::Vec<Image>",
                "a `Vec`, which has no text of its own; write `{x:attach}`",
            ),
            (
                "HashMap<String, u8>",
                "a `HashMap`, which has no text of its own; write `{x:json}`",
            ),
        ] {
            let textless = WithoutDisplay::of(&syn::parse_str(written).unwrap()).unwrap();
            assert_eq!(textless.message("x"), format!("`{{x}}` is {message}"));
        }
    }

    #[test]
    fn types_that_have_the_name_of_what_is_attached() {
        let generics = syn::parse_str::<syn::ItemStruct>("struct A<Audio> { x: Audio }")
            .unwrap()
            .generics;
        let may_be =
            |written| may_be_attachment(&syn::parse_str(written).unwrap(), "file", &generics);
        for written in ["Image", "llmnode::File", "(a::Attachment)"] {
            assert!(may_be(written), "{written}");
        }
        for written in [
            "String",
            "Image<u8>",
            "&Image",
            "a::<'a>::Image",
            "<A as B>::Image",
            "Self::File",
            "Audio",
            "file::File",
        ] {
            assert!(!may_be(written), "{written}");
        }
    }

    #[test]
    fn types_that_may_have_a_text() {
        for written in [
            "String",
            "&str",
            "heapless::Vec<u8, 4>",
            "Vec",
            "Option",
            "Box<Vec<u8>>",
            "fn(Vec<u8>)",
        ] {
            let ty = syn::parse_str(written).unwrap();
            assert!(WithoutDisplay::of(&ty).is_none(), "{written}");
            assert_eq!(placeholder_for("x", &ty), "{x}");
        }
    }
}
